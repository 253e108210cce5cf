/**
 * Calls into the library: handles, errors with their sentence, texts and blocks.
 *
 * @module
 */

import type { Scope } from "../../ffi/statistics.ts";
import { LockstepError } from "./errors.ts";
import { scopeNumber, type StatisticsOf } from "./statistics.gen.ts";
import { blockSize, decodeStatistics } from "./statistics.ts";
import type { Library } from "./symbols.ts";

const errorTextSize = 512;

/** Calls into the library for one engine or simulation, until that is closed. */
export class Native {
  readonly #library: Library;
  readonly #what: string;
  readonly #errorText = new Uint8Array(errorTextSize);
  closed = false;

  /** `what` is closed, in words. */
  constructor(library: Library, what: string) {
    this.#library = library;
    this.#what = what;
  }

  /** The library, or an exception: after a close even a harmless call would be a defect. */
  get library(): Library {
    if (this.closed) throw new LockstepError("LS_EHANDLE", -2, `the ${this.#what} is closed`);
    return this.#library;
  }

  /** The result of a call, or the exception that belongs to a negative one. */
  unwrap(result: number, hasText = false): number {
    if (result >= 0) return result;
    const described = new Uint8Array(errorTextSize);
    this.#library.ls_error_describe(result, described, described.length);
    const [name = "", ...rest] = decodeText(described).split(": ");
    const sentence = hasText ? decodeText(this.#errorText) : "";
    throw new LockstepError(name, result, sentence === "" ? rest.join(": ") : sentence);
  }

  /** The result of a call that gets a buffer for a sentence about its error. */
  call(run: (library: Library, text: Uint8Array<ArrayBuffer>, size: number) => number): number {
    this.#errorText[0] = 0;
    return this.unwrap(run(this.library, this.#errorText, errorTextSize), true);
  }

  /** As `call`, for a function that runs on another thread; also the sentence of a good result. */
  async later(
    run: (library: Library, text: Uint8Array<ArrayBuffer>, size: number) => Promise<number>,
  ): Promise<{ result: number; sentence: string }> {
    this.#errorText[0] = 0;
    const result = this.unwrap(await run(this.library, this.#errorText, errorTextSize), true);
    return { result, sentence: decodeText(this.#errorText) };
  }

  /** As `call`, for a result that is a handle. */
  handle(
    run: (library: Library, text: Uint8Array<ArrayBuffer>, size: number) => bigint,
  ): bigint {
    this.#errorText[0] = 0;
    const result = run(this.library, this.#errorText, errorTextSize);
    if (result < 0n) this.unwrap(Number(result), true);
    return result;
  }

  /** Sets an option of an engine, or of what it owns. */
  option(handle: bigint, index: number, name: string, value: string): void {
    this.call((library, text, size) =>
      library.ls_option(handle, index, encodeText(name), encodeText(value), text, size)
    );
  }

  /** The statistics of an engine, or of what it owns. */
  statistics<S extends Scope>(handle: bigint, scope: S, index: number): StatisticsOf[S] {
    return this.block(
      scope,
      (library, number, block) => library.ls_stats(handle, number, index, block, block.length),
    );
  }

  /** The record that a call fills in. */
  block<S extends Scope>(
    scope: S,
    read: (library: Library, number: number, block: Uint8Array<ArrayBuffer>) => number,
  ): StatisticsOf[S] {
    const block = new Uint8Array(blockSize(scope));
    this.unwrap(read(this.library, scopeNumber[scope], block));
    return decodeStatistics(scope, new DataView(block.buffer));
  }
}

/** NUL-terminated UTF-8. A NUL inside would end the text early, so it is an error. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  if (text.includes("\0")) throw new TypeError("Cannot pass a text with a NUL character");
  return new TextEncoder().encode(`${text}\0`);
}

function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}
