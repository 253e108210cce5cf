/**
 * The part of a URI behind its `?`: split, decoded, read by a table of keys, written again.
 *
 * @module
 */

import { ConfigError, quote, within } from "./error.ts";
import type { Key, OptionValue, Read, Refused } from "./key.ts";
import { suggest } from "./nearest.ts";

/** An option of the library, by name. */
export interface Option {
  readonly name: string;
  readonly value: OptionValue;
}

/** A query that was read. */
export interface Query {
  /** What was read for each key, by its normal name, in the order of the table. */
  readonly values: ReadonlyMap<string, Read>;
  /** What a person should know: spellings that were translated, keys that were left out. */
  readonly notes: readonly string[];
}

/** Undoes %XX. */
export function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new ConfigError(`${quote(text)} has a stray %; a percent sign is written %25`);
  }
  if (/\p{Cc}/u.test(decoded)) {
    throw new ConfigError(`${quote(decoded)} has a control character`);
  }
  return decoded;
}

/** Puts %XX where a character would end the value or cannot stand in a URI. */
export function encode(text: string): string {
  return encodeURI(text).replaceAll(
    /[&#?]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Splits `a=1&b=2` into decoded pairs; a key without `=` is a switch that is on. */
export function splitQuery(query: string): [string, string][] {
  return query.split("&").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [decode(part), "yes"] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
  });
}

/**
 * Reads the pairs of a query by a table.
 *
 * @throws {ConfigError} an unknown key, a key twice, a refused key, a value that is not accepted.
 */
export function readQuery(
  pairs: readonly (readonly [string, string])[],
  keys: readonly Key[],
  refused: Readonly<Record<string, Refused>>,
): Query {
  const notes: string[] = [];
  const texts = new Map<Key, readonly [spelling: string, text: string]>();
  for (const [spelling, text] of pairs) {
    const key = keys.find(({ name, aliases }) =>
      name === spelling || aliases?.includes(spelling) === true
    );
    if (key === undefined) {
      notes.push(leaveOut(spelling, text, keys, refused));
      continue;
    }
    const before = texts.get(key);
    if (before !== undefined) {
      throw new ConfigError(
        before[0] === spelling
          ? `${spelling} stands twice; keep one`
          : `${before[0]} and ${spelling} mean the same; keep one`,
      );
    }
    texts.set(key, [spelling, text]);
  }
  const values = new Map<string, Read>();
  for (const key of keys) {
    const found = texts.get(key);
    if (found === undefined) continue;
    const [spelling, text] = found;
    const value = within(spelling, () => key.read(text));
    values.set(key.name, value);
    if (spelling !== key.name) notes.push(`${spelling} is read as ${key.name}=${value.shown}`);
  }
  return { values, notes };
}

/** A note for a key that may be left out; the values are never repeated, one may be a secret. */
function leaveOut(
  spelling: string,
  text: string,
  keys: readonly Key[],
  refused: Readonly<Record<string, Refused>>,
): string {
  const reason = Object.hasOwn(refused, spelling) ? refused[spelling] : undefined;
  if (reason === undefined) {
    const names = keys.map(({ name }) => name);
    throw new ConfigError(`unknown key ${quote(spelling)}; ${suggest(spelling, names)}`);
  }
  if (reason.harmless?.(text) !== true) throw new ConfigError(`${spelling}: ${reason.because}`);
  return `${spelling} says what is done anyway and is left out`;
}

/** The library's options that the values set for an endpoint or a link; a later key wins. */
export function optionsOf(
  query: Query,
  keys: readonly Key[],
  owner: "endpoint" | "link",
): Option[] {
  const options = new Map<string, string>();
  for (const key of keys) {
    const value = query.values.get(key.name);
    if (value === undefined || (key.of ?? "endpoint") !== owner) continue;
    for (const name of key.options) options.set(name, value.value);
  }
  return [...options].map(([name, value]) => ({ name, value }));
}

/** The query again, in the order of the table, in normal spelling; empty without values. */
export function writeQuery(values: ReadonlyMap<string, Read>, keys: readonly Key[]): string {
  const parts = keys.flatMap(({ name }) => {
    const value = values.get(name);
    return value === undefined ? [] : [`${name}=${encode(value.shown)}`];
  });
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
