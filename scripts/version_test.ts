import assert from "node:assert/strict";
import { judgeVersion, pinned } from "./version.ts";

Deno.test.each([
  [pinned, undefined],
  ["2.9.5", true],
  ["2.8.9", true],
  ["1.46.3", true],
  ["2.9.7", false],
  ["2.10.0", false],
  ["3.0.0", false],
  ["2.9.6+abc", false],
] as [string, boolean | undefined][])("Deno %s", (running, fatal) => {
  const judgement = judgeVersion(running);
  assert.equal(judgement?.fatal, fatal);
  if (judgement !== undefined) assert.match(judgement.text, /npx -y deno@/);
});
