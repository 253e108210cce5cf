/**
 * Where text goes: what a verb prints to standard output, everything else to standard error.
 *
 * @module
 */

import { getLogger, type Handler, type LogRecord, setup } from "@std/log";

const log = getLogger("output");

/** Something that takes bytes and may be a terminal. */
export interface Sink {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** Width of the terminal, where it can be found out. */
function terminalColumns(): number {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return 80;
  }
}

/** What a writer keeps of a line that could be written in part only. */
const maxRestBytes = 1 << 20;

/**
 * Lines to a sink. A reader that goes away ends the output, not the process. What cannot be written
 * for another reason (a full disk, a pipe that does not wait) is lost, in whole lines: it must not
 * stop what is on air.
 */
export class LineWriter {
  readonly #sink: Sink;
  readonly #gone = new AbortController();
  readonly #onFailure: (error: Error) => void;
  /** Of a line that was begun: it has to be ended, or the next one could not be read. */
  #rest = new Uint8Array();
  #failed = false;

  /** `onFailure` is called once, with why something was lost. */
  constructor(sink: Sink, onFailure: (error: Error) => void = () => {}) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  /** Aborted when the reader has gone away (`… | head -1`). */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Whether something was lost. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Writes a line. */
  line(text: string): void {
    this.write(`${text}\n`);
  }

  /** Writes a text as it is. */
  write(text: string): void {
    if (this.#gone.signal.aborted) return;
    try {
      this.#rest = this.#rest.subarray(this.#put(this.#rest));
      const bytes = new TextEncoder().encode(text);
      const done = this.#rest.length > 0 ? 0 : this.#put(bytes);
      if (done > 0 && bytes.length - done <= maxRestBytes) this.#rest = bytes.slice(done);
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      this.#gone.abort();
    }
  }

  /** Writes as much as can be; how much that was. */
  #put(bytes: Uint8Array): number {
    let done = 0;
    try {
      while (done < bytes.length) done += this.#sink.writeSync(bytes.subarray(done));
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Deno.errors.BrokenPipe) throw error;
      if (!this.#failed) this.#onFailure(error);
      this.#failed = true;
    }
    return done;
  }
}

const clearLine = "\r\x1b[K";
const clearLineAbove = "\x1b[A\x1b[K";

/**
 * Standard error: log lines and, on a terminal, one or more lines of progress below them that are
 * rewritten in place.
 */
export class Console {
  readonly #writer: LineWriter;
  readonly #terminal: boolean;
  readonly #columns: () => number;
  #progress = "";

  constructor(sink: Sink, columns: () => number = terminalColumns) {
    this.#writer = new LineWriter(sink);
    this.#terminal = sink.isTerminal();
    this.#columns = columns;
  }

  /** Whether progress can be shown. */
  get terminal(): boolean {
    return this.#terminal;
  }

  /** Writes a line above the progress. */
  line(text: string): void {
    if (this.#progress === "") this.#writer.line(text);
    else this.#writer.write(`${this.#clear()}${text}\n${this.#progress}`);
  }

  /** What takes the progress off the screen. */
  #clear(): string {
    return clearLine + clearLineAbove.repeat(this.#progress.split("\n").length - 1);
  }

  /** Replaces the progress; empty takes it away. Does nothing where there is no terminal. */
  progress(text: string): void {
    // A line that is broken by the terminal could not be taken back.
    const columns = this.#columns() - 1;
    const lines = text.split("\n").map((line) =>
      line.length > columns ? `${line.slice(0, columns - 1)}…` : line
    );
    const shown = lines.join("\n");
    if (!this.#terminal || shown === this.#progress) return;
    const clear = this.#clear();
    this.#progress = shown;
    this.#writer.write(`${clear}${shown}`);
  }
}

/** Where a verb writes. */
export interface Streams {
  readonly out: LineWriter;
  readonly console: Console;
}

/** The process's own streams, and logs that go to its console. */
export function openStreams(level: "INFO" | "WARN" = "INFO"): Streams {
  const console = new Console(Deno.stderr);
  logTo(console, level);
  return { out: standardOutput(), console };
}

/** Standard output; that it cannot be written is logged. */
export function standardOutput(): LineWriter {
  return new LineWriter(Deno.stdout, (error) => {
    log.error(`standard output cannot be written, what does not fit is lost: ${error.message}`);
  });
}

/** Sends the logs of all rooms to a console, one line each. */
export function logTo(console: Console, level: "INFO" | "WARN"): void {
  const handler: Handler = {
    levelName: level,
    log: (record) => console.line(logLine(record)),
  };
  setup({
    handlers: { console: handler },
    loggers: { default: { level, handlers: ["console"] } },
  });
}

/** `12:34:56.789 warning: message`, time in UTC; information has no level. */
export function logLine({ datetime, levelName, msg }: LogRecord): string {
  const time = datetime.toISOString().slice("2026-01-01T".length, -1);
  const words = {
    DEBUG: "debug: ",
    INFO: "",
    WARN: "warning: ",
    ERROR: "error: ",
    CRITICAL: "error: ",
  };
  return `${time} ${words[levelName]}${msg}`;
}
