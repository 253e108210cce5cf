/**
 * The runtime that the project is pinned to, and the guard that compares it.
 *
 * @module
 */

/** The version of Deno that everything is tested with. */
export const pinned = "2.9.6";

/**
 * What to tell a person who runs another version: an older one lacks what the project uses and
 * ends the command, a newer one gets a remark.
 *
 * @example
 * ```ts
 * import { judgeVersion } from "./version.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(judgeVersion("2.9.6"), undefined);
 * assert.equal(judgeVersion("2.1.0")?.fatal, true);
 * assert.equal(judgeVersion("2.10.0")?.fatal, false);
 * ```
 */
export function judgeVersion(running: string): { fatal: boolean; text: string } | undefined {
  if (running === pinned) return undefined;
  const fatal = older(running, pinned);
  const advice = `run it as \`npx -y deno@${pinned} task …\`, or \`npm install -g deno@${pinned}\``;
  return {
    fatal,
    text: fatal
      ? `Deno ${running} is older than ${pinned}, which this project needs: ${advice}`
      : `Deno ${running} is newer than ${pinned}, which this project is tested with: ${advice}`,
  };
}

function older(a: string, b: string): boolean {
  const [left, right] = [numbers(a), numbers(b)];
  const at = right.findIndex((value, index) => value !== left[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

function numbers(version: string): number[] {
  return version.split(/[.+-]/).slice(0, 3).map(Number);
}

/** Prints what is to be said about the running version; exits if it is too old. */
export function guardVersion(): void {
  const judgement = judgeVersion(Deno.version.deno);
  if (judgement === undefined) return;
  console.error(judgement.text);
  if (judgement.fatal) Deno.exit(1);
}
