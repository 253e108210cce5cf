/**
 * Makes the C structs, the TypeScript layout and the reference page from the one table of
 * statistics (`ffi/statistics.ts`). `--check` writes nothing and fails when a file is stale.
 *
 * @module
 */

import { type Statistic, statistics } from "../ffi/statistics.ts";
import { ifThere, root } from "./files.ts";

/** The table as it is passed to the renderers. */
export type Table = Readonly<Record<string, readonly Statistic[]>>;

const source = "ffi/statistics.ts";
const command = "deno task gen";
const cTypes = { u64: "uint64_t", i64: "int64_t", f64: "double" } as const;

/**
 * 32-bit FNV-1a (Fowler, Noll, Vo) over "scope/name/type" lines: two builds with the same hash
 * agree on the place and the type of every field.
 *
 * @example
 * ```ts
 * import { layoutHash } from "./gen.ts";
 * import assert from "node:assert/strict";
 *
 * // Of nothing, it is the offset basis.
 * assert.equal(layoutHash({}), 0x811c9dc5);
 * ```
 */
export function layoutHash(table: Table): number {
  const lines = Object.entries(table).flatMap(([scope, fields]) =>
    fields.map((field) => `${scope}/${field.name}/${field.type}\n`)
  );
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(lines.join(""))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

/** What is wrong with a table, one sentence each; nothing is rendered from a table with faults. */
export function faults(table: Table): string[] {
  return Object.entries(table).flatMap(([scope, fields]) => {
    const seen = new Set<string>();
    const found = fields.length === 0 ? [`${scope}: no statistics`] : [];
    if (scopeTexts[scope] === undefined) found.push(`${scope}: the page has no text about it`);
    for (const field of fields) {
      const at = `${scope}/${field.name}`;
      if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(field.name)) found.push(`${at}: not snake_case`);
      if (seen.has(field.name)) found.push(`${at}: twice`);
      seen.add(field.name);
      if (field.libsrtPer !== undefined && field.libsrt === undefined) {
        found.push(`${at}: libsrtPer without libsrt`);
      }
      const texts = [field.unit, field.meaning, field.healthy, field.action];
      if (texts.some((text) => text === "" || text.includes("*/") || text.includes("\n"))) {
        found.push(`${at}: a text is empty, or would end a comment or a line`);
      }
    }
    return found;
  });
}

/** Breaks a text at blanks so that no line is longer than `width`. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

/** The C header, as clang-format leaves it. */
export function renderC(table: Table): string {
  const hash = layoutHash(table).toString(16).toUpperCase().padStart(8, "0");
  const out = [
    `/* Generated from ${source} by \`${command}\`; do not edit. */`,
    "#ifndef LS__BASE_STATISTICS_GEN_H",
    "#define LS__BASE_STATISTICS_GEN_H",
    "",
    '#include "lockstep.h"',
    "",
    "#include <stdint.h>",
    "",
    "/* FNV-1a over scope, name and type of every field: ls_layout_hash(). */",
    `#define LS__STATS_LAYOUT_HASH 0x${hash}u`,
  ];
  Object.entries(table).forEach(([scope, fields], index) => {
    const count = `LS__STATS_${scope.toUpperCase()}_COUNT`;
    out.push("", `#define ${count} ${fields.length}`, "", `struct ls__stats_${scope} {`);
    for (const field of fields) {
      const text = wrap(`${field.meaning} [${field.unit}]`, 100 - "   * ".length - " */".length);
      out.push(`  /* ${text.join("\n   * ")} */`, `  ${cTypes[field.type]} ${field.name};`);
    }
    out.push(
      "};",
      "",
      `_Static_assert(sizeof(struct ls__stats_${scope}) == 8 * ${count},`,
      `               "every statistic takes eight bytes");`,
      `_Static_assert(LS_SCOPE_${scope.toUpperCase()} == ${index + 1}, "not in enum order");`,
    );
  });
  out.push("", "#endif", "");
  return out.join("\n");
}

