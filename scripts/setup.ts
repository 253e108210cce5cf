/**
 * Makes sure that the tools are there: for building (`deno task setup`), and with `--test` also
 * for the tests (`deno task setup:test`). Only what is missing is installed, by apt-get; where
 * that is not possible, one message says what to install. This is the only script that installs.
 * It speaks on standard error, because a task that depends on it owns standard output.
 *
 * @module
 */

import { endProgramsOnSignal, run } from "./process.ts";
import { guardVersion } from "./version.ts";

/** A tool, the Debian packages that bring it, and how to find out that it is there. */
export interface Need {
  readonly what: string;
  readonly packages: readonly string[];
  /** Why it does not serve; undefined when it does. */
  readonly lack: () => Promise<string | undefined>;
}

const probeMs = 20_000;
const installMs = 900_000;
const oldestCMake = [3, 22] as const; // CMakePresets.json, version 4

/**
 * Why the output of `cmake --version` does not serve; undefined when it does.
 *
 * @example
 * ```ts
 * import { cmakeLack } from "./setup.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(cmakeLack("cmake version 3.25.1\n"), undefined);
 * assert.equal(cmakeLack("cmake version 3.18.4\n"), "3.18 is older than 3.22");
 * ```
 */
export function cmakeLack(output: string): string | undefined {
  const match = /^cmake version (\d+)\.(\d+)/m.exec(output);
  if (match === null) return "not found";
  const [major, minor] = [Number(match[1]), Number(match[2])];
  const [wantMajor, wantMinor] = oldestCMake;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return undefined;
  return `${major}.${minor} is older than ${wantMajor}.${wantMinor}`;
}

/** A tool that serves when it can print its version. */
function program(name: string, packages: readonly string[], versionFlag = "--version"): Need {
  const lack = async (): Promise<string | undefined> => {
    const { code } = await run(name, { args: [versionFlag], timeoutMs: probeMs });
    return code === 0 ? undefined : "not found";
  };
  return { what: name, packages, lack };
}

/** Headers that serve when the C compiler finds them. */
function headers(what: string, names: readonly string[], packages: readonly string[]): Need {
  const lack = async (): Promise<string | undefined> => {
    const stdin = names.map((name) => `#include <${name}>\n`).join("");
    const args = ["-E", "-x", "c", "-o", "/dev/null", "-"];
    const { code } = await run("cc", { args, stdin, timeoutMs: probeMs });
    return code === 0 ? undefined : "not found";
  };
  return { what, packages, lack };
}

/** What building the library needs. */
export const buildNeeds: readonly Need[] = [
  {
    what: `cmake ${oldestCMake.join(".")} or newer`,
    packages: ["cmake"],
    lack: async () =>
      cmakeLack((await run("cmake", { args: ["--version"], timeoutMs: probeMs })).output),
  },
  {
    what: "ninja or make",
    packages: ["ninja-build"],
    lack: async () => {
      const ninja = await run("ninja", { args: ["--version"], timeoutMs: probeMs });
      const make = await run("make", { args: ["--version"], timeoutMs: probeMs });
      return ninja.code === 0 || make.code === 0 ? undefined : "not found";
    },
  },
  headers("a C compiler with its headers", ["stdint.h", "pthread.h"], ["gcc", "libc6-dev"]),
];

/** cmocka, for the C unit tests. */
export const cmocka: Need = headers(
  "cmocka",
  ["stdarg.h", "stddef.h", "stdint.h", "setjmp.h", "cmocka.h"],
  ["libcmocka-dev"],
);

/** clang with the runtime of its fuzzer. */
export const clang: Need = {
  what: "clang with libFuzzer",
  packages: ["clang", "libclang-rt-dev"],
  lack: async () => {
    const name = `libclang_rt.fuzzer-${Deno.build.arch}.a`; // given back as it is if not found
    const args = [`-print-file-name=${name}`];
    const { stdout } = await run("clang", { args, timeoutMs: probeMs });
    return stdout.trim().includes("/") ? undefined : "not found";
  },
};

