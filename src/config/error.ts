/**
 * The one error that text from a person can cause.
 *
 * @module
 */

/**
 * Text that is not accepted. The message is one line: what is wrong, what is accepted.
 *
 * @example
 * ```ts
 * import { ConfigError } from "./error.ts";
 * import assert from "node:assert/strict";
 *
 * const inner = new ConfigError(`"fast" is not a rate`);
 * assert.equal(inner.of("maxbw").message, `maxbw: "fast" is not a rate`);
 * ```
 */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";

  /** The same error, with the name of the option or argument that it belongs to in front. */
  of(what: string): ConfigError {
    return new ConfigError(`${what}: ${this.message}`);
  }
}

/** Runs `read` and puts `what` in front of the message of a ConfigError that it throws. */
export function within<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ConfigError ? error.of(what) : error;
  }
}

const shownLength = 60;

/** A text in quotes for a message: shortened, and without characters that move a cursor. */
export function quote(text: string): string {
  const short = text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
  return `"${short.replaceAll(/\p{C}/gu, "?")}"`;
}
