import assert from "node:assert/strict";
import type { EndpointStatistics, LinkStatistics, RelayStatistics } from "../engine/mod.ts";
import { layout } from "../engine/statistics.gen.ts";
import type { ChainStatistics } from "./demo_chain.ts";
import {
  faultsOf,
  figuresOf,
  jsonOf,
  progressLine,
  progressTable,
  verdictLines,
} from "./demo_report.ts";

/** A record of zeros with some values. */
function block<T>(scope: "endpoint" | "link" | "relay", values: Partial<T>): T {
  const zeros = Object.fromEntries(layout[scope].map(({ name }) => [name, 0]));
  return { ...zeros, ...values } as T;
}

/** Ten seconds over a path that lost 80 of 8000 packets; everything was repaired. */
function chain(changes: {
  source?: Partial<EndpointStatistics>;
  sender?: Partial<EndpointStatistics>;
  sending?: Partial<LinkStatistics>;
  receiving?: Partial<LinkStatistics>;
  check?: Partial<EndpointStatistics>;
} = {}): ChainStatistics {
  const carried = { packets: 8000, bytes: 8000 * 1316 };
  return {
    source: block("endpoint", { ...carried, ...changes.source }),
    sender: block("endpoint", { ...carried, ...changes.sender }),
    sending: block("link", {
      packets_sent_unique: 8000,
      packets_retransmitted: 85,
      ...changes.sending,
    }),
    path: block<RelayStatistics>("relay", {
      forward_packets: 8200,
      forward_lost: 82,
      backward_packets: 1200,
      backward_lost: 11,
    }),
    receiving: block("link", {
      packets_received_unique: 8000,
      packets_receive_lost: 80,
      packets_recovered: 80,
      ...changes.receiving,
    }),
    viewer: block<EndpointStatistics>("endpoint", carried),
    check: block("endpoint", {
      ...carried,
      check_ts_packets: 56_000,
      check_latency_min_ns: 320_100_000,
      check_latency_p50_ns: 320_250_000,
      check_latency_max_ns: 322_000_000,
      check_jitter_ns: 90_000,
      ...changes.check,
    }),
  };
}

Deno.test("figures of a good run, and its JSON with the promised keys", () => {
  const last = chain();
  const figures = figuresOf(last);
  const faults = faultsOf(figures, last, "300ms");
  assert.deepEqual(faults, []);
  assert.deepEqual(JSON.parse(jsonOf(figures, faults, 10)), {
    ok: true,
    sent: 8000,
    lostOnLink: 80,
    recovered: 80,
    retransmitted: 85,
    lostToViewer: 0,
    lostToViewerTs: 0,
    wrong: 0,
    latencyMs: 320.25,
    latencyMinMs: 320.1,
    latencyMaxMs: 322,
    jitterMs: 0.09,
    seconds: 10,
    faults: [],
  });
  assert.deepEqual(verdictLines(figures, faults, 10), [
    "Everything that was sent reached the viewer, in order, unaltered and in time.",
    "  sent                8 000 SRT packets in 10 s",
    "  lost on the link    80 (1.00 %)",
    "  recovered           80",
    "  lost to the viewer  0",
    "  latency             320.10 / 320.25 / 322.00 ms (least, median, most)",
    "  jitter              90.0 µs",
  ]);
});

Deno.test("packets that the viewer lacks are counted by the check or by their bytes", () => {
  // Between two markers, eight TS packets: two SRT packets are concerned.
  const between = figuresOf(chain({ check: { check_ts_lost: 8 } }));
  assert.deepEqual([between.lostToViewerTs, between.lostToViewer], [8, 2]);
  // Behind the last marker the check cannot tell, but the bytes can.
  const behind = figuresOf(chain({ check: { bytes: 7999 * 1316 } }));
  assert.deepEqual([behind.lostToViewerTs, behind.lostToViewer], [7, 1]);
  // The same packets are not counted twice.
  const both = figuresOf(chain({ check: { check_ts_lost: 7, bytes: 7999 * 1316 } }));
  assert.deepEqual([both.lostToViewerTs, both.lostToViewer], [7, 1]);
  // Twice as many is not less than none.
  assert.equal(figuresOf(chain({ check: { bytes: 9000 * 1316 } })).lostToViewerTs, 0);
});

