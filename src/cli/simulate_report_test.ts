import assert from "node:assert/strict";
import { readScenario } from "../config/scenario.ts";
import type { LinkStatistics, SimulationStatistics } from "../engine/mod.ts";
import {
  faultOf,
  hasClosedForm,
  progressLine,
  type ReportContext,
  reportJson,
  reportTable,
} from "./simulate_report.ts";
import type { Run } from "./simulation_run.ts";

const statistics: SimulationStatistics = {
  virtual_ns: 3_600_140_000_000,
  sent: 1_000_000,
  refused: 0,
  delivered: 999_900,
  lost: 100,
  expected_loss: 0.0002,
  latency_first_ns: 140_009_000,
  latency_min_ns: 140_004_000,
  latency_max_ns: 141_053_000,
  latency_off_p50_ns: 2_620,
  latency_off_p99_ns: 81_900,
  violated: 0,
};
const link = {
  packets_receive_lost: 10_000,
  packets_retransmitted: 10_100,
  drift_ppb: -100_000,
} as Partial<LinkStatistics> as LinkStatistics;
const run: Run = {
  end: "ended",
  violation: undefined,
  statistics,
  links: [{ name: "A", sender: link, receiver: link }],
};
const context: ReportContext = {
  scenario: readScenario("links: [{ delay: 20ms, loss: 1% }]"),
  seed: 5,
  repeat: "lockstep simulate x.yaml --seed 5",
  wallSeconds: 10.94,
  cpuSeconds: 5.21,
};

Deno.test("the closed form is shown where it holds", () => {
  const holds: [string, boolean][] = [
    ["{ delay: 20ms, jitter: 1ms, loss: 1%, burst: 1, rate: 0, reorder: 0%, duplicate: 1% }", true],
    ["{ loss: 1% }, { loss: 1% }", false],
    ["{ burst: 2 }", false],
    ["{ backward: { burst: 2 } }", false],
    ["{ outage: { every: 2s, for: 1s } }", false],
    ["{ reorder: 1% }", false],
    ["{ forward: { rate: 1Mbps } }", false],
  ];
  for (const [links, expected] of holds) {
    assert.equal(hasClosedForm(readScenario(`links: [${links}]`)), expected, links);
  }
});

Deno.test("the table", () => {
  assert.deepEqual(reportTable(run, context), [
    "  virtual time          1:00:00 (1.000 h)",
    "  sent                  1 000 000 packets",
    "  refused               0 (the sender's buffer was full)",
    "  delivered             999 900",
    "  lost to the viewer    100 (0.0100 %; 0.0200 % in closed form)",
    "  latency, first        140.009 ms",
    "  latency, least        140.004 ms",
    "  latency, most         141.053 ms",
    "  off the first, p50    2.62 µs",
    "  off the first, p99    81.9 µs",
    "  link A: lost          10 000 on the link",
    "  link A: sent again    10 100",
    "  link A: drift         -100 000 ppb",
    "  took                  10.9 s, 5.2 s of CPU",
    "  seed                  5",
  ]);
  const nothing = { ...run, statistics: { ...statistics, delivered: 0 } };
  const lines = reportTable(nothing, context).filter((line) => line.includes("not measured"));
  assert.equal(lines.length, 5);
});

Deno.test("the JSON", () => {
  const { links, ...rest } = JSON.parse(reportJson(run, context));
  assert.deepEqual(rest, {
    ok: true,
    end: "ended",
    violation: null,
    repeat: "lockstep simulate x.yaml --seed 5",
    seed: 5,
    virtualSeconds: 3600.14,
    wallSeconds: 10.94,
    cpuSeconds: 5.21,
    sent: 1_000_000,
    refused: 0,
    delivered: 999_900,
    lost: 100,
    lossShare: 0.0001,
    expectedLossShare: 0.0002,
    latencyFirstMs: 140.009,
    latencyMinMs: 140.004,
    latencyMaxMs: 141.053,
    latencyOffP50Ms: 0.00262,
    latencyOffP99Ms: 0.0819,
  });
  assert.deepEqual(links, [{ name: "A", sender: link, receiver: link }]);
  const nothing = { ...run, statistics: { ...statistics, sent: 0, delivered: 0 } };
  const parsed = JSON.parse(reportJson(nothing, context));
  assert.deepEqual([parsed.ok, parsed.lossShare, parsed.latencyMinMs], [false, null, null]);
});

Deno.test("faults", () => {
  assert.equal(faultOf(run), undefined);
  assert.equal(faultOf({ ...run, end: "stopped" }), undefined);
  assert.match(faultOf({ ...run, end: "stuck" }) ?? "", /did not end/);
  assert.equal(faultOf({ ...run, statistics: { ...statistics, sent: 0 } }), "nothing was sent");
  assert.equal(
    faultOf({ ...run, end: "broken", violation: "a packet was lost, at 5 s" }),
    "a rule was broken: a packet was lost, at 5 s",
  );
});

Deno.test("progress", () => {
  assert.equal(
    progressLine(statistics, 7200e9, 3.6),
    "1:00:00 of 2:00:00, 1 000 × real time, sent 1 000 000, lost 100",
  );
  assert.match(progressLine(statistics, 7200e9, 0), / 0 × real time/);
});
