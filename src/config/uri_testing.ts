/**
 * What the tests of URIs share.
 *
 * @module
 */

import assert from "node:assert/strict";
import { ConfigError } from "./error.ts";
import type { Direction, Endpoint } from "./types.ts";
import { normalise, parseUri } from "./uri.ts";

/** Options as `name=value` words, addresses as `place:host:port`. */
export function words(options: Endpoint["options"]): string[] {
  return options.map(({ name, value }) => {
    if (typeof value === "string") return `${name}=${value}`;
    if ("interfaceOf" in value) return `${name}=interface of ${value.interfaceOf}`;
    return `${name}=${value.place} ${value.address.host}:${value.address.port}`;
  });
}

/** The message with which a URI is refused. */
export function refused(text: string, direction: Direction): string {
  try {
    parseUri(text, direction);
  } catch (error) {
    assert.ok(error instanceof ConfigError, `${text}: ${error}`);
    return error.message;
  }
  assert.fail(`${text} was accepted`);
}

/** A URI, and what it shall become. */
export interface Case {
  readonly text: string;
  readonly direction: Direction;
  readonly uri: string;
  readonly options?: string[];
  readonly link?: string[];
  readonly note?: RegExp;
}

/** One test for each case: the endpoint, and that its URI is in normal spelling. */
export function testCases(cases: readonly Case[]): void {
  for (const { text, direction, uri, options, link, note } of cases) {
    Deno.test(`${direction} ${text}`, () => {
      const endpoint = parseUri(text, direction);
      assert.equal(endpoint.uri, uri);
      if (options !== undefined) assert.deepEqual(words(endpoint.options), options);
      if (link !== undefined) assert.deepEqual(endpoint.links.map(words), [link]);
      if (note !== undefined) assert.match(endpoint.notes.join("\n"), note);
      assert.equal(normalise(uri, direction), uri);
      assert.equal(endpoint.standardStream, uri === "-" || uri.startsWith("-?"));
    });
  }
}

/** One test: each URI is refused with its sentence. */
export function testRefusals(cases: readonly [string, Direction, RegExp][]): void {
  Deno.test("errors", () => {
    for (const [text, direction, message] of cases) {
      assert.match(refused(text, direction), message, text);
    }
  });
}
