/**
 * Builds the library in `build/<preset>` (CMakePresets.json): `deno task build [preset …]`,
 * release if none is named. The build tool decides what is out of date, so that building again
 * costs next to nothing. It speaks on standard error, because a task that depends on it owns
 * standard output.
 *
 * @module
 */

import { ifThere, root } from "./files.ts";
import { endProgramsOnSignal, type Outcome, run } from "./process.ts";
import { guardVersion } from "./version.ts";

/** The presets of `ffi/CMakePresets.json`. */
export const presets = ["release", "plain", "asan", "tsan", "fuzz"] as const;

/** One of them. */
export type Preset = (typeof presets)[number];

const buildMs = 600_000;
const probeMs = 20_000;

/** How a build ended. */
export interface Built {
  readonly ok: boolean;
  /** One line if it went well, the compiler's own words if not. */
  readonly text: string;
}

/**
 * Whether a CMake cache was made by this generator, for this place: CMake refuses to change
 * either, so the directory is made anew (after a move of the clone, or once ninja is installed).
 *
 * @example
 * ```ts
 * import { cacheFits } from "./build.ts";
 * import assert from "node:assert/strict";
 *
 * const cache = "CMAKE_GENERATOR:INTERNAL=Ninja\nCMAKE_HOME_DIRECTORY:INTERNAL=/a/ffi\n";
 * assert.equal(cacheFits(cache, "Ninja", "/a/ffi"), true);
 * assert.equal(cacheFits(cache, "Unix Makefiles", "/a/ffi"), false);
 * assert.equal(cacheFits(cache, "Ninja", "/b/ffi"), false);
 * ```
 */
export function cacheFits(cache: string, generator: string, source: string): boolean {
  const lines = cache.split("\n");
  return lines.includes(`CMAKE_GENERATOR:INTERNAL=${generator}`) &&
    lines.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${source}`);
}

/** Writes the build files, if they are not there yet or belong to another place or tool. */
async function configure(preset: Preset): Promise<Outcome | undefined> {
  const ninja = await run("ninja", { args: ["--version"], timeoutMs: probeMs });
  const generator = ninja.code === 0 ? "Ninja" : "Unix Makefiles";
  const directory = `${root}build/${preset}`;
  const buildFile = generator === "Ninja" ? "build.ninja" : "Makefile";
  const cache = await ifThere(Deno.readTextFile(`${directory}/CMakeCache.txt`));
  if (cache !== undefined) {
    const fits = cacheFits(cache, generator, `${root}ffi`);
    if (fits && await ifThere(Deno.stat(`${directory}/${buildFile}`))) return undefined;
    await Deno.remove(directory, { recursive: true });
  }
  const args = ["--preset", preset, "-G", generator];
  return await run("cmake", { args, cwd: `${root}ffi`, timeoutMs: buildMs });
}

/** How many commands the build tool ran, by its own output; 0 when all was up to date. */
export function stepsRun(output: string): number {
  return output.split("\n").filter((line) => /^\[ *\d+(%|\/\d+)\] +(Building|Linking)/.test(line))
    .length;
}

/** What the compiler said, without the build tool's progress lines. */
export function complaints(output: string): string {
  return output.split("\n").filter((line) => !/^(\[ *\d+(%|\/\d+)\] |-- )/.test(line)).join("\n");
}

/** Configures if needed, and builds one preset, or only the targets named (an empty list is all).
 * Two builds at once wait for each other. */
export async function build(preset: Preset, targets: readonly string[] = []): Promise<Built> {
  const started = performance.now();
  await Deno.mkdir(`${root}build`, { recursive: true });
  using lock = await Deno.open(`${root}build/.lock`, { create: true, write: true });
  await lock.lock(true);
  const configured = await configure(preset);
  if (configured !== undefined && configured.code !== 0) {
    return { ok: false, text: `cmake --preset ${preset} failed:\n${configured.output}` };
  }
  const args = ["--build", `build/${preset}`, "--parallel", `${navigator.hardwareConcurrency}`];
  if (targets.length > 0) args.push("--target", ...targets);
  const built = await run("cmake", { args, cwd: root, timeoutMs: buildMs });
  if (built.code !== 0) {
    return {
      ok: false,
      text: `cmake --build build/${preset} failed:\n${complaints(built.output)}`,
    };
  }
  const steps = stepsRun(built.output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const did = steps === 0 ? "up to date" : `${steps} steps`;
  return { ok: true, text: `${preset}: ${did}, ${seconds} s` };
}

async function main(args: readonly string[]): Promise<number> {
  guardVersion();
  endProgramsOnSignal();
  const wanted = args.length === 0 ? ["release"] : args;
  for (const name of wanted) {
    const preset = presets.find((known) => known === name);
    if (preset === undefined) {
      console.error(`build: there is no preset "${name}"; known are ${presets.join(", ")}`);
      return 2;
    }
    const { ok, text } = await build(preset);
    console.error(`build: ${text}`);
    if (!ok) return 1;
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
