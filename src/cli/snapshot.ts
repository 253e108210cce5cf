/**
 * All statistics of a flow at one moment, and what they say in a line.
 *
 * @module
 */

import {
  type EndpointStatistics,
  type FlowStatistics,
  linkStates,
  type LinkStatistics,
} from "../engine/mod.ts";
import type { BuiltEndpoint, BuiltFlow } from "./flow_builder.ts";
import { showCount, showDuration, showRate, showShare, showTime } from "./format.ts";

/** An endpoint and its statistics. */
export interface EndpointSnapshot {
  readonly uri: string;
  readonly statistics: EndpointStatistics;
  readonly links: readonly LinkStatistics[];
}

/** A flow and the statistics of all its parts. */
export interface Snapshot {
  readonly flow: FlowStatistics;
  readonly input: EndpointSnapshot;
  readonly outputs: readonly EndpointSnapshot[];
}

/** Reads everything. */
export function takeSnapshot({ flow, input, outputs }: BuiltFlow): Snapshot {
  const read = ({ uri, index, links }: BuiltEndpoint): EndpointSnapshot => ({
    uri,
    statistics: flow.statisticsOf("endpoint", index),
    links: links.map((link) => flow.statisticsOf("link", link)),
  });
  return { flow: flow.statistics(), input: read(input), outputs: outputs.map(read) };
}

/** The links of one side, in words: what was lost on the way, and what became of it. */
function linkParts(links: readonly LinkStatistics[], sending: boolean): string[] {
  if (links.length === 0) return [];
  const sum = (name: keyof LinkStatistics): string =>
    showCount(links.reduce((total, link) => total + link[name], 0));
  const connected = links.filter((link) => link.state === linkStates.connected).length;
  const rttNs = Math.max(...links.map((link) => link.rtt_ns));
  return [
    connected === links.length ? "connected" : `${connected} of ${links.length} connected`,
    `rtt ${showDuration(rttNs)}`,
    ...sending
      ? [
        `reported lost ${sum("packets_send_lost")}`,
        `resent ${sum("packets_retransmitted")}`,
        `given up ${sum("packets_send_dropped")}`,
      ]
      : [
        `lost ${sum("packets_receive_lost")}`,
        `recovered ${sum("packets_recovered")}`,
        `skipped ${sum("packets_receive_dropped")}`,
      ],
  ];
}

function rateOf(now: EndpointSnapshot, before: EndpointSnapshot | undefined, ns: number): string {
  const bytes = now.statistics.bytes - (before?.statistics.bytes ?? 0);
  return showRate(ns > 0 ? 8e9 * bytes / ns : 0);
}

/** One line: time, rates since `before`, and what the links and the check say. */
export function snapshotLine(now: Snapshot, before?: Snapshot): string {
  const ns = now.flow.running_ns - (before?.flow.running_ns ?? 0);
  const parts = [
    showTime(now.flow.running_ns),
    `in ${rateOf(now.input, before?.input, ns)}`,
    ...now.outputs.map((output, at) => `out ${rateOf(output, before?.outputs[at], ns)}`),
  ];
  parts.push(...linkParts(now.input.links, false));
  parts.push(...linkParts(now.outputs.flatMap(({ links }) => links), true));
  return [...parts, ...troubles(now), ...now.outputs.flatMap(checkPart)].join(", ");
}

/** Counters that should stand at 0, where they do not. */
function troubles(now: Snapshot): string[] {
  return [now.input, ...now.outputs].flatMap(({ statistics }, at) => {
    const place = at === 0 ? "input" : "output";
    const found: [number, string][] = [
      [statistics.dropped_kernel, "dropped by the kernel"],
      [statistics.dropped_size, "too large"],
      [statistics.dropped_full, "dropped at a full buffer"],
      [statistics.dropped_unconnected, "dropped unconnected"],
      [statistics.errors, "errors"],
    ];
    return found.flatMap(([count, words]) =>
      count > 0 ? [`${place}: ${showCount(count)} ${words}`] : []
    );
  });
}

function checkPart({ uri, statistics }: EndpointSnapshot): string[] {
  if (uri !== "check:") return [];
  const { check_ts_packets, check_ts_lost, check_ts_wrong } = statistics;
  return [
    `checked ${showCount(check_ts_packets)} TS packets`,
    `lost ${showCount(check_ts_lost)} (${
      showShare(check_ts_lost, check_ts_packets + check_ts_lost)
    })`,
    `wrong ${showCount(check_ts_wrong)}`,
    `latency ${showDuration(statistics.check_latency_p50_ns)}`,
    `jitter ${showDuration(statistics.check_jitter_ns)}`,
  ];
}

/**
 * What went wrong on the whole, one sentence each; empty when all is well. `byItself` says whether
 * the flow ended without being told to: a connection that broke then was its end.
 */
export function verdict(last: Snapshot, byItself: boolean): string[] {
  return [last.input, ...last.outputs].flatMap((endpoint) => [
    ...linkFaults(endpoint, byItself),
    ...fileFaults(endpoint),
    ...datagramFaults(endpoint),
    ...checkFaults(endpoint),
  ]);
}

function linkFaults({ uri, links }: EndpointSnapshot, byItself: boolean): string[] {
  return links.flatMap((link) => {
    if (link.connections === 0) return [`${uri} never connected`];
    return byItself && link.state === linkStates.broken ? [`${uri} lost its connection`] : [];
  });
}

/** A file that cannot be read or written ends the flow; a datagram that is refused does not. */
function fileFaults({ uri, statistics }: EndpointSnapshot): string[] {
  const file = uri.startsWith("file:") || /^-(\?|$)/.test(uri);
  return file && statistics.errors > 0 ? [`${uri} could not be read or written to its end`] : [];
}

/** Refused datagrams pass over; an output that never sent one did not do what it was asked to. */
function datagramFaults({ uri, statistics: { errors, packets } }: EndpointSnapshot): string[] {
  return uri.startsWith("udp:") && packets > 0 && errors >= packets
    ? [`${uri}: the system refused to send anything`]
    : [];
}

function checkFaults({ uri, statistics }: EndpointSnapshot): string[] {
  if (uri !== "check:") return [];
  const { check_ts_packets, check_ts_lost, check_ts_wrong } = statistics;
  if (check_ts_packets === 0) {
    return ["check: saw no measuring payload; the source adds it with loop and marker=yes"];
  }
  if (check_ts_lost === 0 && check_ts_wrong === 0) return [];
  return [`check: ${check_ts_lost} TS packets lost, ${check_ts_wrong} stretches wrong`];
}
