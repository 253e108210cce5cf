import assert from "node:assert/strict";
import { readGivenDuration, shellWord, simulate } from "./simulate.ts";
import { maxDurationNs } from "../config/scenario.ts";
import { readInvocation } from "./verb.ts";

Deno.test("the virtual time is given in one way", () => {
  const read = (...args: string[]): ReturnType<typeof readGivenDuration> =>
    readGivenDuration(readInvocation(simulate, ["x.yaml", ...args]), maxDurationNs);
  assert.equal(read(), undefined);
  assert.deepEqual(read("--for", "10 min"), { ns: 600e9, text: "10min" });
  assert.deepEqual(read("--hours", "1.5"), { ns: 5400e9, text: "1.5h" });
  assert.throws(() => read("--hours", "1", "--for", "1h"), /keep one/);
  assert.throws(() => read("--hours", "24h"), { name: "ConfigError", message: /^--hours: / });
  assert.throws(() => read("--for", "0s"), { name: "ConfigError", message: /^--for: / });
  assert.throws(() => read("--hours", "2161"), /2160h/);
});

Deno.test("a path can be typed again", () => {
  assert.equal(shellWord("scenarios/jitter.yaml"), "scenarios/jitter.yaml");
  assert.equal(shellWord("my file's.yaml"), String.raw`'my file'\''s.yaml'`);
});
