/**
 * Options that are times of the program itself, not of a stream.
 *
 * @module
 */

import { ConfigError, parseDuration, quote } from "../config/mod.ts";

/** Timers of the runtime hold 24.8 days. */
const maxLimitMs = 576 * 3_600_000;

/** How often statistics are printed, in ms. */
export function readPeriod(text: string): number {
  const ms = parseDuration(text) / 1e6;
  if (ms < 100 || ms > 86_400_000) {
    throw new ConfigError(`${quote(text)} is not between 100ms and 24h`);
  }
  return ms;
}

/** After what time to stop, in ms; timers hold 24 days. */
export function readLimit(text: string): number {
  const ms = parseDuration(text) / 1e6;
  if (ms === 0 || ms > maxLimitMs) {
    throw new ConfigError(`${quote(text)} is not between 1ns and 576h`);
  }
  return ms;
}