Deno.test("each thing that can go wrong is a fault of its own, and says what to do", () => {
  const cases: [Parameters<typeof chain>[0], RegExp[]][] = [
    [
      { check: { check_ts_lost: 15 } },
      [/^3 packets \(15 TS packets\) did not reach the viewer within 300ms: raise --latency/],
    ],
    [{ check: { check_ts_wrong: 2 } }, [/^2 stretches reached the viewer altered/]],
    [
      { sender: { dropped_kernel: 2 }, check: { bytes: 7998 * 1316 } },
      [/^2 packets \(14 TS/, /^2 of them were dropped by this machine's kernel/],
    ],
    [
      { sender: { dropped_full: 1 }, sending: { packets_send_dropped: 4 } },
      [/^5 of them were given up by the sender/],
    ],
    [
      { check: { check_ts_packets: 0, packets: 0, bytes: 0 } },
      [/^8 000 packets \(56 000 TS packets\)/, /^the viewer got nothing$/],
    ],
    [
      {
        source: { packets: 0, bytes: 0 },
        sending: { packets_sent_unique: 0 },
        check: { check_ts_packets: 0, packets: 0, bytes: 0 },
      },
      [/^nothing was sent$/],
    ],
  ];
  for (const [changes, expected] of cases) {
    const last = chain(changes);
    const figures = figuresOf(last);
    const faults = faultsOf(figures, last, "300ms");
    assert.equal(faults.length, expected.length, faults.join("; "));
    expected.forEach((pattern, index) => assert.match(faults[index] ?? "", pattern));
    assert.equal(JSON.parse(jsonOf(figures, faults, 10)).ok, false);
    const lines = verdictLines(figures, faults, 10);
    assert.match(lines[0] ?? "", /^Not everything/);
    assert.equal(lines[1], `- ${faults[0]}`);
  }
});

Deno.test("what was not measured is not a number", () => {
  const last = chain({ check: { check_ts_packets: 0 } });
  const { latencyMs, jitterMs } = JSON.parse(jsonOf(figuresOf(last), [], 1));
  assert.deepEqual([latencyMs, jitterMs], [null, null]);
  assert.ok(verdictLines(figuresOf(last), [], 1).includes("  latency             not measured"));
  assert.match(progressLine(last, 1e9), /latency not measured$/);
});

Deno.test("while it runs, what is still on its way is not lost", () => {
  const now = chain({ check: { bytes: 7000 * 1316, check_ts_lost: 3 } });
  assert.equal(
    progressLine(now, 83e9),
    "0:01:23, sent 8 000, lost on the link 80, recovered 80, lost to the viewer 1, latency 320 ms",
  );
});

Deno.test("the table has a row for each stage and fits a terminal", () => {
  const now = chain();
  const rows = progressTable(now, chain({ source: { bytes: 7000 * 1316 } }), 10e9, 1e9);
  assert.deepEqual(rows, [
    "0:00:10     packets       rate",
    "source        8 000  10.5 Mbps  the clip in a loop, filled up to a steady rate",
    "sender        8 000      0 bps  SRT caller: 85 sent again",
    "path          8 200             lost 82 there, 11 of 1 200 back",
    "receiver      8 000      0 bps  SRT listener: lost 80, recovered 80",
    "viewer        8 000      0 bps  lost 0, wrong 0, latency 320 ms",
  ]);
  for (const row of progressTable(now, undefined, 1e9, 1e9)) assert.ok(row.length < 80, row);
  assert.match(progressTable(now, undefined, 1e9, 1e9)[1] ?? "", /84\.2 Mbps/);
});
