import assert from "node:assert/strict";
import { complaints, presets, stepsRun } from "./build.ts";
import { root } from "./files.ts";

Deno.test.each([
  ["ninja: no work to do.\n", 0],
  ["[1/3] Building C object a.o\n[2/3] Building C object b.o\n[3/3] Linking C library x.so\n", 3],
  ["[ 50%] Building C object a.o\n[ 50%] Built target core\n[100%] Built target x\n", 1],
] as [string, number][])("counts the steps in %j", (output, steps) => {
  assert.equal(stepsRun(output), steps);
});

Deno.test("of a failed build only the complaints are shown", () => {
  const output =
    "-- Configuring done\n[1/2] Building C object a.o\nFAILED: b.o\nb.c:1:1: error: no\n";
  assert.equal(complaints(output), "FAILED: b.o\nb.c:1:1: error: no\n");
});

Deno.test("knows the presets of CMakePresets.json", async () => {
  const { buildPresets } = JSON.parse(await Deno.readTextFile(`${root}ffi/CMakePresets.json`));
  assert.deepEqual(presets, buildPresets.map((preset: { name: string }) => preset.name));
});