/** clang-format; other versions format differently. */
export const clangFormat: Need = program("clang-format-14", ["clang-format-14"]);

/** The programs that the interoperability tests meet. */
export const peers: readonly Need[] = [
  program("srt-live-transmit", ["srt-tools"], "-version"),
  program("tshark", ["tshark"]),
  program("ffmpeg", ["ffmpeg"], "-version"),
];

/** What the tests need besides; a suite whose tool is missing is skipped, or fails under CI. */
export const testNeeds: readonly Need[] = [cmocka, clang, clangFormat, ...peers];

/** A need that is not met, and why. */
export interface Missing {
  readonly need: Need;
  readonly why: string;
}

/** Which needs are not met. */
export async function missing(needs: readonly Need[]): Promise<Missing[]> {
  const lacks = await Promise.all(needs.map((need) => need.lack()));
  return needs.flatMap((need, index) => {
    const why = lacks[index];
    return why === undefined ? [] : [{ need, why }];
  });
}

/** The one message for a person who has to install by hand. */
export function advice(lacking: readonly Missing[], debian: boolean): string {
  const packages = lacking.flatMap(({ need }) => need.packages).join(" ");
  const list = lacking.map(({ need, why }) =>
    `  ${need.what}: ${why} (Debian: ${need.packages.join(" ")})`
  );
  const step = debian
    ? `Type:\n  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages}`
    : "This is not a Debian-like system: install them by its own means.";
  return `setup: these are missing:\n${list.join("\n")}\n${step}`;
}

/** How apt-get may be run here, or undefined. */
async function installer(): Promise<readonly string[] | undefined> {
  if (Deno.uid() === 0) return ["apt-get"];
  const sudo = await run("sudo", { args: ["-n", "true"], timeoutMs: probeMs });
  return sudo.code === 0 ? ["sudo", "-n", "apt-get"] : undefined;
}

/** Installs packages; what failed is told on standard error, and judged by the needs afterwards. */
async function install(how: readonly string[], packages: readonly string[]): Promise<void> {
  const [name, ...first] = how;
  if (name === undefined) return;
  const apt = (args: readonly string[]): ReturnType<typeof run> =>
    run(name, {
      args: [...first, "-o", "DPkg::Lock::Timeout=300", ...args],
      env: { DEBIAN_FRONTEND: "noninteractive" },
      timeoutMs: installMs,
    });
  console.error(`setup: installing ${packages.join(" ")} with apt-get (a minute or so) ...`);
  await apt(["update", "-q"]);
  const options = ["install", "-q", "-y", "--no-install-recommends"];
  if ((await apt([...options, ...packages])).code === 0) return;
  // One name that this distribution does not know must not keep the others out.
  for (const name of packages) {
    const { code, output } = await apt([...options, name]);
    if (code !== 0) {
      console.error(`setup: ${name}:\n${output.trim().split("\n").slice(-5).join("\n")}`);
    }
  }
}

async function main(args: readonly string[]): Promise<number> {
  guardVersion();
  endProgramsOnSignal();
  const forTests = args.includes("--test");
  const needs = forTests ? [...buildNeeds, ...testNeeds] : buildNeeds;
  let lacking = await missing(needs);
  if (lacking.length === 0) return 0;
  const debian = (await run("apt-get", { args: ["--version"], timeoutMs: probeMs })).code === 0;
  const how = debian ? await installer() : undefined;
  if (how !== undefined) {
    await install(how, lacking.flatMap(({ need }) => need.packages));
    lacking = await missing(needs);
    if (lacking.length === 0) return 0;
  }
  console.error(advice(lacking, debian));
  const testsOnly = lacking.every(({ need }) => testNeeds.includes(need));
  if (!testsOnly) return 1;
  if (Deno.env.get("CI") === "true") return 1;
  console.error("setup: the suites that need them will be skipped");
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
