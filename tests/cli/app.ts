/**
 * The program as a person runs it: with the permissions that its task grants, and no more.
 *
 * @module
 */

import { freePort as nextPort } from "../../src/engine/udp_testing.ts";

const root = new URL("../../", import.meta.url).pathname;

/** How a program ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stdoutBytes: Uint8Array;
  readonly stderr: string;
}

/** How it is started. */
export interface AppOptions {
  /** Written to standard input, which is then closed. */
  readonly stdin?: Uint8Array<ArrayBuffer>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The task whose command it is. */
  readonly task?: "lockstep" | "demo";
}

/** What a task runs, without the name of the runtime; paths are made absolute. */
function taskArguments(task: "lockstep" | "demo"): string[] {
  const { tasks } = JSON.parse(Deno.readTextFileSync(`${root}deno.json`));
  const [runtime, ...args] = String(tasks[task].command).split(" ");
  if (runtime !== "deno") throw new Error(`The task runs "${runtime}"`);
  return args.map((arg) =>
    arg.replace("--allow-ffi=build", `--allow-ffi=${root}build`).replace(/^src\//, `${root}src/`)
  );
}

/** A running program. */
export class App implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #outcome: Promise<Outcome>;
  #stdout = "";
  #stderr = "";
  #ended = false;

  private constructor(child: Deno.ChildProcess, stdin: Uint8Array<ArrayBuffer> | undefined) {
    this.#child = child;
    this.#outcome = this.#run(stdin);
    this.#outcome.catch(() => {}); // reported by whoever waits
  }

  /** Starts the program with these arguments. */
  static start(args: readonly string[], options: AppOptions = {}): App {
    const child = new Deno.Command(Deno.execPath(), {
      args: [...taskArguments(options.task ?? "lockstep"), ...args],
      cwd: options.cwd ?? root,
      env: { ...options.env },
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new App(child, options.stdin);
  }

  async #run(stdin: Uint8Array<ArrayBuffer> | undefined): Promise<Outcome> {
    const bytes: Uint8Array[] = [];
    const [status] = await Promise.all([
      this.#child.status.finally(() => this.#ended = true),
      stdin === undefined ? undefined : new Blob([stdin]).stream().pipeTo(this.#child.stdin),
      collect(this.#child.stdout, (chunk, text) => {
        bytes.push(chunk);
        this.#stdout += text;
      }),
      collect(this.#child.stderr, (_, text) => this.#stderr += text),
    ]);
    const stdoutBytes = new Uint8Array(
      await new Blob(bytes.map((part) => part.slice())).arrayBuffer(),
    );
    return { code: status.code, stdout: this.#stdout, stdoutBytes, stderr: this.#stderr };
  }

  /** What it printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Waits until standard error contains a text. */
  async says(text: string, timeoutMs = 15_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#stderr.includes(text)) {
      if (this.#ended || performance.now() > deadline) {
        throw new Error(`it does not say "${text}":\n${this.#stdout}${this.#stderr}`);
      }
      await delay(10);
    }
  }

  /** Sends a signal. */
  signal(signal: Deno.Signal): void {
    if (!this.#ended) this.#child.kill(signal);
  }

  /** Waits until it has ended; it is killed when that takes too long. */
  async end(timeoutMs = 20_000): Promise<Outcome> {
    const timer = setTimeout(() => this.signal("SIGKILL"), timeoutMs);
    try {
      return await this.#outcome;
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#outcome.catch(() => {});
  }
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  add: (chunk: Uint8Array, text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) add(chunk, decoder.decode(chunk, { stream: true }));
}

/** Runs the program to its end. */
export async function run(args: readonly string[], options: AppOptions = {}): Promise<Outcome> {
  await using app = App.start(args, options);
  return await app.end();
}

/** Waits. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A UDP port. */
export const freePort: () => number = nextPort;

/** Bytes that repeat nowhere within 16 MiB: each group of four counts. */
export function countingBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at + 4 <= length; at += 4) view.setUint32(at, at >>> 2);
  return bytes;
}

/** A directory that is gone afterwards. */
export async function withDirectory(work: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "lockstep-cli-" });
  try {
    await work(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}
