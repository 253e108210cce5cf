/**
 * What somebody probably meant.
 *
 * @module
 */

/** Longest word that is compared; longer ones are near to nothing. */
const maxWord = 64;

/** How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last: number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(before, j - 2) + 1);
      }
      row.push(best);
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/**
 * Up to three of `words` that are near to `word`, nearest first; empty when none is.
 *
 * @example
 * ```ts
 * import { nearest } from "./nearest.ts";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(nearest("latancy", ["latency", "mode", "mss"]), ["latency"]);
 * ```
 */
export function nearest(word: string, words: readonly string[]): string[] {
  if (word.length > maxWord) return [];
  const limit = Math.max(2, Math.floor(word.length / 3));
  const lower = word.toLowerCase();
  return words
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= limit && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** The end of a sentence about an unknown word: what was probably meant, else all there is. */
export function suggest(word: string, words: readonly string[]): string {
  const near = nearest(word, words);
  return near.length > 0 ? `did you mean ${list(near)}?` : `accepted: ${words.join(", ")}`;
}

function list(words: readonly string[]): string {
  const head = words.slice(0, -1).join(", ");
  const last = words.at(-1) ?? "";
  return head === "" ? last : `${head} or ${last}`;
}
