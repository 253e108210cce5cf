import assert from "node:assert/strict";
import { type Statistic, statistics } from "../ffi/statistics.ts";
import {
  faults,
  firstDifference,
  layoutHash,
  renderC,
  renderMarkdown,
  renderTypeScript,
} from "./gen.ts";

const rtt: Statistic = {
  name: "rtt_ns",
  type: "i64",
  unit: "ns",
  kind: "gauge",
  aggregate: "max",
  libsrt: "msRTT",
  libsrtPer: 1_000_000,
  meaning: "smoothed round-trip time",
  healthy: "below a quarter of the latency",
  action: "raise the latency",
};

Deno.test("the hash is FNV-1a of scope, name and type", () => {
  // The published test vector of "foobar" (FNV reference, 32 bit), reached through our line form.
  const byHand = (text: string): number => {
    let hash = 0x811c9dc5n;
    for (const byte of new TextEncoder().encode(text)) {
      hash = ((hash ^ BigInt(byte)) * 0x01000193n) & 0xffffffffn;
    }
    return Number(hash);
  };
  assert.equal(byHand("foobar"), 0xbf9cf968);
  assert.equal(layoutHash({ link: [rtt] }), byHand("link/rtt_ns/i64\n"));
});

Deno.test("the hash changes with what changes the layout, and with nothing else", () => {
  const other = { ...rtt, name: "x" };
  const before = layoutHash({ link: [rtt, other] });
  assert.notEqual(layoutHash({ link: [other, rtt] }), before);
  assert.notEqual(layoutHash({ link: [{ ...rtt, type: "u64" }, other] }), before);
  assert.notEqual(layoutHash({ flow: [rtt, other] }), before);
  assert.equal(layoutHash({ link: [{ ...rtt, meaning: "reworded" }, other] }), before);
});

Deno.test.each([
  ["Rtt", { name: "Rtt" }, "link/Rtt: not snake_case"],
  ["empty text", { healthy: "" }, "link/rtt_ns: a text is empty, or would end a comment or a line"],
  [
    "comment end",
    { meaning: "a */ b" },
    "link/rtt_ns: a text is empty, or would end a comment or a line",
  ],
] as [string, Partial<Statistic>, string][])("a table has faults: %s", (_name, change, fault) => {
  assert.deepEqual(faults({ link: [{ ...rtt, ...change }] }), [fault]);
});

Deno.test("a name may be there once, a scope may not be empty", () => {
  assert.deepEqual(faults({ link: [rtt, rtt], flow: [] }), [
    "link/rtt_ns: twice",
    "flow: no statistics",
  ]);
  assert.deepEqual(faults({ unheard: [rtt] }), ["unheard: the page has no text about it"]);
  assert.deepEqual(faults(statistics), []);
});

Deno.test("each statistic is in each of the three files, in order", () => {
  const [c, ts, md] = [
    renderC(statistics),
    renderTypeScript(statistics),
    renderMarkdown(statistics),
  ];
  for (const fields of Object.values(statistics)) {
    let at = { c: 0, ts: 0, md: 0 };
    for (const { name } of fields) {
      const next = {
        c: c.indexOf(` ${name};`, at.c),
        ts: ts.indexOf(`name: "${name}"`, at.ts),
        md: md.indexOf(`| \`${name}\` |`, at.md),
      };
      assert.ok(next.c > 0 && next.ts > 0 && next.md > 0, `${name} is missing or out of order`);
      at = next;
    }
  }
});

Deno.test("the C header names types, count and hash", () => {
  const text = renderC({ engine: [rtt] });
  assert.match(
    text,
    /struct ls__stats_engine \{\n.*smoothed round-trip time \[ns\] \*\/\n {2}int64_t rtt_ns;/,
  );
  assert.match(text, /#define LS__STATS_ENGINE_COUNT 1\n/);
  const hash = layoutHash({ engine: [rtt] }).toString(16).toUpperCase().padStart(8, "0");
  assert.ok(text.includes(`#define LS__STATS_LAYOUT_HASH 0x${hash}u\n`));
});

Deno.test("no line of a generated source is longer than 100, but for a text that is a line", () => {
  for (const text of [renderC(statistics), renderTypeScript(statistics)]) {
    const lines = text.split("\n").filter((line) => !/^ +"[^"]*",$/.test(line));
    for (const line of lines) assert.ok([...line].length <= 100, line);
  }
});

Deno.test.each([
  ["a\nb\n", "a\nb\n", undefined],
  ["a\nb\n", "a\nc\n", "@@ line 2 @@\n- b\n+ c"],
  ["a", "a\nb", "@@ line 2 @@\n- (no such line)\n+ b"],
  ["a\nb", "a", "@@ line 2 @@\n- b\n+ (no such line)"],
] as [string, string, string | undefined][])(
  "the difference of %j and %j",
  (have, want, expected) => {
    assert.equal(firstDifference(have, want), expected);
  },
);
