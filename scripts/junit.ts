/**
 * Reads the results that cmocka and `deno test` write as JUnit XML.
 *
 * @module
 */

/** One test that did not pass. */
export interface Failure {
  readonly name: string;
  readonly text: string;
}

/** What came of a number of tests. */
export interface Result {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** The result of no test. */
export const nothing: Result = { passed: 0, skipped: 0, failures: [] };

/** One test that failed. */
export function failure(name: string, text: string): Result {
  return { passed: 0, skipped: 0, failures: [{ name, text }] };
}

/** Adds results up. */
export function sum(results: readonly Result[]): Result {
  return {
    passed: results.reduce((all, one) => all + one.passed, 0),
    skipped: results.reduce((all, one) => all + one.skipped, 0),
    failures: results.flatMap((one) => one.failures),
  };
}

const attributes = String.raw`((?:\s+[\w:.-]+="[^"]*")*)\s*`;
const testCase = new RegExp(`<testcase${attributes}(?:/>|>([\\s\\S]*?)</testcase>)`, "g");
const trouble = new RegExp(
  `<(?:failure|error)${attributes}(?:/>|>([\\s\\S]*?)</(?:failure|error)>)`,
);

/**
 * Counts the test cases of a JUnit file.
 *
 * @example
 * ```ts
 * import { parseJUnit } from "./junit.ts";
 * import assert from "node:assert/strict";
 *
 * const result = parseJUnit(`<testsuites><testsuite>
 *   <testcase name="a"/>
 *   <testcase name="b"><failure message="1 &lt; 2"/></testcase>
 *   <testcase name="c"><skipped/></testcase>
 * </testsuite></testsuites>`);
 * assert.deepEqual(result, {
 *   passed: 1,
 *   skipped: 1,
 *   failures: [{ name: "b", text: "1 < 2" }],
 * });
 * ```
 */
export function parseJUnit(xml: string): Result {
  return sum([...xml.matchAll(testCase)].map(([, head = "", body = ""]) => {
    const found = trouble.exec(body);
    if (found === null) {
      return /<skipped\b/.test(body) ? { ...nothing, skipped: 1 } : { ...nothing, passed: 1 };
    }
    const name = attribute(head, "name") ?? "(no name)";
    return failure(name, plain(found[2] ?? "") || (attribute(found[1] ?? "", "message") ?? ""));
  }));
}

function attribute(head: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(head)?.[1];
  return value === undefined ? undefined : unescape(value);
}

function plain(body: string): string {
  const section = /^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/.exec(body)?.[1];
  return (section ?? unescape(body)).trim();
}

const entities: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

function unescape(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? whole;
  });
}
