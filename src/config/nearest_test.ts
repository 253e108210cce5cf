import assert from "node:assert/strict";
import fc from "fast-check";
import { editDistance, nearest, suggest } from "./nearest.ts";

Deno.test("edit distance", () => {
  const cases: [string, string, number][] = [
    ["", "", 0],
    ["abc", "", 3],
    ["latancy", "latency", 1],
    ["mdoe", "mode", 1],
    ["kitten", "sitting", 3],
  ];
  for (const [a, b, distance] of cases) assert.equal(editDistance(a, b), distance, `${a} ${b}`);
});

Deno.test("edit distance is symmetric, and 0 only for equal words", () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(fc.property(word, word, (a, b) => {
    assert.equal(editDistance(a, b), editDistance(b, a));
    assert.equal(editDistance(a, b) === 0, a === b);
  }));
});

Deno.test("suggestions", () => {
  const keys = ["mode", "latency", "rcvlatency", "peerlatency", "mss"];
  assert.deepEqual(nearest("latncy", keys), ["latency"]);
  assert.deepEqual(nearest("zzzzzzzz", keys), []);
  assert.deepEqual(nearest("x".repeat(1000), keys), []);
  assert.equal(suggest("MODE", keys), "did you mean mode?");
  assert.equal(suggest("zzzzzzzz", keys), `accepted: ${keys.join(", ")}`);
});
