/**
 * The suites of the C library: unit tests under the sanitizers, and fuzzing.
 *
 * @module
 */

import { build, type Preset } from "./build.ts";
import { filesBelow, ifThere, root } from "./files.ts";
import { failure, nothing, type Result, sum } from "./junit.ts";
import type { Outcome } from "./process.ts";
import { type Context, inPool, judge, resultsDirectory } from "./suite.ts";

const programMs = 60_000;

/** What makes a test wait on the real clock, and threads meet in it. */
const realTime = /^#include ("(io|flow)\/|<pthread\.h>)|\bls_engine_open\(/m;
/** Programs with an allocator of their own: no sanitizer can be in them. */
const plainPrograms = ["tests_allocation_test"];

/** One test program. */
export interface Program {
  /** Also its target in CMakeLists.txt. */
  readonly name: string;
  readonly room: string;
  /** Of these one runs at a time, and under the thread sanitizer too. */
  readonly realTime: boolean;
}

/**
 * The program that CMakeLists.txt makes of a test file.
 *
 * @example
 * ```ts
 * import { programOf } from "./c_suites.ts";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(programOf("ffi/src/srt/packet_test.c", '#include "srt/packet.h"\n'), {
 *   name: "srt_packet_test",
 *   room: "srt",
 *   realTime: false,
 * });
 * ```
 */
export function programOf(path: string, source: string): Program {
  const [file = "", room = ""] = path.split("/").reverse();
  const name = `${room}_${file.replace(/\.c$/, "")}`;
  return { name, room, realTime: realTime.test(source) };
}

async function allPrograms(): Promise<Program[]> {
  const found = [];
  for (const directory of ["ffi/src", "ffi/sim", "ffi/tests"]) {
    found.push(...await ifThere(filesBelow(directory, /_test\.c$/)) ?? []);
  }
  return await Promise.all(
    found.map(async (path) => programOf(path, await Deno.readTextFile(`${root}${path}`))),
  );
}

/** Every test program that can run under a sanitizer. */
async function programs(): Promise<Program[]> {
  return (await allPrograms()).filter(({ name }) => !plainPrograms.includes(name));
}

async function runProgram(context: Context, preset: Preset, program: Program): Promise<Result> {
  const path = `${root}build/${preset}/${program.name}`;
  const env = { CMOCKA_MESSAGE_OUTPUT: "xml", UBSAN_OPTIONS: "print_stacktrace=1" };
  const options = { env, timeoutMs: programMs };
  let outcome = await context.run(path, options);
  if (outcome.output.includes("ThreadSanitizer: unexpected memory mapping")) {
    // Kernels with more random address bits than this runtime can map; without them it can.
    outcome = await context.run("setarch", { args: ["-R", path], ...options });
  }
  return prefixed(program.name, judge("the program", outcome, [outcome.output]));
}

function prefixed(prefix: string, result: Result): Result {
  const failures = result.failures.map(({ name, text }) => ({ name: `${prefix}: ${name}`, text }));
  return { ...result, failures };
}

async function unitTests(context: Context, preset: Preset, list: Program[]): Promise<Result> {
  const built = await build(preset, list.map((program) => program.name));
  context.log(built.text);
  if (!built.ok) return failure(`build of ${preset}`, built.text);
  const alone = list.filter((program) => program.realTime);
  const together = list.filter((program) => !program.realTime);
  const work = async (program: Program): Promise<Result> =>
    // One failure tells that the budget is used up; what is left would only add noise.
    context.leftMs === 0 ? nothing : await runProgram(context, preset, program);
  // Those that wait on the clock mostly sleep, and judge nothing that a busy core could spoil.
  const pools = [inPool(together, navigator.hardwareConcurrency, work), inPool(alone, 1, work)];
  return sum((await Promise.all(pools)).flat());
}

/** The programs that count for themselves, as the library is on the air. */
export async function plainSuite(context: Context): Promise<Result> {
  const list = await allPrograms();
  return await unitTests(context, "plain", list.filter(({ name }) => plainPrograms.includes(name)));
}

/** Every unit test under the address and undefined-behaviour sanitizers. */
export async function addressSuite(context: Context): Promise<Result> {
  return await unitTests(context, "asan", await programs());
}

/** The tests in which threads meet, and those of the base room, under the thread sanitizer. */
export async function threadSuite(context: Context): Promise<Result> {
  const list = await programs();
  const threaded = list.filter(({ room, realTime }) => realTime || room === "base");
  return await unitTests(context, "tsan", threaded);
}

/** Whether a fuzzing run found nothing, and did run: from its exit code and final statistics. */
export function fuzzed(name: string, outcome: Outcome): Result {
  if (outcome.code !== 0) return failure(name, outcome.output);
  const units = /^stat::number_of_executed_units:\s*(\d+)/m.exec(outcome.output)?.[1];
  if (Number(units ?? 0) > 0) return { ...nothing, passed: 1 };
  return failure(name, `no input was run\n${outcome.output}`);
}

async function fuzz(context: Context, name: string, seconds: number): Promise<Result> {
  const kept = `ffi/fuzz/corpus/${name.replace(/_fuzz$/, "")}`;
  const seeds = await ifThere(filesBelow(kept, /./)) ?? [];
  if (seeds.length === 0) return failure(name, `no kept corpus in ${kept}`);
  const grown = `build/fuzz-corpus/${name}`; // new inputs go to the first directory
  await Deno.mkdir(`${root}${grown}`, { recursive: true });
  const outcome = await context.run(`${root}build/fuzz/${name}`, {
    args: [
      `-max_total_time=${seconds}`,
      "-timeout=10",
      "-rss_limit_mb=2048",
      "-print_final_stats=1",
      `-artifact_prefix=${resultsDirectory}/${name}-`,
      grown,
      kept,
    ],
    timeoutMs: (seconds + 60) * 1000,
  });
  return fuzzed(name, outcome);
}

/** Every fuzz target over its corpus, for a few seconds each: 5, or 20 under CI. */
export async function fuzzSuite(context: Context): Promise<Result> {
  const paths = await ifThere(filesBelow("ffi/fuzz", /^ffi\/fuzz\/\w+_fuzz\.c$/)) ?? [];
  if (paths.length === 0) return nothing;
  const names = paths.map((path) => path.replace(/^.*\/|\.c$/g, ""));
  const built = await build("fuzz", names);
  context.log(built.text);
  if (!built.ok) return failure("build of fuzz", built.text);
  const seconds = context.ci ? 20 : 5;
  const work = (name: string): Promise<Result> => fuzz(context, name, seconds);
  return sum(await inPool(names, navigator.hardwareConcurrency, work));
}
