/**
 * `lockstep impair`: a UDP relay that loses, delays and repeats packets on purpose.
 *
 * @module
 */

import { getLogger } from "@std/log";
import {
  formatAddress,
  impairmentFlags,
  type NumericOption,
  readImpairments,
  readRelayAddress,
  resolveAddress,
  within,
} from "../config/mod.ts";
import { Engine, type EngineEvent, type RelayStatistics } from "../engine/mod.ts";
import { accept } from "./flow_builder.ts";
import { showCount, showDuration, showShare, showTime } from "./format.ts";
import { openStreams, type Streams } from "./output.ts";
import { describeEvent } from "./report.ts";
import { readSeed } from "./seed.ts";
import { FlowSession, waitForEnd } from "./session.ts";
import { type Stopping, withSignals } from "./signals.ts";
import { readLimit, readPeriod } from "./times.ts";
import {
  type ExitCode,
  exitCodes,
  type Invocation,
  type OptionDescription,
  type Verb,
} from "./verb.ts";

const log = getLogger("impair");

const modelOptions: readonly OptionDescription[] = impairmentFlags().map((
  { flag, direction, of },
) => ({ name: flag, value: of.value, help: of.help, hidden: direction !== "both" }));

/** The verb. */
export const impair: Verb = {
  name: "impair",
  summary: "relay UDP with delay, jitter, loss, outages, reordering and a rate limit",
  usage: "LISTEN TARGET",
  positionals: [2, 2],
  about: [
    "Takes UDP datagrams at LISTEN, such as :4200 or 127.0.0.1:4200, sends them on to TARGET, and " +
    "sends the answers back to where they came from: put it between two peers to see what a bad " +
    "path does to them.",
    "It prints its settings with the seed: the same seed does the same again to the same packets.",
  ],
  options: [
    ...modelOptions,
    { name: "seed", value: "N", help: "whole number; a random one unless given" },
    { name: "stats-every", value: "1s", help: "print statistics that often" },
    { name: "json", help: "print settings, statistics and a summary, one JSON object a line" },
    { name: "for", value: "60s", help: "stop after this time" },
    { name: "quiet", short: "q", help: "no log but warnings" },
  ],
  notes: [
    "Each of --delay to --queue holds for both directions, with chances of their own. For one " +
    "direction write --forward-loss 1% (towards TARGET) or --backward-loss 0% (back), and so on; " +
    "that wins over the setting for both.",
  ],
  examples: [
    {
      command: "lockstep impair :4200 127.0.0.1:5000 --delay 20ms --jitter 2ms --loss 1%",
      text: "a path with a round trip of 40 ms that loses one packet in a hundred each way",
    },
    {
      command: "lockstep impair :4200 host:5000 --outage every=30s,for=5s --backward-loss 0%",
      text: "five seconds of silence in every thirty",
    },
  ],
  run,
};

interface Settings {
  /** As they were typed. */
  readonly listen: string;
  readonly target: string;
  readonly shown: string;
  readonly seed: number;
  readonly options: readonly NumericOption[];
  readonly json: boolean;
  readonly everyMs: number | undefined;
  readonly forMs: number | undefined;
}

async function run(invocation: Invocation): Promise<ExitCode> {
  const streams = openStreams(invocation.on("quiet") ? "WARN" : "INFO");
  const settings = await readSettings(invocation);
  return await withSignals((stopping) => runImpair(settings, streams, stopping));
}

async function readSettings(invocation: Invocation): Promise<Settings> {
  const [listenText = "", targetText = ""] = invocation.positional;
  const listen = within("LISTEN", () => readRelayAddress(listenText, false));
  const target = within("TARGET", () => readRelayAddress(targetText, true));
  const given = modelOptions.flatMap(({ name }): [string, string][] => {
    const text = invocation.text(name);
    return text === undefined ? [] : [[name, text]];
  });
  const model = readImpairments(Object.fromEntries(given));
  const seed = readSeed(invocation);
  const notes: string[] = [];
  const local = await resolveAddress(listen, "local", notes);
  const remote = await resolveAddress(target, "remote", notes);
  for (const note of notes) log.info(note);
  return {
    listen: formatAddress(listen),
    target: formatAddress(target),
    shown: model.shown,
    seed,
    options: [
      { name: "local", value: local },
      { name: "target", value: remote },
      { name: "seed", value: seed.toString() },
      ...model.options,
    ],
    json: invocation.on("json"),
    everyMs: invocation.read("stats-every", undefined, readPeriod),
    forMs: invocation.read("for", undefined, readLimit),
  };
}

async function runImpair(
  settings: Settings,
  streams: Streams,
  stopping: Stopping,
): Promise<ExitCode> {
  const { listen, target, shown, seed, json } = settings;
  const engine = Engine.open();
  await using session = new FlowSession(engine, logEvent);
  const relay = engine.openRelay();
  for (const { name, value } of settings.options) accept("relay", () => relay.option(name, value));
  const print = (type: string, fields: Readonly<Record<string, unknown>>, text: string): void => {
    const at = new Date().toISOString();
    streams.out.line(json ? JSON.stringify({ type, at, ...fields }) : text);
  };
  const startMs = performance.now();
  const report = (type: "statistics" | "summary", statistics: RelayStatistics): void => {
    const ns = 1e6 * (performance.now() - startMs);
    print(type, { running_ns: Math.round(ns), statistics }, relayLine(statistics, ns));
  };
  const stop = AbortSignal.any([stopping.stop, streams.out.gone]);
  relay.start();
  print(
    "start",
    { listen, target, seed, settings: shown },
    `impair ${listen} to ${target}: ${shown === "" ? "no impairment" : shown} seed=${seed}`,
  );
  const end = await waitForEnd(session, relay, {
    stopping: { stop, force: stopping.force },
    forMs: settings.forMs,
    everyMs: settings.everyMs,
    tick: () => report("statistics", relay.statistics()),
  });
  report("summary", relay.statistics());
  if (end.kind === "stopped") return exitCodes.ok;
  log.error(end.kind === "cut" ? "the relay was cut short" : `the relay ended: ${end.reason}`);
  return exitCodes.failed;
}

/** The relay's own states are not worth a line; what goes wrong is. */
function logEvent(event: EngineEvent): void {
  if (event.kind === "warning" || event.kind === "lost") log.warn(describeEvent(event, "relay"));
}

/** One line for both directions. */
export function relayLine(statistics: RelayStatistics, runningNs: number): string {
  const way = (
    name: string,
    packets: number,
    lost: number,
    outage: number,
    overflow: number,
    duplicated: number,
  ): string =>
    `${name} ${showCount(packets)} packets: lost ${showCount(lost)} (${
      showShare(lost, packets)
    }), outage ${showCount(outage)}, overflow ${showCount(overflow)}, twice ${
      showCount(duplicated)
    }`;
  return [
    showTime(runningNs),
    way(
      "forward",
      statistics.forward_packets,
      statistics.forward_lost,
      statistics.forward_outage,
      statistics.forward_overflow,
      statistics.forward_duplicated,
    ),
    way(
      "backward",
      statistics.backward_packets,
      statistics.backward_lost,
      statistics.backward_outage,
      statistics.backward_overflow,
      statistics.backward_duplicated,
    ),
    `late p99 ${showDuration(statistics.lateness_p99_ns)}`,
  ].join("; ");
}
