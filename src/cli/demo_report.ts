/**
 * What the demonstration has found: figures, a table while it runs, a verdict at the end.
 *
 * @module
 */

import type { ChainStatistics } from "./demo_chain.ts";
import { showCount, showDuration, showRate, showShare, showTime } from "./format.ts";

/** An SRT packet of the demonstration carries so many transport-stream packets of 188 bytes. */
const tsPerPacket = 7;
const tsBytes = 188;

/** Times in ms; undefined where the viewer has got nothing to measure. */
interface Latency {
  readonly minMs: number;
  readonly medianMs: number;
  readonly maxMs: number;
  readonly jitterMs: number;
}

/** The figures. Packets are SRT data packets, each counted once. */
export interface Figures {
  readonly sent: number;
  /** Missing at the receiver when the packet behind them came. */
  readonly lostOnLink: number;
  /** Of these, those that came in time after all. */
  readonly recovered: number;
  readonly retransmitted: number;
  /** What the viewer never got, in packets begun and in TS packets. */
  readonly lostToViewer: number;
  readonly lostToViewerTs: number;
  /** Stretches of the stream that the viewer got altered, twice or out of order. */
  readonly wrong: number;
  readonly latency: Latency | undefined;
}

const ms = (ns: number): number => ns / 1e6;

/** The figures in the counters of a chain. */
export function figuresOf(
  { source, sending, receiving, check }: ChainStatistics,
): Figures {
  // The check counts between the first and the last marker; the bytes count it all.
  const missing = Math.ceil((source.bytes - check.bytes) / tsBytes);
  const lostToViewerTs = Math.max(check.check_ts_lost, missing, 0);
  return {
    sent: sending.packets_sent_unique,
    lostOnLink: receiving.packets_receive_lost,
    recovered: receiving.packets_recovered,
    retransmitted: sending.packets_retransmitted,
    lostToViewer: Math.ceil(lostToViewerTs / tsPerPacket),
    lostToViewerTs,
    wrong: check.check_ts_wrong,
    latency: check.check_ts_packets === 0 ? undefined : {
      minMs: ms(check.check_latency_min_ns),
      medianMs: ms(check.check_latency_p50_ns),
      maxMs: ms(check.check_latency_max_ns),
      jitterMs: ms(check.check_jitter_ns),
    },
  };
}

/** What went wrong, one sentence each; empty when everything arrived as it was sent. */
export function faultsOf(figures: Figures, last: ChainStatistics, latency: string): string[] {
  const { sent, lostToViewer, lostToViewerTs, wrong } = figures;
  const faults: string[] = [];
  if (sent === 0) faults.push("nothing was sent");
  if (lostToViewer > 0) {
    faults.push(
      `${showCount(lostToViewer)} packets (${showCount(lostToViewerTs)} TS packets) did not ` +
        `reach the viewer within ${latency}: raise --latency, or lower --loss or --delay`,
    );
  }
  if (last.sender.dropped_kernel > 0) {
    faults.push(
      `${showCount(last.sender.dropped_kernel)} of them were dropped by this machine's kernel ` +
        "before the sender: it is too busy, or net.core.rmem_max is too low",
    );
  }
  if (last.sender.dropped_full + last.sending.packets_send_dropped > 0) {
    faults.push(
      `${showCount(last.sender.dropped_full + last.sending.packets_send_dropped)} of them were ` +
        "given up by the sender",
    );
  }
  if (wrong > 0) {
    faults.push(
      `${showCount(wrong)} stretches reached the viewer altered, twice or out of order: this is ` +
        "a defect",
    );
  }
  if (sent > 0 && figures.latency === undefined) faults.push("the viewer got nothing");
  return faults;
}

/** The JSON object that the demonstration prints. */
export function jsonOf(figures: Figures, faults: readonly string[], seconds: number): string {
  const { latency, ...counts } = figures;
  return JSON.stringify({
    ok: faults.length === 0,
    ...counts,
    latencyMs: latency?.medianMs ?? null,
    latencyMinMs: latency?.minMs ?? null,
    latencyMaxMs: latency?.maxMs ?? null,
    jitterMs: latency?.jitterMs ?? null,
    seconds,
    faults,
  });
}

