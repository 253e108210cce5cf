/**
 * Runs programs for the scripts: output captured, time limited, and every program with all its
 * children ended when it is over time or when the script itself is told to stop.
 *
 * @module
 */

/** How a program is run. */
export interface RunOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to the program's standard input, which is empty otherwise. */
  readonly stdin?: string;
  readonly timeoutMs: number;
}

/** How a program ended. */
export interface Outcome {
  /** The exit code; 127 when the program was not found, 124 when it was over time. */
  readonly code: number;
  /** Standard output and standard error in order of arrival, the newest `maxOutput` bytes. */
  readonly output: string;
  /** Standard output alone, under the same limit. */
  readonly stdout: string;
}

/** What is kept of a program's output. */
export const maxOutput = 4 << 20;

const notFound = 127;
const overTime = 124;
/** How long a program has to end after SIGTERM before it is killed. */
const graceMs = 2_000;

/** Process groups that are running now: each program leads its own. */
const groups = new Set<number>();
/** Whether the script was told to stop: results of programs that it ended mean nothing. */
let stopping = false;

/** Sends a signal to a program and all its children; one that is gone already is no error. */
function signalGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Keeps the newest bytes of a stream, up to a limit. */
class Tail {
  #chunks: Uint8Array[] = [];
  #size = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      const first = this.#chunks[0];
      if (first === undefined || this.#size - first.length < maxOutput) return;
      this.#chunks.shift();
      this.#size -= first.length;
    }
  }

  text(): string {
    const all = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return new TextDecoder().decode(all);
  }
}

function spawn(program: string, options: RunOptions): Deno.ChildProcess | undefined {
  try {
    return new Deno.Command(program, {
      args: [...options.args ?? []],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: { ...options.env } }),
      stdin: options.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true, // leads a process group, so that its children can be ended with it
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Runs a program to its end, or to the end of its time. */
export async function run(program: string, options: RunOptions): Promise<Outcome> {
  const child = spawn(program, options);
  if (child === undefined) {
    return { code: notFound, output: `${program}: not found`, stdout: "" };
  }
  groups.add(child.pid);
  let late = false;
  let kill: ReturnType<typeof setTimeout> | undefined;
  const timer = setTimeout(() => {
    late = true;
    signalGroup(child.pid, "SIGTERM");
    kill = setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  }, options.timeoutMs);
  const [both, out] = [new Tail(), new Tail()];
  const collect = async (stream: ReadableStream<Uint8Array>, own?: Tail): Promise<void> => {
    for await (const chunk of stream) {
      both.add(chunk);
      own?.add(chunk);
    }
  };
  const feed = async (): Promise<void> => {
    if (options.stdin === undefined) return;
    try {
      await ReadableStream.from([new TextEncoder().encode(options.stdin)]).pipeTo(child.stdin);
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error; // it need not read all
    }
  };
  try {
    const reading = Promise.all([collect(child.stdout, out), collect(child.stderr), feed()]);
    const status = await child.status;
    // What it left behind would keep the pipes open, ports taken and the machine busy.
    signalGroup(child.pid, "SIGKILL");
    await reading;
    if (stopping) return await new Promise(() => {});
    const code = late ? overTime : status.code;
    const note = late ? `\n${program}: ended after ${options.timeoutMs / 1000} s, its limit\n` : "";
    return { code, output: both.text() + note, stdout: out.text() };
  } finally {
    clearTimeout(timer);
    clearTimeout(kill);
    groups.delete(child.pid);
  }
}

/**
 * On SIGINT or SIGTERM ends all running programs and exits with the usual code. Through `npx` a
 * Ctrl-C may arrive twice: the second changes nothing.
 */
export function endProgramsOnSignal(): void {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    Deno.addSignalListener(signal, () => {
      if (stopping) return;
      stopping = true;
      console.error(`ended by ${signal}`);
      for (const pid of groups) signalGroup(pid, "SIGTERM");
      setTimeout(() => {
        for (const pid of groups) signalGroup(pid, "SIGKILL");
        Deno.exit(code);
      }, groups.size > 0 ? graceMs : 0);
    });
  }
}
