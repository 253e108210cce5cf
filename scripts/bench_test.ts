import assert from "node:assert/strict";
import { cpuSeconds, median } from "./bench.ts";

Deno.test("CPU times are read behind a name with blanks and brackets", () => {
  const stat = "42 (a) b (c)) R 1 42 42 0 -1 4194304 90 0 0 0 1234 66 0 0 20 0 1 0";
  assert.equal(cpuSeconds(stat), 13);
  assert.throws(() => cpuSeconds("42 (cut"), /Cannot read CPU times/);
});

Deno.test.each([
  [[3], 3],
  [[5, 1, 3], 3],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
] as [number[], number][])("the median of %j is %d", (values, expected) => {
  assert.equal(median(values), expected);
});

Deno.test("there is no median of nothing", () => {
  assert.throws(() => median([]), /nothing/);
});