function showLatency(latency: Latency | undefined): string {
  return latency === undefined ? "not measured" : showDuration(1e6 * latency.medianMs);
}

/** One line for the state now. */
export function progressLine(now: ChainStatistics, runningNs: number): string {
  const { sent, lostOnLink, recovered, lostToViewer, latency } = figuresInFlight(now);
  return [
    showTime(runningNs),
    `sent ${showCount(sent)}`,
    `lost on the link ${showCount(lostOnLink)}`,
    `recovered ${showCount(recovered)}`,
    `lost to the viewer ${showCount(lostToViewer)}`,
    `latency ${showLatency(latency)}`,
  ].join(", ");
}

/** While it runs, what is on its way is not lost: only the check tells. */
function figuresInFlight(now: ChainStatistics): Figures {
  return figuresOf({ ...now, source: { ...now.source, bytes: 0 } });
}

/** The table for the state now: one row for each stage. */
export function progressTable(
  now: ChainStatistics,
  before: ChainStatistics | undefined,
  runningNs: number,
  intervalNs: number,
): string[] {
  const { source, sender, sending, path, receiving, viewer } = now;
  const { lostToViewer, wrong, latency } = figuresInFlight(now);
  const rate = (bytes: number, earlier: number | undefined): string =>
    intervalNs > 0 ? showRate(8e9 * (bytes - (earlier ?? 0)) / intervalNs) : "";
  const rows: [stage: string, packets: string, rate: string, text: string][] = [
    [showTime(runningNs), "packets", "rate", ""],
    [
      "source",
      showCount(source.packets),
      rate(source.bytes, before?.source.bytes),
      "the clip in a loop, filled up to a steady rate",
    ],
    [
      "sender",
      showCount(sending.packets_sent_unique),
      rate(sender.bytes, before?.sender.bytes),
      `SRT caller: ${showCount(sending.packets_retransmitted)} sent again`,
    ],
    [
      "path",
      showCount(path.forward_packets),
      "",
      `lost ${showCount(path.forward_lost)} there, ${showCount(path.backward_lost)} of ` +
      `${showCount(path.backward_packets)} back`,
    ],
    [
      "receiver",
      showCount(receiving.packets_received_unique),
      rate(receiving.bytes_received_unique, before?.receiving.bytes_received_unique),
      `SRT listener: lost ${showCount(receiving.packets_receive_lost)}, recovered ` +
      showCount(receiving.packets_recovered),
    ],
    [
      "viewer",
      showCount(viewer.packets),
      rate(viewer.bytes, before?.viewer.bytes),
      `lost ${showCount(lostToViewer)}, wrong ${showCount(wrong)}, latency ${showLatency(latency)}`,
    ],
  ];
  return rows.map(([stage, packets, speed, text]) =>
    `${stage.padEnd(9)} ${packets.padStart(9)} ${speed.padStart(10)}  ${text}`.trimEnd()
  );
}

/** The verdict in words. */
export function verdictLines(
  figures: Figures,
  faults: readonly string[],
  seconds: number,
): string[] {
  const { sent, lostOnLink, recovered, lostToViewer, latency } = figures;
  const rows = [
    ["sent", `${showCount(sent)} SRT packets in ${seconds} s`],
    ["lost on the link", `${showCount(lostOnLink)} (${showShare(lostOnLink, sent)})`],
    ["recovered", showCount(recovered)],
    ["lost to the viewer", showCount(lostToViewer)],
    [
      "latency",
      latency === undefined
        ? "not measured"
        : [latency.minMs, latency.medianMs, latency.maxMs].map((value) => value.toFixed(2))
          .join(" / ") + " ms (least, median, most)",
    ],
    ["jitter", latency === undefined ? "not measured" : showDuration(1e6 * latency.jitterMs)],
  ] as const;
  return [
    faults.length === 0
      ? "Everything that was sent reached the viewer, in order, unaltered and in time."
      : "Not everything that was sent reached the viewer as it should:",
    ...faults.map((fault) => `- ${fault}`),
    ...rows.map(([name, value]) => `  ${name.padEnd(20)}${value}`),
  ];
}
