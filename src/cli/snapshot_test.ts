import assert from "node:assert/strict";
import type { EndpointStatistics, FlowStatistics, LinkStatistics } from "../engine/mod.ts";
import { layout } from "../engine/statistics.gen.ts";
import { type EndpointSnapshot, type Snapshot, snapshotLine, verdict } from "./snapshot.ts";

/** A record of zeros with some values. */
function block<T>(scope: "endpoint" | "link" | "flow", values: Partial<T>): T {
  const zeros = Object.fromEntries(layout[scope].map(({ name }) => [name, 0]));
  return { ...zeros, ...values } as T;
}

function endpoint(
  uri: string,
  statistics: Partial<EndpointStatistics>,
  ...links: Partial<LinkStatistics>[]
): EndpointSnapshot {
  return {
    uri,
    statistics: block("endpoint", statistics),
    links: links.map((link) => block<LinkStatistics>("link", link)),
  };
}

function snapshot(
  seconds: number,
  input: EndpointSnapshot,
  ...outputs: EndpointSnapshot[]
): Snapshot {
  return {
    flow: block<FlowStatistics>("flow", { state: 1, running_ns: seconds * 1e9 }),
    input,
    outputs,
  };
}

Deno.test("a line shows rates since the one before", () => {
  const before = snapshot(10, endpoint("udp", { bytes: 1e6 }), endpoint("udp", { bytes: 1e6 }));
  const now = snapshot(12, endpoint("udp", { bytes: 3e6 }), endpoint("udp", { bytes: 2e6 }));
  assert.equal(snapshotLine(now, before), "0:00:12, in 8.00 Mbps, out 4.00 Mbps");
  assert.equal(snapshotLine(now), "0:00:12, in 2.00 Mbps, out 1.33 Mbps");
  assert.equal(snapshotLine(snapshot(0, endpoint("", {}))), "0:00:00, in 0 bps");
});

Deno.test("a line shows the links, each side in its own words", () => {
  const receiving = endpoint("srt", {}, {
    state: 2,
    rtt_ns: 40_200_000,
    packets_receive_lost: 1200,
    packets_recovered: 1199,
    packets_receive_dropped: 1,
  });
  const sending = endpoint(
    "srt",
    {},
    { state: 2, rtt_ns: 1e6, packets_send_lost: 7, packets_retransmitted: 8 },
    { state: 1, rtt_ns: 2e6 },
  );
  assert.equal(
    snapshotLine(snapshot(1, receiving, endpoint("udp", {}))),
    "0:00:01, in 0 bps, out 0 bps, connected, rtt 40.2 ms, lost 1 200, recovered 1 199, skipped 1",
  );
  assert.equal(
    snapshotLine(snapshot(1, endpoint("udp", {}), sending)),
    "0:00:01, in 0 bps, out 0 bps, 1 of 2 connected, rtt 2.00 ms, reported lost 7, resent 8, " +
      "given up 0",
  );
});

Deno.test("a line shows what should not be, and what the check says", () => {
  const input = endpoint("udp", { dropped_kernel: 3 });
  const check = endpoint("check:", {
    check_ts_packets: 999,
    check_ts_lost: 1,
    check_latency_p50_ns: 141e6,
    check_jitter_ns: 90e3,
  });
  assert.equal(
    snapshotLine(snapshot(1, input, check)),
    "0:00:01, in 0 bps, out 0 bps, input: 3 dropped by the kernel, checked 999 TS packets, " +
      "lost 1 (0.100 %), wrong 0, latency 141 ms, jitter 90.0 µs",
  );
});

Deno.test("verdicts", () => {
  const fine = endpoint("udp", {});
  const seen = { check_ts_packets: 5 };
  const cases: [Snapshot, string[]][] = [
    [snapshot(1, fine, fine), []],
    [snapshot(1, fine, endpoint("check:", seen)), []],
    [snapshot(1, fine, endpoint("check:", {})), [
      "check: saw no measuring payload; the source adds it with loop and marker=yes",
    ]],
    [
      snapshot(1, fine, endpoint("check:", { ...seen, check_ts_lost: 2, check_ts_wrong: 1 })),
      ["check: 2 TS packets lost, 1 stretches wrong"],
    ],
    [snapshot(1, endpoint("srt://:1", {}, { connections: 0 }), fine), [
      "srt://:1 never connected",
    ]],
    [snapshot(1, endpoint("srt://:1", {}, { connections: 2, state: 3 }), fine), []],
    [snapshot(1, endpoint("udp", { errors: 4 }), fine), []],
    [snapshot(1, fine, endpoint("udp://a:1", { errors: 4, packets: 5 })), []],
    [snapshot(1, fine, endpoint("udp://a:1", { errors: 5, packets: 5 })), [
      "udp://a:1: the system refused to send anything",
    ]],
    [snapshot(1, fine, endpoint("file:a", { errors: 1 })), [
      "file:a could not be read or written to its end",
    ]],
    [snapshot(1, endpoint("-?pace=asap", { errors: 1 }), fine), [
      "-?pace=asap could not be read or written to its end",
    ]],
  ];
  for (const [last, faults] of cases) assert.deepEqual(verdict(last, false), faults);
  const broken = snapshot(1, endpoint("srt://:1", {}, { connections: 1, state: 3 }), fine);
  assert.deepEqual(verdict(broken, true), ["srt://:1 lost its connection"]);
  const closed = snapshot(1, endpoint("srt://:1", {}, { connections: 1, state: 4 }), fine);
  assert.deepEqual(verdict(closed, true), []);
});
