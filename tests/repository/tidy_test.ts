import assert from "node:assert/strict";
import { filesBelow, root } from "../../scripts/files.ts";
import { functionsOf, includesOf } from "./c_source.ts";
import { declaredSymbols, type Rule, rules, untested } from "./rules.ts";

/** What is made by programs, or belongs to git. */
const notOurs = new Set([".git", ".deno", "build", "node_modules"]);
/** Media and fuzzing seeds: bytes, not text. */
const notText = /\.(m2t|ts\.bin|bin|pcap|png)$|^ffi\/fuzz\/corpus\//;

async function allPaths(): Promise<string[]> {
  const paths: string[] = [];
  for await (const entry of Deno.readDir(root)) {
    if (notOurs.has(entry.name)) continue;
    if (entry.isDirectory) paths.push(...await filesBelow(entry.name, /./));
    else paths.push(entry.name);
  }
  return paths.sort();
}

const paths = await allPaths();
const texts = await Promise.all(
  paths.filter((path) => !notText.test(path)).map(async (path) =>
    [path, await Deno.readTextFile(`${root}${path}`)] as const
  ),
);

for (const [name, rule] of Object.entries(rules)) {
  Deno.test(`every file obeys ${name}`, () => {
    const wrong = texts.flatMap(([path, text]) => rule(path, text).map((one) => `${path}: ${one}`));
    assert.deepEqual(wrong, []);
  });
}

Deno.test("every source has a test beside it", () => {
  assert.ok(paths.length > 50, "the clone was not read");
  assert.deepEqual(untested(paths), []);
});

Deno.test("the library exports what its header declares, and nothing else", async () => {
  const library = `${root}build/release/liblockstep.so`;
  const args = ["-D", "--defined-only", "--format=posix", library];
  const { code, stdout } = await new Deno.Command("nm", { args }).output();
  assert.equal(code, 0, "nm cannot read the library; deno task build makes it");
  const exported = new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => line.split(" ")[0] ?? "").filter((name) => !/^_(init|fini)$/.test(name)).sort();
  const header = await Deno.readTextFile(`${root}ffi/include/lockstep.h`);
  assert.deepEqual(exported, declaredSymbols(header));
});

// The rules can fail: each is shown what it forbids, and what it allows.
const all = "deno run -" + "A x.ts";
const main = "src/main.ts";
const task = (flags: string): string =>
  JSON.stringify({ tasks: { x: { command: `deno run ${flags} ${main}` } } });
const body = (lines: number): string => `int ls__f(void) {\n${"  g();\n".repeat(lines)}}\n`;

Deno.test.each([
  ["fileLength", "a.ts", "x\n".repeat(601), "x\n".repeat(600)],
  ["noMarkers", "a.c", "/* TO" + "DO: x */", "/* to do */"],
  ["noRegistries", "a.md", "see https://registry." + "example.com/x", "see https://example.com/x"],
  ["noRegistries", "a.ts", 'import "https://deno.' + 'land/x"', 'import "./x.ts"'],
  ["onePin", "README.md", "npx deno@" + "2.1.0", "npx deno"],
  ["onlyEngineOpens", "src/cli/a.ts", "Deno.dl" + "open(x)", "dl(x)"],
  ["noAllAccess", "deno.json", all, "deno run x.ts"],
  ["noAllAccess", "a.ts", '["run", "--allow-' + 'all"]', '["run", "--allow-read"]'],
  [
    "verbPermissions",
    "deno.json",
    task("--allow-ffi"),
    task("--allow-ffi=build/release/liblockstep.so"),
  ],
  [
    "verbPermissions",
    "deno.json",
    task("--allow-ffi=build/release/liblockstep.so --allow-run=ip"),
    task("--allow-ffi=build/release/liblockstep.so --allow-read=."),
  ],
  ["arrowsPointDown", "ffi/src/base/a.c", '#include "srt/link.h"\n', '#include "base/heap.h"\n'],
  ["arrowsPointDown", "ffi/src/srt/a.c", '#include "media/ts.h"\n', '#include "srt/link.h"\n'],
  ["arrowsPointDown", "ffi/src/srt/a.c", '#include "link.h"\n', '#include "lockstep.h"\n'],
  ["arrowsPointDown", "ffi/src/stream/a.c", '#include "io/udp.h"\n', '#include "pace/rate.h"\n'],
  ["arrowsPointDown", "ffi/src/new/a.c", '#include "base/a.h"\n', undefined],
  ["sansIoHeaders", "ffi/src/srt/a.h", "#include <sys/socket.h>\n", "#include <stdint.h>\n"],
  ["sansIoHeaders", "ffi/src/stream/a.c", "#include <arpa/inet.h>\n", "#include <string.h>\n"],
  ["sansIoCalls", "ffi/src/srt/a.c", "  fprintf(stderr, x);\n", "  snprintf(buf, len, x);\n"],
  [
    "allocateInInit",
    "ffi/src/srt/a.c",
    "void ls__a_feed(void) {\n  x = malloc(\n      3);\n}\n",
    undefined,
  ],
  [
    "allocateInInit",
    "ffi/src/srt/a.c",
    "void ls__f(void) {\n  x = calloc(1, 2);\n}\n",
    "int ls__a_init(void) {\n  x = calloc(1, 2);\n}\n",
  ],
  ["functionLength", "ffi/src/io/a.c", body(80), body(78)],
  ["symbolPrefix", "ffi/src/io/a.c", "int helper(int a) {\n}\n", "static int helper(int a) {\n}\n"],
  ["noDeadCode", "ffi/src/io/a.c", "  // send(x);\n", "  send(x); // once\n"],
  ["noPackedCasts", "ffi/src/srt/a.c", "x = *(uint32_t *)p;", "x = ls__get32(p);"],
] as [string, string, string, string | undefined][])(
  "%s finds what it is for: %s",
  (name, path, bad, good) => {
    const rule = rules[name] as Rule;
    assert.equal(rule(path, bad).length, 1);
    if (good !== undefined) assert.deepEqual(rule(path, good), []);
  },
);

Deno.test("a source without a test is found", () => {
  const clone = ["ffi/src/srt/a.c", "ffi/src/srt/b.c", "ffi/src/srt/b_test.c", "src/mod.ts"];
  assert.deepEqual(untested([...clone, "src/x/y.ts", "src/x/z.gen.ts", "src/x/mod.ts"]), [
    "ffi/src/srt/a.c",
    "src/x/y.ts",
  ]);
});

Deno.test("the reader of C sees functions, includes and declarations", () => {
  const source = `#include "base/a.h"
#include <stdint.h>
/* int commented(void) {
} */
static const struct x table[] = {
    {1, 2},
};

int ls__declared(int a,
                 int b);

__attribute__((format(printf, 1, 2))) static int helper(const char *text,
                  int b) {
  if (b) {
    return f(text, "} malloc(");
  }
  return 0;
}

struct point *ls__two(void) {
  return 0;
}
`;
  const found = functionsOf(source);
  assert.deepEqual(found.map(({ name, isStatic, from, to }) => [name, isStatic, from, to]), [
    ["helper", true, 12, 18],
    ["ls__two", false, 20, 22],
  ]);
  assert.doesNotMatch(found[0]?.body ?? "", /malloc/);
  assert.deepEqual(includesOf(source), ["base/a.h", "<stdint.h>"]);
  assert.deepEqual(
    declaredSymbols(
      "LS_API int64_t ls_b(int a,\n int b);\n/* LS_API int c(); */\nLS_API void ls_a(void);\n",
    ),
    ["ls_a", "ls_b"],
  );
});
