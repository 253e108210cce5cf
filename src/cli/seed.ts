/**
 * The option `--seed`: what a run does by chance, it does again with the same seed.
 *
 * @module
 */

import { parseInteger } from "../config/mod.ts";
import type { Invocation } from "./verb.ts";

/** The seed that is given, a whole number that a double holds exactly; else a random one. */
export function readSeed(invocation: Invocation): number {
  const whole = (text: string): number => parseInteger(text, 0, Number.MAX_SAFE_INTEGER);
  return invocation.read("seed", undefined, whole) ?? randomSeed();
}

/** 32 random bits: short enough to be typed again. */
function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}
