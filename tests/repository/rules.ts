/**
 * The rules of the house that a program can check. Each takes a path and a text, and says what is
 * wrong in one sentence each.
 *
 * @module
 */

import { pinned } from "../../scripts/version.ts";
import { functionsOf, includesOf, stripComments } from "./c_source.ts";

/** A rule about one file. */
export type Rule = (path: string, text: string) => string[];

const maxLines = 600;
const maxFunctionLines = 80;

/** Files that may be longer: made by a program, or one table that is read by its names. */
const long = [/\.gen\.\w+$/, /^deno\.lock$/, /^ffi\/statistics\.ts$/];

/** No file that nobody can hold in the head. */
const fileLength: Rule = (path, text) => {
  const lines = text.split("\n").length - 1;
  if (lines <= maxLines || long.some((pattern) => pattern.test(path))) return [];
  return [`has ${lines} lines; look for the second module inside it`];
};

/** The words are put together here so that this file obeys its own rule. */
const markers = new RegExp(
  `\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"].join("|")})\\b`,
);

/** Nothing is left for later in the source. */
const noMarkers: Rule = (_path, text) =>
  text.split("\n").flatMap((line, index) => {
    const marker = markers.exec(line)?.[1];
    return marker === undefined ? [] : [`line ${index + 1} says ${marker}`];
  });

const registries = new RegExp(
  [
    String.raw`registry\.[\w-]+\.\w+`,
    String.raw`https?://[^\s"'<>)]*(?:registry|artifactory|nexus|verdaccio)`,
    String.raw`\b(?:npmjs|jsr|crates|pypi)\.(?:com|org|io)\b`,
    String.raw`\bdeno\.land\b`,
    String.raw`\bfiles\.pythonhosted\b`,
    String.raw`\bproxy\.golang\b`,
  ].join("|"),
);

/** Where packages come from is the machine's business. */
const noRegistries: Rule = (path, text) => {
  if (path === "tests/repository/rules.ts" || path === "tests/repository/tidy_test.ts") return [];
  const host = registries.exec(text)?.[0];
  return host === undefined ? [] : [`names the registry ${host}`];
};

/** One version of the runtime, everywhere. */
const onePin: Rule = (_path, text) =>
  [...text.matchAll(/\bdeno@(\d[\w.]*\d)/g)].flatMap(([, version]) =>
    version === pinned ? [] : [`names deno@${version}; the project is pinned to ${pinned}`]
  );

/** Only the engine opens the library. */
const onlyEngineOpens: Rule = (path, text) =>
  path.endsWith(".ts") && !path.startsWith("src/engine/") &&
    new RegExp("Deno\\.dl" + "open").test(text)
    ? ["opens a library; only src/engine does"]
    : [];

const allAccess = new RegExp(`(^|[\\s"'\`])(${"-" + "A"}|--allow-${"all"})(?=$|[\\s"'\`])`, "m");

/** Permissions are spelt out. */
const noAllAccess: Rule = (path, text) =>
  /(\.ts|\.json|^\.ci\/run)$/.test(path) && allAccess.test(text) ? ["grants all permissions"] : [];

/** The task that runs a verb grants one library, and neither programs nor all libraries. */
const verbPermissions: Rule = (path, text) => {
  if (path !== "deno.json") return [];
  const tasks = Object.entries(JSON.parse(text).tasks) as [string, { command?: string }][];
  return tasks.flatMap(([name, { command = "" }]) => {
    const words = command.split(" ");
    if (!words.includes("src/main.ts")) return [];
    const flags = words.slice(0, words.indexOf("src/main.ts"));
    const ffi = flags.filter((flag) => flag.startsWith("--allow-ffi"));
    const wrong = [];
    if (ffi.join(" ") !== "--allow-ffi=build/release/liblockstep.so") {
      wrong.push(`task ${name} does not grant exactly the one library`);
    }
    if (flags.some((flag) => flag.startsWith("--allow-run"))) {
      wrong.push(`task ${name} may run programs`);
    }
    return wrong;
  });
};

/** The rooms of the library by rank (docs/architecture.md); rooms of one rank are strangers. */
const ranks = new Map([
  ["base", 0],
  ["pace", 1],
  ["srt", 1],
  ["media", 1],
  ["impair", 1],
  ["stream", 2],
  ["sim", 3],
  ["io", 4],
  ["flow", 5],
]);

/** Beside the rooms: what may include all of them, and the public header. */
const across = new Set(["tests", "fuzz", "include"]);

function roomOf(path: string): string | undefined {
  return /^ffi\/(?:src\/)?(\w+)\/\w+\.[ch]$/.exec(path)?.[1];
}

/** A room includes itself and rooms below it. */
const arrowsPointDown: Rule = (path, text) => {
  const room = roomOf(path);
  if (room === undefined || across.has(room)) return [];
  const rank = ranks.get(room);
  if (rank === undefined) return [`is in a room that has no rank: ${room}`];
  return includesOf(text).filter((name) => !name.startsWith("<")).flatMap((name) => {
    if (name === "lockstep.h") return [];
    const other = name.split("/")[0] ?? "";
    if (!name.includes("/")) return [`includes "${name}" without its room`];
    const otherRank = ranks.get(other);
    if (other === room || (otherRank !== undefined && otherRank < rank)) return [];
    return [`includes ${name}, which is not below ${room}`];
  });
};

