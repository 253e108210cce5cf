import assert from "node:assert/strict";
import { inPool, judge } from "./suite.ts";

const xml = (cases: string): string => `<testsuites><testsuite>${cases}</testsuite></testsuites>`;
const outcome = (code: number) => ({ code, output: "what it said", stdout: "" });

Deno.test("what passed and failed in the file counts", () => {
  const files = [
    xml(`<testcase name="a"/>`),
    xml(`<testcase name="b"><failure>no</failure></testcase>`),
  ];
  assert.deepEqual(judge("x", outcome(1), files), {
    passed: 1,
    skipped: 0,
    failures: [{ name: "b", text: "no" }],
  });
});

Deno.test("an exit code that no test explains is a failure", () => {
  const result = judge("x", outcome(66), [xml(`<testcase name="a"/>`)]);
  assert.equal(result.passed, 1);
  assert.deepEqual(result.failures, [{ name: "x", text: "exit code 66\nwhat it said" }]);
});

Deno.test("a crash without a file, and a file without a test, are failures", () => {
  assert.match(judge("x", outcome(139), []).failures[0]?.text ?? "", /exit code 139/);
  assert.match(judge("x", outcome(0), []).failures[0]?.text ?? "", /ran no test/);
  assert.match(judge("x", outcome(0), [xml("")]).failures[0]?.text ?? "", /ran no test/);
});

Deno.test("a pool does all, in order, and never more than its width at once", async () => {
  let [now, most] = [0, 0];
  const work = async (item: number): Promise<number> => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, (item * 7) % 5));
    now--;
    return item * item;
  };
  const items = Array.from({ length: 20 }, (_, index) => index);
  assert.deepEqual(await inPool(items, 3, work), items.map((item) => item * item));
  assert.equal(most, 3);
  assert.deepEqual(await inPool([], 3, work), []);
});
