/**
 * Runs the suites (`deno task test`, `deno task test <suite …>`, `deno task ok`), one progress line
 * each on standard error, failures with their text, and on standard output one last line
 * `N passed, N failed`. Logs are in `build/test/<suite>.log`.
 *
 * @module
 */

import { build } from "./build.ts";
import { failure, nothing, type Result, sum } from "./junit.ts";
import { endProgramsOnSignal } from "./process.ts";
import { missing } from "./setup.ts";
import { Context, resultsDirectory, type Suite } from "./suite.ts";
import { quick, suites } from "./suites.ts";
import { guardVersion } from "./version.ts";

/** Lines of a failure that are printed, from its beginning and its end; all are in the log. */
const [firstLines, lastLines] = [40, 20];

/**
 * The last line: skipped tests are named only when there are any.
 *
 * @example
 * ```ts
 * import { verdict } from "./run_suites.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(verdict({ passed: 3, skipped: 0, failures: [] }), "3 passed, 0 failed");
 * ```
 */
export function verdict(result: Result): string {
  const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : "";
  return `${result.passed} passed, ${result.failures.length} failed${skipped}`;
}

/** What CI makes of a result: a test that was skipped there has not been done. */
export function strict(result: Result): Result {
  if (result.skipped === 0) return result;
  const failures = Array.from({ length: result.skipped }, (_, index) => ({
    name: `skipped test ${index + 1}`,
    text: "under CI nothing may be skipped: its tool or peer is missing",
  }));
  return { ...result, skipped: 0, failures: [...result.failures, ...failures] };
}

/** The beginning and the end of a failure's text, indented. */
export function excerpt(text: string): string {
  const lines = text.trimEnd().split("\n");
  const left = lines.length - firstLines - lastLines;
  const shown = left <= 0
    ? lines
    : [...lines.slice(0, firstLines), `... ${left} more lines ...`, ...lines.slice(-lastLines)];
  return shown.map((line) => `    ${line}`).join("\n");
}

async function runSuite(suite: Suite, ci: boolean): Promise<Result> {
  using context = new Context(suite, ci);
  const lacking = await missing(suite.needs);
  if (lacking.length > 0) {
    const names = lacking.map(({ need, why }) => `${need.what}: ${why}`).join(", ");
    context.log(names);
    if (ci) return failure("tools", `missing (\`deno task setup:test\`): ${names}`);
    console.error(`  ${suite.name}: skipped: ${names}`);
    return { ...nothing, skipped: 1 };
  }
  const result = await suite.tests(context);
  if (result.passed + result.skipped + result.failures.length === 0) {
    return failure(suite.name, "the suite has no test");
  }
  if (context.leftMs === 0) {
    const over = failure("budget", `took longer than its ${suite.budgetMs / 1000} s`);
    return sum([result, over]);
  }
  return result;
}

async function runTimed(suite: Suite, ci: boolean): Promise<Result> {
  const started = performance.now();
  let result: Result;
  try {
    result = await runSuite(suite, ci);
  } catch (error) {
    const text = error instanceof Error ? error.stack ?? error.message : String(error);
    result = failure("the suite itself", text);
  }
  if (ci) result = strict(result);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.error(`  ${suite.name.padEnd(12)}${verdict(result).padEnd(32)}${seconds.padStart(6)} s`);
  for (const { name, text } of result.failures) {
    console.error(`  FAILED ${suite.name}: ${name}\n${excerpt(text)}`);
  }
  if (result.failures.length > 0) console.error(`  log: build/test/${suite.name}.log`);
  return result;
}

async function main(args: readonly string[]): Promise<number> {
  guardVersion();
  endProgramsOnSignal();
  const names = args.flatMap((argument) => argument === "--quick" ? quick : [argument]);
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    const known = suites.map((suite) => suite.name).join(", ");
    console.error(`test: there is no suite "${unknown}"; known are ${known}`);
    return 2;
  }
  const ci = Deno.env.get("CI") === "true";
  await Deno.mkdir(resultsDirectory, { recursive: true });
  const built = await build("release");
  console.error(`build: ${built.text}`);
  const wanted = suites.filter((suite) => names.length === 0 || names.includes(suite.name));
  const results = built.ok ? [] : [failure("build", built.text)];
  for (const suite of wanted) results.push(await runTimed(suite, ci));
  const all = sum(results);
  console.log(verdict(all));
  return all.failures.length > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
