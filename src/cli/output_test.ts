import assert from "node:assert/strict";
import { Console, LineWriter, logLine, type Sink } from "./output.ts";

/** Takes a few bytes at a time, as a pipe may. */
class Memory implements Sink {
  text = "";
  broken = false;
  /** What else it takes, in bytes. */
  room = Number.POSITIVE_INFINITY;
  readonly #decoder = new TextDecoder();
  constructor(readonly terminal: boolean) {}
  isTerminal(): boolean {
    return this.terminal;
  }
  writeSync(bytes: Uint8Array): number {
    if (this.broken) throw new Deno.errors.BrokenPipe();
    if (this.room === 0) throw new Error("no room");
    const part = bytes.subarray(0, Math.min(7, this.room));
    this.room -= part.length;
    this.text += this.#decoder.decode(part, { stream: true });
    return part.length;
  }
}

Deno.test("a long line is written whole", () => {
  const memory = new Memory(false);
  new LineWriter(memory).line("a line that is longer than seven bytes");
  assert.equal(memory.text, "a line that is longer than seven bytes\n");
});

Deno.test("a reader that goes away is noticed once, and nothing is written any more", () => {
  const memory = new Memory(false);
  const writer = new LineWriter(memory);
  memory.broken = true;
  writer.line("a");
  assert.equal(writer.gone.aborted, true);
  memory.broken = false;
  writer.line("b");
  assert.equal(memory.text, "");
});

Deno.test("what cannot be written is lost in whole lines, and told once", () => {
  const memory = new Memory(false);
  const told: string[] = [];
  const writer = new LineWriter(memory, (error) => told.push(error.message));
  writer.line("whole");
  memory.room = 6;
  writer.line("is begun, and ended when there is room");
  writer.line("lost");
  assert.deepEqual([memory.text, writer.failed], ["whole\nis beg", true]);
  memory.room = Number.POSITIVE_INFINITY;
  writer.line("next");
  assert.equal(memory.text, "whole\nis begun, and ended when there is room\nnext\n");
  memory.room = 0;
  writer.line("lost");
  memory.room = Number.POSITIVE_INFINITY;
  writer.line("last");
  assert.match(memory.text, /next\nlast\n$/);
  assert.deepEqual(told, ["no room"]);
  assert.equal(writer.gone.aborted, false);
});

Deno.test("log lines go above the line of progress", () => {
  const memory = new Memory(true);
  const console = new Console(memory, () => 80);
  console.progress("10 %");
  console.line("hello");
  console.progress("20 %");
  console.progress("20 %");
  console.progress("");
  console.line("bye");
  const screen = memory.text.replaceAll("\r\x1b[K", "<clear>");
  assert.equal(screen, "<clear>10 %<clear>hello\n10 %<clear>20 %<clear>bye\n");
});

Deno.test("progress is never wider than the terminal", () => {
  const memory = new Memory(true);
  new Console(memory, () => 10).progress("0123456789");
  assert.equal(memory.text, "\r\x1b[K01234567…");
});

Deno.test("progress of several lines is taken off the screen whole", () => {
  const memory = new Memory(true);
  const console = new Console(memory, () => 10);
  console.progress("a\nb\n0123456789");
  console.line("hello");
  console.progress("");
  const screen = memory.text.replaceAll("\r\x1b[K", "<clear>").replaceAll("\x1b[A\x1b[K", "<up>");
  assert.equal(
    screen,
    "<clear>a\nb\n01234567…<clear><up><up>hello\na\nb\n01234567…<clear><up><up>",
  );
});

Deno.test("without a terminal there is no progress", () => {
  const memory = new Memory(false);
  const console = new Console(memory, () => 80);
  console.progress("10 %");
  console.line("hello");
  assert.equal(memory.text, "hello\n");
});

Deno.test("log lines", () => {
  const record = {
    msg: "the peer fell silent",
    args: [],
    datetime: new Date("2026-11-30T12:34:56.789Z"),
    loggerName: "route",
  };
  assert.equal(logLine({ ...record, levelName: "INFO" }), "12:34:56.789 the peer fell silent");
  assert.equal(
    logLine({ ...record, levelName: "WARN" }),
    "12:34:56.789 warning: the peer fell silent",
  );
});
