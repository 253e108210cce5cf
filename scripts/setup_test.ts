import assert from "node:assert/strict";
import { advice, cmakeLack, missing, type Need } from "./setup.ts";

const need = (what: string, why: string | undefined): Need => ({
  what,
  packages: [`${what}-package`],
  lack: () => Promise.resolve(why),
});

Deno.test.each([
  ["cmake version 3.22.0\n", undefined],
  ["cmake version 4.0.2\n\nCMake suite maintained by ...", undefined],
  ["cmake version 3.21.9", "3.21 is older than 3.22"],
  ["cmake version 2.28.1", "2.28 is older than 3.22"],
  ["cmake: not found", "not found"],
] as [string, string | undefined][])("judges %j", (output, lack) => {
  assert.equal(cmakeLack(output), lack);
});

Deno.test("finds what is missing, and asks for no more", async () => {
  const lacking = await missing([need("a", undefined), need("b", "too old"), need("c", undefined)]);
  assert.deepEqual(lacking.map((one) => [one.need.what, one.why]), [["b", "too old"]]);
});

Deno.test("one message lists exactly what is missing and what to type", async () => {
  const lacking = await missing([need("a", "not found"), need("b", "too old")]);
  const text = advice(lacking, true);
  assert.match(text, /^ {2}a: not found \(Debian: a-package\)$/m);
  assert.match(text, /^ {2}b: too old \(Debian: b-package\)$/m);
  assert.match(text, /sudo apt-get .* a-package b-package$/m);
  assert.doesNotMatch(advice(lacking, false), /apt-get/);
});