/** The TypeScript layout, as `deno fmt` leaves it. */
export function renderTypeScript(table: Table): string {
  const hash = layoutHash(table).toString(16).padStart(8, "0");
  const out = [
    "/**",
    ` * Generated from ${source} by \`${command}\`; do not edit.`,
    " *",
    " * @module",
    " */",
    "",
    `import type { Scope, Statistic } from "../../${source}";`,
    "",
    "/** What `ls_layout_hash()` must return. */",
    `export const layoutHash = 0x${hash};`,
    "",
    "/** The scopes' numbers in `enum ls_scope`. */",
    "export const scopeNumber = {",
    ...Object.keys(table).map((scope, index) => `  ${scope}: ${index + 1},`),
    "} as const satisfies Record<Scope, number>;",
    "",
    "/** Every field of every scope, in the order of the C struct; each takes eight bytes. */",
    "export const layout = {",
  ];
  for (const [scope, fields] of Object.entries(table)) {
    out.push(`  ${scope}: [`);
    for (const field of fields) {
      out.push("    {");
      for (const key of keys) {
        const value = field[key];
        if (value === undefined) continue;
        const text = typeof value === "number" ? grouped(value) : JSON.stringify(value);
        const line = `      ${key}: ${text},`;
        out.push(...line.length <= 100 ? [line] : [`      ${key}:`, `        ${text},`]);
      }
      out.push("    },");
    }
    out.push("  ],");
  }
  out.push("} as const satisfies Record<Scope, readonly Statistic[]>;");
  for (const [scope, fields] of Object.entries(table)) {
    out.push("", `/** One block of the scope "${scope}", read at one moment. */`);
    out.push(`export interface ${typeName(scope)} {`);
    for (const field of fields) {
      const text = wrap(`${field.meaning} [${field.unit}]`, 100 - "  /** ".length - " */".length);
      const one = text.length === 1;
      out.push(one ? `  /** ${text[0]} */` : `  /**\n   * ${text.join("\n   * ")}\n   */`);
      out.push(`  readonly ${field.name}: number;`);
    }
    out.push("}");
  }
  out.push("", "/** The record of each scope. */", "export interface StatisticsOf {");
  for (const scope of Object.keys(table)) out.push(`  readonly ${scope}: ${typeName(scope)};`);
  out.push("}", "");
  return out.join("\n");
}

const keys = [
  "name",
  "type",
  "unit",
  "kind",
  "aggregate",
  "libsrt",
  "libsrtPer",
  "meaning",
  "healthy",
  "action",
] as const satisfies readonly (keyof Statistic)[];

function typeName(scope: string): string {
  return `${scope.charAt(0).toUpperCase()}${scope.slice(1)}Statistics`;
}

function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 20 }).replaceAll(",", "_");
}

const scopeTexts: Readonly<Record<string, string>> = {
  engine: "The process that carries all flows.",
  flow: "One flow: one input and its outputs.",
  endpoint: "One input or output of a flow, by its number.",
  link: "One SRT connection on one path, by its number in the flow.",
  relay: "One impairment relay.",
  simulation: "One run of the simulator.",
};

/** The reference page, in Markdown. */
export function renderMarkdown(table: Table): string {
  const out = [
    `<!-- Generated from ${source} by \`${command}\`; do not edit. -->`,
    "",
    "# Statistics",
    "",
    "Values are in the unit given, since the owner's start: a counter only grows, a gauge is the",
    'value now. "Combined" says how several blocks become one. "libsrt" names the counter of libsrt',
    "with the same meaning, and how many of our units make one of its.",
  ];
  for (const [scope, fields] of Object.entries(table)) {
    out.push("", `## ${scope}`, "", scopeTexts[scope] ?? "", "");
    out.push("| name | unit | kind | combined | meaning | healthy | what to do | libsrt |");
    out.push("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const field of fields) {
      const libsrt = field.libsrt === undefined
        ? ""
        : field.libsrtPer === undefined
        ? `\`${field.libsrt}\``
        : `\`${field.libsrt}\` (${grouped(field.libsrtPer).replaceAll("_", " ")} ${field.unit})`;
      const cells = [
        `\`${field.name}\``,
        field.unit,
        field.kind,
        field.aggregate,
        field.meaning,
        field.healthy,
        field.action,
        libsrt,
      ];
      out.push(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
    }
  }
  out.push("");
  return out.join("\n");
}

/** The first line in which two texts differ, as a person compares them; undefined if they agree. */
export function firstDifference(have: string, want: string): string | undefined {
  if (have === want) return undefined;
  const [old, fresh] = [have.split("\n"), want.split("\n")];
  const at = fresh.findIndex((line, index) => line !== old[index]);
  const index = at < 0 ? fresh.length : at;
  return `@@ line ${index + 1} @@\n- ${old[index] ?? "(no such line)"}\n+ ${
    fresh[index] ?? "(no such line)"
  }`;
}

async function main(args: readonly string[]): Promise<number> {
  const check = args.includes("--check");
  const unknown = args.find((argument) => argument !== "--check");
  if (unknown !== undefined) {
    console.error(`gen: unknown argument "${unknown}"; the only one is --check`);
    return 2;
  }
  const wrong = faults(statistics);
  if (wrong.length > 0) {
    console.error(`gen: ${source} has faults:\n  ${wrong.join("\n  ")}`);
    return 1;
  }
  const files: readonly [string, string][] = [
    ["ffi/src/base/statistics.gen.h", renderC(statistics)],
    ["src/engine/statistics.gen.ts", renderTypeScript(statistics)],
    ["docs/reference/statistics.gen.md", renderMarkdown(statistics)],
  ];
  let stale = 0;
  for (const [path, want] of files) {
    const have = await ifThere(Deno.readTextFile(`${root}${path}`)) ?? "";
    const difference = firstDifference(have, want);
    if (difference === undefined) continue;
    if (check) {
      stale++;
      console.error(`gen: ${path} is stale; run \`${command}\`\n${difference}`);
    } else {
      await Deno.writeTextFile(`${root}${path}`, want);
      console.error(`gen: wrote ${path}`);
    }
  }
  return stale > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
