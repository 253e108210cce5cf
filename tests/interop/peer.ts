/**
 * Programs that a test starts and ends: peers that no one here wrote, and our own.
 *
 * They stay in the process group of the test: whoever ends a test that takes too long ends its
 * whole group. None of them starts programs itself, so a signal to the one process is enough.
 *
 * @module
 */

import { openPorts } from "./ports.ts";

const pollMs = 20;
/** How long a program may take to end once it was told to. */
const endMs = 10_000;
/** The most text that a program may write. */
const maxText = 16 << 20;

/** Waits. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How a program is started. */
export interface PeerOptions {
  /** Where its standard output goes; without it, it is text and kept. */
  readonly stdoutPath?: string;
  /** The working directory. */
  readonly cwd?: string;
}

/** A running program. Its standard input is empty. */
export class Peer implements AsyncDisposable {
  readonly name: string;
  readonly #child: Deno.ChildProcess;
  readonly #command: string;
  readonly #reading: Promise<unknown>;
  #ended: Deno.CommandStatus | undefined;
  #stdout = "";
  #stderr = "";

  constructor(name: string, program: string, args: readonly string[], options: PeerOptions = {}) {
    this.name = name;
    this.#command = [program, ...args].join(" ");
    this.#child = new Deno.Command(program, {
      args: [...args],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const { stdoutPath } = options;
    this.#reading = Promise.all([
      stdoutPath === undefined
        ? collect(this.#child.stdout, (text) => this.#stdout += text)
        : store(this.#child.stdout, stdoutPath),
      collect(this.#child.stderr, (text) => this.#stderr += text),
      this.#child.status.then((status) => this.#ended = status),
    ]);
    this.#reading.catch(() => {}); // reported by whoever waits for the end
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Its standard output so far, as text. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Its standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Sends a signal; one to a program that has ended is no error. */
  signal(signal: Deno.Signal): void {
    if (!this.ended) this.#child.kill(signal);
  }

  /** Waits until something is the case; it must not take longer, and the program must not end. */
  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    timeoutMs = 10_000,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!await holds()) {
      if (this.ended) {
        await this.#reading; // its last words may be what is waited for
        if (await holds()) return;
        throw new Error(`${this.name} ended before ${what}`);
      }
      if (performance.now() > deadline) {
        throw new Error(`${this.name}: not ${what} within ${timeoutMs} ms`);
      }
      await delay(pollMs);
    }
  }

  /** Waits until a UDP port is open. */
  async listens(port: number): Promise<void> {
    await this.until(`listening on port ${port}`, async () => (await openPorts()).has(port));
  }

  /** Waits until the program has ended by itself and all that it wrote is there. */
  async end(timeoutMs = endMs): Promise<Deno.CommandStatus> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const text = `${this.name}: not ended within ${timeoutMs} ms`;
      timer = setTimeout(() => reject(new Error(text)), timeoutMs);
    });
    try {
      await Promise.race([this.#reading, late]);
      return await this.#child.status;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it as Ctrl-C does, and waits. */
  async interrupt(): Promise<Deno.CommandStatus> {
    this.signal("SIGINT");
    return await this.end();
  }

  /** What it was and said, for the message of a failure. */
  report(): string {
    const state = this.#ended === undefined ? "running" : `exit code ${this.#ended.code}`;
    const said = [this.said(), this.#stderr].map(excerpt).filter((text) => text !== "");
    return [`--- ${this.name}: ${this.#command} (${state})`, ...said].join("\n");
  }

  /** What its standard output says to a person. */
  protected said(): string {
    return this.#stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#reading.catch(() => {});
  }
}

const [firstLines, lastLines, maxLine] = [12, 8, 1000];

function excerpt(text: string): string {
  const lines = text.trim().split("\n").map((line) => line.slice(0, maxLine));
  const left = lines.length - firstLines - lastLines;
  if (left <= 0) return lines.join("\n");
  return [...lines.slice(0, firstLines), `... ${left} lines ...`, ...lines.slice(-lastLines)]
    .join("\n");
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  add: (text: string) => void,
): Promise<void> {
  let length = 0;
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    length += text.length;
    if (length > maxText) throw new Error(`it wrote more than ${maxText} characters`);
    add(text);
  }
}

async function store(stream: ReadableStream<Uint8Array>, path: string): Promise<void> {
  const file = await Deno.open(path, { write: true, create: true, truncate: true });
  await stream.pipeTo(file.writable);
}
