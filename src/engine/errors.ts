/**
 * What can go wrong between the app and the library.
 *
 * @module
 */

/** The library refused a call. */
export class LockstepError extends Error {
  /** Name of the error, such as `LS_EINVAL`. */
  override readonly name: string;
  /** Its number, below 0. */
  readonly code: number;

  constructor(name: string, code: number, message: string) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** One place where the library was looked for. */
export interface Attempt {
  readonly path: string;
  readonly reason: string;
}

/** The library could not be loaded, or is not the one that this app was built with. */
export class LibraryError extends Error {
  override readonly name = "LibraryError";
  /** Every place that was tried. */
  readonly attempts: readonly Attempt[];

  constructor(attempts: readonly Attempt[], advice: string, options?: ErrorOptions) {
    const tried = attempts.map(({ path, reason }) => `${path} (${reason})`).join(", ");
    super(`cannot load liblockstep: tried ${tried}; ${advice}`, options);
    this.attempts = attempts;
  }
}
