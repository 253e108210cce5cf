import assert from "node:assert/strict";
import { fuzzed, programOf } from "./c_suites.ts";

Deno.test("a test file between rooms belongs to the room tests", () => {
  const program = { room: "tests", name: "tests_soak_test", realTime: false };
  assert.deepEqual(programOf("ffi/tests/soak_test.c", ""), program);
});

Deno.test.each([
  ['#include "io/loop.h"\n', true],
  ['#include "flow/engine.h"\n', true],
  ["#include <pthread.h>\n", true],
  ["  engine = ls_engine_open(1, err, sizeof err);\n", true],
  ['#include "stream/stream.h"\n', false],
  ["/* as io/loop.h does */\n", false],
] as [string, boolean][])("whether %j is of real time", (source, realTime) => {
  assert.equal(programOf("ffi/tests/a_test.c", source).realTime, realTime);
});

Deno.test("a fuzzing run passes only if it ran inputs and found nothing", () => {
  const run = (code: number, output: string) => fuzzed("x", { code, output, stdout: "" });
  assert.equal(run(0, "stat::number_of_executed_units: 12\n").passed, 1);
  assert.equal(run(0, "stat::number_of_executed_units: 0\n").failures.length, 1);
  assert.equal(run(0, "").failures.length, 1);
  assert.equal(run(77, "stat::number_of_executed_units: 12\n").failures[0]?.name, "x");
});
