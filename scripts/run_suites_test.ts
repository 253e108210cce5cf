import assert from "node:assert/strict";
import { excerpt, strict, verdict } from "./run_suites.ts";
import { quick, suites } from "./suites.ts";

const result = { passed: 3, skipped: 2, failures: [{ name: "a", text: "b" }] };

Deno.test("the verdict counts, and names skipped tests when there are any", () => {
  assert.equal(verdict(result), "3 passed, 1 failed, 2 skipped");
  assert.equal(verdict({ ...result, skipped: 0 }), "3 passed, 1 failed");
});

Deno.test("under CI each skipped test is a failed one", () => {
  assert.equal(verdict(strict(result)), "3 passed, 3 failed");
  assert.equal(verdict(strict({ ...result, skipped: 0 })), "3 passed, 1 failed");
});

Deno.test("of a long text the beginning and the end are shown", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `${index}`);
  const shown = excerpt(lines.join("\n")).split("\n").map((line) => line.trim());
  assert.deepEqual(shown, [...lines.slice(0, 40), "... 40 more lines ...", ...lines.slice(80)]);
  assert.equal(excerpt("a\nb\n"), "    a\n    b");
});

Deno.test("suites have names of their own, and all end within half an hour", () => {
  const names = suites.map((suite) => suite.name);
  assert.equal(new Set(names).size, names.length);
  assert.ok(quick.every((name) => names.includes(name)));
  const budgetMs = suites.reduce((all, suite) => all + suite.budgetMs, 0);
  assert.ok(budgetMs <= 30 * 60_000, `${budgetMs / 60_000} minutes`);
});
