/**
 * The suites of `deno task test`, in order: what fails fast comes first.
 *
 * @module
 */

import { addressSuite, fuzzSuite, plainSuite, threadSuite } from "./c_suites.ts";
import { filesBelow, root } from "./files.ts";
import { type Result, sum } from "./junit.ts";
import { clang, clangFormat, cmocka } from "./setup.ts";
import { byExitCode, type Context, denoTest, type Suite } from "./suite.ts";

const deno = Deno.execPath();
const second = 1000;

const library = "build/release/liblockstep.so";
/**
 * What a unit test of the app may do: read the clone, load the library and libraries that do not
 * serve, talk to itself, list a library's symbols.
 */
const unitFlags = [
  "--allow-read=.",
  "--allow-ffi",
  "--allow-net=127.0.0.1,[::1]",
  "--allow-run=nm",
  "--ignore-env=LOG_TOKENS,LOG_STREAM", // the YAML reader looks for these
];
/** What the tests with peers may do: start these, the app itself and `cat`, and write files. */
const interopFlags = [
  "--allow-read=.",
  "--allow-write=build/test",
  "--allow-env=CI",
  `--allow-run=${deno},cat,srt-live-transmit,ffmpeg,tshark,dumpcap`,
];
/** What a test may do that starts the app itself and signals its process group. */
const crossFlags = [
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-net",
  "--allow-run",
  `--allow-ffi=${library}`,
];

async function format(context: Context): Promise<Result> {
  const sources = await filesBelow("ffi", /\.[ch]$/);
  return sum([
    await byExitCode(context, "deno fmt", deno, ["fmt", "--check"]),
    await byExitCode(context, "clang-format", "clang-format-14", [
      "--dry-run",
      "-Werror",
      ...sources,
    ]),
  ]);
}

/** The examples in doc comments and in Markdown. */
async function documentation(context: Context): Promise<Result> {
  const paths = [
    ...await filesBelow("src", /(?<!_test)\.ts$/),
    ...await filesBelow("scripts", /(?<!_test)\.ts$/),
    ...await filesBelow("docs", /\.md$/),
    "README.md",
    "CONTRIBUTING.md",
  ];
  const texts = await Promise.all(paths.map((path) => Deno.readTextFile(`${root}${path}`)));
  const withExamples = paths.filter((_, index) => texts[index]?.includes("```ts"));
  return await denoTest(context, ["--doc", ...unitFlags, ...withExamples]);
}

/** All suites. */
export const suites: readonly Suite[] = [
  {
    name: "gen",
    budgetMs: 20 * second,
    needs: [],
    tests: (context) => byExitCode(context, "deno task gen", deno, ["task", "gen", "--check"]),
  },
  { name: "fmt", budgetMs: 30 * second, needs: [clangFormat], tests: format },
  {
    name: "lint",
    budgetMs: 30 * second,
    needs: [],
    tests: (context) => byExitCode(context, "deno lint", deno, ["lint"]),
  },
  {
    name: "types",
    budgetMs: 60 * second,
    needs: [],
    tests: (context) => byExitCode(context, "deno check", deno, ["check", "."]),
  },
  {
    name: "unit",
    budgetMs: 60 * second,
    needs: [],
    tests: (context) => denoTest(context, [...unitFlags, "src"]),
  },
  {
    name: "scripts",
    budgetMs: 60 * second,
    needs: [],
    tests: (context) => denoTest(context, ["--allow-read=.", "--allow-run", "scripts"]),
  },
  { name: "doc", budgetMs: 45 * second, needs: [], tests: documentation },
  {
    name: "repository",
    budgetMs: 30 * second,
    needs: [],
    tests: (context) => denoTest(context, ["--allow-read=.", "--allow-run=nm", "tests/repository"]),
  },
  { name: "c-plain", budgetMs: 90 * second, needs: [cmocka], tests: plainSuite },
  { name: "c-asan", budgetMs: 240 * second, needs: [cmocka], tests: addressSuite },
  { name: "c-tsan", budgetMs: 180 * second, needs: [cmocka], tests: threadSuite },
  { name: "fuzz", budgetMs: 240 * second, needs: [clang], tests: fuzzSuite },
  {
    name: "cli",
    budgetMs: 90 * second,
    needs: [],
    tests: (context) => denoTest(context, [...crossFlags, "tests/cli"]),
  },
  {
    name: "interop",
    budgetMs: 360 * second,
    needs: [], // each test knows its peers, so that one that is missing skips no more than it must
    tests: (context) => denoTest(context, [...interopFlags, "tests/interop"]),
  },
  {
    name: "demo",
    budgetMs: 60 * second,
    needs: [],
    tests: (context) => denoTest(context, [...crossFlags, "tests/demo"]),
  },
];

/** The suites of `deno task ok`: all that is quick. */
export const quick: readonly string[] = [
  "gen",
  "fmt",
  "lint",
  "types",
  "unit",
  "scripts",
  "doc",
  "repository",
];
