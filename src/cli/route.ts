/**
 * `lockstep route`: one input to one or more outputs.
 *
 * @module
 */

import { getLogger } from "@std/log";
import {
  ConfigError,
  type Direction,
  type Endpoint,
  parseInteger,
  parseShare,
  parseUri,
  type ResolvedEndpoint,
  resolveEndpoint,
  within,
} from "../config/mod.ts";
import { Engine } from "../engine/mod.ts";
import { accept, buildFlow } from "./flow_builder.ts";
import { openStreams, type Streams } from "./output.ts";
import { Reporter, type RouteSettings } from "./report.ts";
import { FlowSession, waitForEnd } from "./session.ts";
import { type Stopping, withSignals } from "./signals.ts";
import { takeSnapshot } from "./snapshot.ts";
import { readLimit, readPeriod } from "./times.ts";
import type { ExitCode, Invocation, Verb } from "./verb.ts";

const log = getLogger("route");

/** How often the line of progress changes. */
const progressMs = 1000;

/** The verb. */
export const route: Verb = {
  name: "route",
  summary: "carry a stream from one input to one or more outputs",
  usage: "IN OUT…",
  positionals: [2, 17],
  about: [
    "Takes the stream IN and sends it to each OUT until it is stopped by Ctrl-C or its input " +
    "ends. What is buffered then is still delivered; after 10 seconds, or a second Ctrl-C, the " +
    "rest is given up.",
    "IN and OUT are udp://, srt:// or file:// URIs, paths, or - for standard input and output; " +
    "OUT may be check: to verify the measuring payload. Keys behind ? are those of " +
    "srt-live-transmit, srt-xtransmit and ffmpeg; docs/reference/uris.md lists them. What was " +
    "guessed from a URI is printed.",
  ],
  options: [
    {
      name: "stats-every",
      value: "1s",
      help: "print statistics that often; with --json each second unless told otherwise",
    },
    { name: "json", help: "print events, statistics and a summary, one JSON object a line" },
    { name: "once", help: "end when the first connection ends, instead of waiting for another" },
    { name: "for", value: "60s", help: "stop after this time" },
    { name: "threads", value: "N", help: "reactor threads, 1 to 16; 1 unless told otherwise" },
    {
      name: "spin-budget",
      value: "10%",
      help: "share of one core that may be spent on exact departures; 0 unless told otherwise",
    },
    {
      name: "realtime-priority",
      value: "N",
      help: "SCHED_FIFO priority of the reactor threads, 1 to 99; needs the right to it",
    },
    { name: "quiet", short: "q", help: "no progress and no log but warnings" },
  ],
  examples: [
    {
      command: "lockstep route udp://:5004 'srt://host:5000?latency=200ms'",
      text: "send what arrives on UDP port 5004 by SRT",
    },
    {
      command: "lockstep route srt://:5000 udp://239.1.1.1:5004 archive.ts",
      text: "wait for a caller; play its stream out by multicast, and keep it",
    },
    {
      command: "lockstep route 'clip.ts?loop&rate=8Mbps' 'srt://host:5000?streamid=cam1'",
      text: "send a clip again and again, filled up to a constant 8 Mbps",
    },
  ],
  run,
};

interface Settings extends RouteSettings {
  readonly once: boolean;
  readonly forMs: number | undefined;
  readonly engineOptions: readonly (readonly [string, string])[];
}

async function run(invocation: Invocation): Promise<ExitCode> {
  const streams = openStreams(invocation.on("quiet") ? "WARN" : "INFO");
  const settings = await readSettings(invocation);
  const showProgress = streams.console.terminal && !settings.json && !invocation.on("quiet");
  return await withSignals((stopping) => runRoute(settings, streams, showProgress, stopping));
}

