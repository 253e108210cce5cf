/**
 * What a suite of tests is, and the ways in which suites run programs.
 *
 * @module
 */

import { ifThere, root } from "./files.ts";
import { failure, nothing, parseJUnit, type Result, sum } from "./junit.ts";
import { type Outcome, run, type RunOptions } from "./process.ts";
import type { Need } from "./setup.ts";

/** Where logs and results go. */
export const resultsDirectory: string = `${root}build/test`;

/** A number of tests that are run, timed and reported together. */
export interface Suite {
  readonly name: string;
  /** What it may take on two busy cores, several times what it needs; a suite over it fails. */
  readonly budgetMs: number;
  /** Without these tools it is skipped, or fails under CI. */
  readonly needs: readonly Need[];
  readonly tests: (context: Context) => Promise<Result>;
}

/** A suite's own clock and log. */
export class Context {
  readonly #deadline: number;
  readonly #log: Deno.FsFile;
  readonly ci: boolean;

  constructor(suite: Pick<Suite, "name" | "budgetMs">, ci: boolean) {
    this.#deadline = performance.now() + suite.budgetMs;
    this.#log = Deno.openSync(`${resultsDirectory}/${suite.name}.log`, {
      create: true,
      write: true,
      truncate: true,
    });
    this.ci = ci;
  }

  /** What is left of the budget. */
  get leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  log(text: string): void {
    const bytes = new TextEncoder().encode(`${text}\n`);
    for (let at = 0; at < bytes.length;) at += this.#log.writeSync(bytes.subarray(at));
  }

  /** Runs a program in the clone's directory, within its own limit and the suite's budget. */
  async run(program: string, options: Partial<RunOptions> = {}): Promise<Outcome> {
    const timeoutMs = Math.max(1, Math.min(options.timeoutMs ?? Infinity, this.leftMs));
    const env = { NO_COLOR: "1", ...options.env };
    const started = performance.now();
    const outcome = await run(program, { cwd: root, ...options, env, timeoutMs });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const line = [program, ...options.args ?? []].join(" ");
    const end = `(exit code ${outcome.code}, ${seconds} s)`;
    this.log(`$ ${line}\n${outcome.output.trimEnd()}\n${end}\n`);
    return outcome;
  }

  [Symbol.dispose](): void {
    this.#log.close();
  }
}

/** A test that a program makes by its exit code. */
export async function byExitCode(
  context: Context,
  name: string,
  program: string,
  args: readonly string[],
): Promise<Result> {
  const { code, output } = await context.run(program, { args });
  return code === 0 ? { ...nothing, passed: 1 } : failure(name, output);
}

/**
 * The result of a program that wrote JUnit files: they count, but an exit code that they do not
 * explain (a crash, a leak found at the end) and the absence of any test are failures as well.
 */
export function judge(name: string, outcome: Outcome, xml: readonly string[]): Result {
  const result = sum(xml.map(parseJUnit));
  if (outcome.code !== 0 && result.failures.length === 0) {
    return sum([result, failure(name, `exit code ${outcome.code}\n${outcome.output}`)]);
  }
  if (result.passed + result.skipped + result.failures.length === 0) {
    return failure(name, `ran no test\n${outcome.output}`);
  }
  return result;
}

/** Runs `deno test` with flags and paths. */
export async function denoTest(context: Context, args: readonly string[]): Promise<Result> {
  const path = `${resultsDirectory}/junit-${crypto.randomUUID()}.xml`;
  const outcome = await context.run(Deno.execPath(), {
    args: ["test", "--no-prompt", `--junit-path=${path}`, ...args],
  });
  const xml = await ifThere(Deno.readTextFile(path));
  return judge("deno test", outcome, xml === undefined ? [] : [xml]);
}

/** Does the work for each item, at most `width` at once; results in the order of the items. */
export async function inPool<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
