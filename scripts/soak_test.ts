import assert from "node:assert/strict";
import type { Run } from "../src/cli/simulation_run.ts";
import { judgeDay, judgeLoss, line } from "./soak.ts";

const good: Run = {
  end: "ended",
  violation: undefined,
  links: [],
  statistics: {
    virtual_ns: 86_400_140_000_000,
    sent: 1_000_000,
    refused: 0,
    delivered: 999_800,
    lost: 200,
    expected_loss: 0.0002,
    latency_first_ns: 140_000_000,
    latency_min_ns: 140_000_000,
    latency_max_ns: 140_000_000,
    latency_off_p50_ns: 1000,
    latency_off_p99_ns: 7000,
    violated: 0,
  },
};
const small = { afterHour: 60 << 20, end: 61 << 20 };

function missed(run: Run, wallS = 200, rss = small): string[] {
  return judgeDay(run, wallS, rss).filter(({ ok }) => !ok).map(({ name }) => name);
}

function changed(statistics: Partial<Run["statistics"]>): Run {
  return { ...good, statistics: { ...good.statistics, ...statistics } };
}

Deno.test("a day is held against each thing that was asked for", () => {
  assert.deepEqual(missed(good), []);
  assert.deepEqual(missed({ ...good, end: "broken", violation: "a packet was lost" }), [
    "day: rules broken in 24 h",
  ]);
  assert.deepEqual(missed(changed({ virtual_ns: 86_399e9 })), ["day: rules broken in 24 h"]);
  assert.deepEqual(missed(changed({ latency_off_p99_ns: 1_000_001 })), [
    "day: latency off the first, p99",
  ]);
  assert.deepEqual(missed(changed({ lost: 241 })), ["day: lost to the viewer"]);
  assert.deepEqual(missed(good, 300), ["day: took"]);
  assert.deepEqual(missed(good, 200, { afterHour: 60 << 20, end: 77 << 20 }), [
    "day: memory after 1 h, at the end",
  ]);
});

Deno.test("losses count together, and every run has to end", () => {
  assert.equal(judgeLoss("5%", [changed({ lost: 300 }), changed({ lost: 180 })]).ok, true);
  const over = judgeLoss("5%", [changed({ lost: 300 }), changed({ lost: 181 })]);
  assert.equal(over.ok, false);
  assert.equal(over.found, "1.20 of the closed form (481; worst seed 1.50)");
  assert.match(
    line(over),
    /^MISSED {2}loss 5%: lost to the viewer, 2 seeds +1\.20 of .* 1\.2 at most$/,
  );
  assert.equal(judgeLoss("5%", [good, { ...good, end: "stopped" }]).ok, false);
  assert.equal(judgeLoss("5%", []).ok, false);
});