async function readSettings(invocation: Invocation): Promise<Settings> {
  const [first = "", ...rest] = invocation.positional;
  const json = invocation.on("json");
  const everyMs = invocation.read("stats-every", json ? 1000 : undefined, readPeriod);
  const threads = invocation.read("threads", 1, (text) => parseInteger(text, 1, 16));
  const spin = invocation.read("spin-budget", undefined, (text) => 100 * parseShare(text));
  const priority = invocation.read(
    "realtime-priority",
    undefined,
    (text) => parseInteger(text, 1, 99),
  );
  const forMs = invocation.read("for", undefined, readLimit);
  const outputs = rest.map((text, at) =>
    readEndpoint(text, "output", rest.length === 1 ? "output" : `output ${at + 1}`)
  );
  const input = paceFile(readEndpoint(first, "input", "input"), outputs);
  if (outputs.filter((output) => output.standardStream).length > 1) {
    throw new ConfigError("standard output can be only one of the outputs");
  }
  if (json && outputs.some((output) => output.standardStream)) {
    throw new ConfigError("--json and the output - both need standard output; write to a file");
  }
  const resolved: ResolvedEndpoint[] = [];
  for (const endpoint of [input, ...outputs]) resolved.push(await announce(endpoint));
  const [resolvedInput, ...resolvedOutputs] = resolved;
  if (resolvedInput === undefined) throw new ConfigError("an input is missing");
  return {
    input: resolvedInput,
    outputs: resolvedOutputs,
    json,
    once: invocation.on("once"),
    forMs,
    everyMs,
    threads,
    engineOptions: [
      ...spin === undefined ? [] : [["spin_budget_percent", Math.round(spin).toString()] as const],
      ...priority === undefined ? [] : [["realtime_priority", priority.toString()] as const],
    ],
  };
}

function readEndpoint(text: string, direction: Direction, label: string): Endpoint {
  return within(label, () => parseUri(text, direction));
}

/** Names are looked up, and what was guessed is said. */
async function announce(endpoint: Endpoint): Promise<ResolvedEndpoint> {
  const resolved = await resolveEndpoint(endpoint);
  for (const note of resolved.notes) log.info(`${endpoint.direction} ${endpoint.uri}: ${note}`);
  return resolved;
}

/** A transport stream from a file to a network goes by its own clock, unless told otherwise. */
export function paceFile(input: Endpoint, outputs: readonly Endpoint[]): Endpoint {
  const live = outputs.some(({ kind }) => kind === "udp" || kind === "srt");
  const unpaced = input.kind === "file" && !input.standardStream &&
    !input.options.some(({ name }) => name === "pace");
  if (!live || !unpaced) return input;
  const path = input.options.find(({ name }) => name === "path")?.value;
  if (typeof path !== "string" || !/\.(ts|m2t|mpegts|tsp)$/i.test(path)) {
    const note = "goes out as fast as it can be read; pace=rate&rate=8Mbps would hold it back";
    return { ...input, notes: [...input.notes, note] };
  }
  return within("input", () => {
    const paced = parseUri(`${input.uri}${input.uri.includes("?") ? "&" : "?"}pace=pcr`, "input");
    const note = "pace=pcr, because it is a transport stream; pace=asap sends as fast as it can";
    return { ...paced, notes: [...input.notes, note] };
  });
}

async function runRoute(
  settings: Settings,
  streams: Streams,
  showProgress: boolean,
  stopping: Stopping,
): Promise<ExitCode> {
  const engine = Engine.open(settings.threads);
  const reporter = new Reporter(settings, streams, showProgress);
  await using session = new FlowSession(engine, (event) => reporter.event(event));
  for (const [name, value] of settings.engineOptions) {
    const flag = `--${name.replace("_percent", "").replaceAll("_", "-")}`;
    accept(flag, () => engine.option(name, value));
  }
  const built = buildFlow(engine, settings.input, settings.outputs, [
    { name: "stop_with_link", value: settings.once.toString() },
  ]);
  reporter.start(built);
  built.flow.start();
  const stop = AbortSignal.any([stopping.stop, streams.out.gone]);
  const end = await waitForEnd(session, built.flow, {
    stopping: { stop, force: stopping.force },
    forMs: settings.forMs,
    everyMs: settings.everyMs ?? (showProgress ? progressMs : undefined),
    tick: () => reporter.tick(takeSnapshot(built)),
  });
  return reporter.end(end, takeSnapshot(built));
}
