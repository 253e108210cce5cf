import assert from "node:assert/strict";
import { exitCodes, readInvocation, UsageError, type Verb } from "./verb.ts";
import { ConfigError, parseDuration } from "../config/mod.ts";

const verb: Verb = {
  name: "play",
  summary: "",
  usage: "IN OUT…",
  positionals: [2, 3],
  about: [],
  options: [
    { name: "for", value: "60s", help: "" },
    { name: "json", help: "" },
    { name: "quiet", short: "q", help: "" },
    { name: "stats-every", value: "1s", help: "" },
  ],
  examples: [],
  run: () => Promise.resolve(exitCodes.ok),
};

Deno.test("options may stand anywhere", () => {
  const invocation = readInvocation(verb, ["a", "--for=5s", "-", "-q", "--stats-every", "1s"]);
  assert.deepEqual(invocation.positional, ["a", "-"]);
  assert.equal(invocation.text("for"), "5s");
  assert.equal(invocation.on("quiet"), true);
  assert.equal(invocation.on("json"), false);
  assert.equal(invocation.read("for", 0, parseDuration), 5e9);
  assert.equal(invocation.read("no-such", 7, parseDuration), 7);
  assert.throws(() =>
    invocation.read("for", 0, () => {
      throw new ConfigError("bad");
    }), { message: "--for: bad" });
});

Deno.test("what is wrong with a command line is said in one sentence", () => {
  const cases: [string[], string][] = [
    [["a", "b", "--fro", "5s"], `play has no option "--fro"; did you mean --for?`],
    [
      ["a", "b", "--statsevery=1s"],
      `play has no option "--statsevery=1s"; did you mean --stats-every?`,
    ],
    [
      ["a", "b", "-z"],
      `play has no option "-z"; accepted: --for, --json, --quiet, --stats-every, --help`,
    ],
    [["a", "b", "--for", "-1s"], "no option takes a negative value such as -1…"],
    [["a", "b", "--for"], "--for needs a value: --for 60s"],
    [["a", "b", "--for", "--json"], "--for needs a value: --for 60s"],
    [["a", "b", "--for", "1s", "--for", "2s"], "--for is given twice; keep one"],
    [["a"], "an argument is missing: lockstep play IN OUT…"],
    [["a", "b", "c", "d"], `"d" is one argument too many: lockstep play IN OUT…`],
  ];
  for (const [args, message] of cases) {
    assert.throws(() => readInvocation(verb, args), (error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(error.message, message);
      return true;
    });
  }
});

Deno.test("help needs no arguments", () => {
  assert.equal(readInvocation(verb, ["--help"]).on("help"), true);
  assert.equal(readInvocation(verb, ["-h"]).on("help"), true);
});
