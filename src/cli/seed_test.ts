import assert from "node:assert/strict";
import { ConfigError } from "../config/mod.ts";
import { readSeed } from "./seed.ts";
import { Invocation } from "./verb.ts";

function read(text?: string): number {
  const texts = new Map(text === undefined ? [] : [["seed", text]]);
  return readSeed(new Invocation([], texts, new Set()));
}

Deno.test("a seed is what was given, or another one each time", () => {
  assert.equal(read("0"), 0);
  assert.equal(read("9007199254740991"), Number.MAX_SAFE_INTEGER);
  for (const text of ["-1", "1.5", "x", "9007199254740992"]) {
    assert.throws(() => read(text), (error) => {
      assert.ok(error instanceof ConfigError);
      return error.message.startsWith("--seed: ");
    });
  }
  const seeds = new Set(Array.from({ length: 20 }, () => read()));
  assert.ok(seeds.size > 15, "random seeds repeat");
  for (const seed of seeds) assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32);
});