const pureHeaders = new Set([
  "<errno.h>",
  "<inttypes.h>",
  "<limits.h>",
  "<math.h>",
  "<stdalign.h>",
  "<stdarg.h>",
  "<stdatomic.h>",
  "<stdbool.h>",
  "<stddef.h>",
  "<stdint.h>",
  "<stdio.h>", // text into a caller's buffer; sansIoCalls refuses the rest
  "<stdlib.h>",
  "<string.h>",
  "<strings.h>",
]);
/** Addresses are turned into text and back in the base room. */
const addressHeaders = new Set(["<arpa/inet.h>"]);

/** The simulator's table of handles, which callers' threads share: it is not below `io`. */
const sharedTable = "ffi/sim/abi.c";

function isSansIo(path: string): boolean {
  const rank = ranks.get(roomOf(path) ?? "");
  const test = /(_test\.c|\/testing\.h)$/.test(path);
  return rank !== undefined && rank <= 3 && !test && path !== sharedTable;
}

/** The rooms below `io` know no clock, socket, thread or log: they cannot even name them. */
const sansIoHeaders: Rule = (path, text) => {
  if (!isSansIo(path)) return [];
  return includesOf(text).filter((name) => name.startsWith("<")).flatMap((name) => {
    const fits = pureHeaders.has(name) || (roomOf(path) === "base" && addressHeaders.has(name));
    return fits ? [] : [`includes ${name}, which a sans-I/O room has no use for`];
  });
};

const output = /\b(v?f?printf|f?puts|f?putc|putchar|perror|fopen|fwrite|abort|exit|getenv)\(/;

/** The rooms below `io` print nothing and end nothing; an assertion that fails does both. */
const sansIoCalls: Rule = (path, text) => {
  if (!isSansIo(path) || path === "ffi/src/base/assert.h") return [];
  const call = output.exec(stripComments(text))?.[1];
  return call === undefined ? [] : [`calls ${call}`];
};

const allocation = /\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|strndup)\(/;

/** The rooms below `io` allocate when they are initialised, and not after. */
const allocateInInit: Rule = (path, text) => {
  if (!isSansIo(path)) return [];
  return functionsOf(text).flatMap(({ name, body }) => {
    const call = allocation.exec(body)?.[1];
    return call === undefined || /_init$/.test(name) ? [] : [`${name} calls ${call} after start`];
  });
};

/** A function fits a screen. */
const functionLength: Rule = (path, text) => {
  if (!/^ffi\/.*\.[ch]$/.test(path)) return [];
  return functionsOf(text).flatMap(({ name, from, to }) =>
    to - from < maxFunctionLines ? [] : [`${name} has ${to - from + 1} lines`]
  );
};

/** What a file shares with others carries the library's prefix. */
const symbolPrefix: Rule = (path, text) => {
  if (!/^ffi\/(src|sim)\/.*(?<!_test)\.c$/.test(path)) return [];
  return functionsOf(text).flatMap(({ name, isStatic }) =>
    isStatic || /^ls_/.test(name) ? [] : [`${name} is neither static nor ls__`]
  );
};

/** What nothing uses is deleted, not commented out. */
const noDeadCode: Rule = (path, text) => {
  if (!/^ffi\/.*\.[ch]$/.test(path)) return [];
  const code = /^\s*\/\/.*;\s*$|^#if 0\b/m.exec(text);
  return code === null ? [] : [`has code that is commented out: ${code[0].trim()}`];
};

/** Big-endian and sequence arithmetic are in the base room; nobody casts a buffer to a number. */
const noPackedCasts: Rule = (path, text) => {
  if (!/^ffi\/src\/.*(?<!_test)\.[ch]$/.test(path)) return [];
  const cast = /\*\(\s*(?:const\s+)?u?int(?:16|32|64)_t\s*\*\s*\)\s*\w/.exec(stripComments(text));
  return cast === null ? [] : [`reads a number through a cast: ${cast[0]}`];
};

/** Every rule about one file. */
export const rules: Readonly<Record<string, Rule>> = {
  fileLength,
  noMarkers,
  noRegistries,
  onePin,
  onlyEngineOpens,
  noAllAccess,
  verbPermissions,
  arrowsPointDown,
  sansIoHeaders,
  sansIoCalls,
  allocateInInit,
  functionLength,
  symbolPrefix,
  noDeadCode,
  noPackedCasts,
};

/** C files that have no test of their own, and where they are tested instead. */
export const testedElsewhere: Readonly<Record<string, string>> = {};

/** Which sources have no test beside them, given all paths of the clone. */
export function untested(paths: readonly string[]): string[] {
  const all = new Set(paths);
  const c = paths.filter((path) => /^ffi\/(src|sim)\/.*(?<!_test)\.c$/.test(path));
  const ts = paths.filter((path) =>
    /^src\/.*(?<!_test|_testing|\.gen)\.ts$/.test(path) && !/\/(main|mod|types)\.ts$/.test(path)
  );
  return [...c, ...ts].filter((path) => {
    const beside = path.replace(/\.(c|ts)$/, "_test.$1");
    const elsewhere = testedElsewhere[path];
    return !all.has(beside) && (elsewhere === undefined || !all.has(elsewhere));
  });
}

/** The functions that a public header declares. */
export function declaredSymbols(header: string): string[] {
  const text = stripComments(header);
  return [...text.matchAll(/^LS_API [^;(]*?\b(\w+)\(/gm)].map(([, name]) => name ?? "").sort();
}
