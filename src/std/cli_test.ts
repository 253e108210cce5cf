import assert from "node:assert/strict";
import fc from "fast-check";
import { parseArgs } from "./cli.ts";

const options = {
  boolean: ["quiet", "color"],
  string: ["to", "name", "port"],
  collect: ["to"],
  alias: { quiet: "q", name: ["n", "called"] },
  default: { port: "9000", color: true },
  negatable: ["color"],
} as const;

const absent = {
  _: [],
  quiet: false,
  q: false,
  color: true,
  to: [],
  port: "9000",
};

Deno.test.each([
  ["nothing", [], {}],
  ["positional ones stay text", ["route", "7", "-"], { _: ["route", "7", "-"] }],
  ["a flag", ["--quiet"], { quiet: true, q: true }],
  ["a short flag", ["-q"], { quiet: true, q: true }],
  ["a flag with a value", ["--quiet=false"], { quiet: false, q: false }],
  ["a flag takes no next argument", ["--quiet", "x"], { quiet: true, q: true, _: ["x"] }],
  ["a value after a blank", ["--port", "1"], { port: "1" }],
  ["a value after =", ["--port=1"], { port: "1" }],
  ["an empty value", ["--port="], { port: "" }],
  ["no value at the end", ["--port"], { port: "" }],
  ["no value before an option", ["--port", "--quiet"], { port: "", quiet: true, q: true }],
  ["the last value counts", ["--port", "1", "--port", "2"], { port: "2" }],
  ["a dash is a value", ["--port", "-"], { port: "-" }],
  ["aliases", ["-n", "x"], { name: "x", n: "x", called: "x" }],
  ["a short option's joined value", ["-nx"], { name: "x", n: "x", called: "x" }],
  ["a long alias", ["--called=x"], { name: "x", n: "x", called: "x" }],
  ["a short option without a value", ["-n", "-q"], {
    name: "",
    n: "",
    called: "",
    quiet: true,
    q: true,
  }],
  ["collected values in order", ["--to", "a", "x", "--to=b"], { to: ["a", "b"], _: ["x"] }],
  ["negated", ["--no-color"], { color: false }],
  ["only what is negatable is negated", ["--no-quiet"], { "no-quiet": true }],
  ["an unknown option is a flag", ["--what", "x"], { what: true, _: ["x"] }],
  ["an unknown option keeps its inline value", ["--what=x"], { what: "x" }],
  ["-- ends the options", ["--", "--quiet", "--port"], { _: ["--quiet", "--port"] }],
] as [string, string[], Record<string, unknown>][])("parses %s", (_name, args, expected) => {
  assert.deepEqual({ ...parseArgs(args, options) }, { ...absent, ...expected });
});

Deno.test.each([
  ["at the first positional one", ["-q", "run", "--port", "1"], ["run", "--port", "1"], true],
  ["not within an option's value", ["--port", "1", "run", "-q"], ["run", "-q"], false],
  ["at --, which is not kept", ["--", "-q", "--"], ["-q", "--"], false],
  ["nowhere without a positional one", ["-q"], [], true],
] as [string, string[], string[], boolean][])("stops early %s", (_name, args, rest, quiet) => {
  const parsed = parseArgs(args, { ...options, stopEarly: true });
  assert.deepEqual(parsed._, rest);
  assert.equal(parsed.quiet, quiet);
});

Deno.test("tells what it does not know, and leaves out what is refused", () => {
  const seen: unknown[][] = [];
  const parsed = parseArgs(["route", "--what=x", "-z", "--quiet"], {
    boolean: ["quiet"],
    unknown: (...told) => {
      seen.push(told);
      return told[1] === undefined;
    },
  });
  assert.deepEqual(seen, [["route"], ["--what=x", "what", "x"], ["-z", "z", true]]);
  assert.deepEqual({ ...parsed }, { _: ["route"], quiet: true });
});

Deno.test("a default of a collected option is its only value", () => {
  const parsed = parseArgs([], { string: ["to"], collect: ["to"], default: { to: "a" } });
  assert.deepEqual(parsed.to, ["a"]);
});

Deno.test("values come back as they were given, whatever they hold", () => {
  const value = fc.string().filter((text) => !text.startsWith("-"));
  fc.assert(fc.property(fc.array(value), value, fc.array(value), (to, port, rest) => {
    const args = [...to.flatMap((one) => ["--to", one]), `--port=${port}`, "--", ...rest];
    const parsed = parseArgs(args, options);
    assert.deepEqual([parsed.to, parsed.port, parsed._], [to, port, rest]);
  }));
});
