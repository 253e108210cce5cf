/**
 * What `simulate` tells: a line while it runs, a table or JSON at the end.
 *
 * @module
 */

import type { Scenario } from "../config/mod.ts";
import type { SimulationStatistics } from "../engine/mod.ts";
import { showCount, showDuration, showShare, showTime } from "./format.ts";
import type { Run } from "./simulation_run.ts";

/** What the report needs to know beside the run. */
export interface ReportContext {
  readonly scenario: Scenario;
  readonly seed: number;
  /** The command that repeats it. */
  readonly repeat: string;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/**
 * What makes losses depend on each other, or come from something else than chance. The closed form
 * holds for one link that loses each packet by itself.
 */
const beyondClosedForm = /^((forward|backward)_)?(burst_packets|outage_for_ns|reorder|rate_bps)$/;

/** Whether the closed form of the loss to the viewer holds for a scenario. */
export function hasClosedForm({ links }: Scenario): boolean {
  const [link, ...more] = links;
  if (link === undefined || more.length > 0) return false;
  return link.options.every(({ name, value }) =>
    !beyondClosedForm.test(name) || (/burst_packets$/.test(name) ? value === "1" : value === "0")
  );
}

/** One line for the state now. */
export function progressLine(
  now: SimulationStatistics,
  durationNs: number,
  wallSeconds: number,
): string {
  const speed = wallSeconds > 0 ? now.virtual_ns / 1e9 / wallSeconds : 0;
  return [
    `${showTime(now.virtual_ns)} of ${showTime(durationNs)}`,
    `${showCount(Math.round(speed))} × real time`,
    `sent ${showCount(now.sent)}`,
    `lost ${showCount(now.lost)}`,
  ].join(", ");
}

/** What went wrong, in one sentence; undefined when nothing did. */
export function faultOf({ end, violation, statistics }: Run): string | undefined {
  if (violation !== undefined) return `a rule was broken: ${violation}`;
  if (end === "stuck") return "the stream did not end in time after its source had ended";
  return end === "ended" && statistics.sent === 0 ? "nothing was sent" : undefined;
}

/** The JSON object of a run. */
export function reportJson(run: Run, context: ReportContext): string {
  const { statistics: all, links } = run;
  const measured = all.delivered > 0;
  const ms = (ns: number): number | null => measured ? ns / 1e6 : null;
  return JSON.stringify({
    ok: faultOf(run) === undefined,
    end: run.end,
    violation: run.violation ?? null,
    repeat: context.repeat,
    seed: context.seed,
    virtualSeconds: all.virtual_ns / 1e9,
    wallSeconds: context.wallSeconds,
    cpuSeconds: context.cpuSeconds,
    sent: all.sent,
    refused: all.refused,
    delivered: all.delivered,
    lost: all.lost,
    lossShare: all.sent === 0 ? null : all.lost / all.sent,
    expectedLossShare: hasClosedForm(context.scenario) ? all.expected_loss : null,
    latencyFirstMs: ms(all.latency_first_ns),
    latencyMinMs: ms(all.latency_min_ns),
    latencyMaxMs: ms(all.latency_max_ns),
    latencyOffP50Ms: ms(all.latency_off_p50_ns),
    latencyOffP99Ms: ms(all.latency_off_p99_ns),
    links: links.map(({ name, sender, receiver }) => ({ name, sender, receiver })),
  });
}

/** The table of a run. */
export function reportTable(run: Run, context: ReportContext): string[] {
  const { statistics: all } = run;
  const { scenario, cpuSeconds, wallSeconds } = context;
  const measured = (show: (ns: number) => string) => (ns: number): string =>
    all.delivered > 0 ? show(ns) : "not measured";
  // Three digits, as elsewhere, would not show whether it is constant.
  const latency = measured((ns) => `${(ns / 1e6).toFixed(3)} ms`);
  const off = measured(showDuration);
  const expected = hasClosedForm(scenario)
    ? `${showShare(all.expected_loss, 1)} in closed form`
    : "no closed form for these links";
  const rows: [string, string][] = [
    ["virtual time", `${showDuration(all.virtual_ns)} (${(all.virtual_ns / 3.6e12).toFixed(3)} h)`],
    ["sent", `${showCount(all.sent)} packets`],
    ["refused", `${showCount(all.refused)} (the sender's buffer was full)`],
    ["delivered", showCount(all.delivered)],
    [
      "lost to the viewer",
      `${showCount(all.lost)} (${showShare(all.lost, all.sent)}; ${expected})`,
    ],
    ["latency, first", latency(all.latency_first_ns)],
    ["latency, least", latency(all.latency_min_ns)],
    ["latency, most", latency(all.latency_max_ns)],
    ["off the first, p50", off(all.latency_off_p50_ns)],
    ["off the first, p99", off(all.latency_off_p99_ns)],
    ...run.links.flatMap(({ name, sender, receiver }): [string, string][] => [
      [`link ${name}: lost`, `${showCount(receiver.packets_receive_lost)} on the link`],
      [`link ${name}: sent again`, showCount(sender.packets_retransmitted)],
      [`link ${name}: drift`, `${showCount(receiver.drift_ppb)} ppb`],
    ]),
    ["took", `${wallSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU`],
    ["seed", context.seed.toString()],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(22)}${value}`);
}
