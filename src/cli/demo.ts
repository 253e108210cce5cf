/**
 * `lockstep demo`: a stream over a bad path on this machine, and whether it arrived.
 *
 * @module
 */

import { getLogger } from "@std/log";
import {
  ConfigError,
  formatDuration,
  formatRate,
  parseDuration,
  parseInteger,
  parseRate,
  parseShare,
  quote,
  readImpairments,
} from "../config/mod.ts";
import { Engine, type EngineEvent } from "../engine/mod.ts";
import { type ChainSettings, type ChainStatistics, DemoChain, stageNames } from "./demo_chain.ts";
import {
  faultsOf,
  figuresOf,
  jsonOf,
  progressLine,
  progressTable,
  verdictLines,
} from "./demo_report.ts";
import { openStreams, type Streams } from "./output.ts";
import { describeEvent } from "./report.ts";
import { readSeed } from "./seed.ts";
import { FlowSession, Timer } from "./session.ts";
import { type Stopping, withSignals } from "./signals.ts";
import { type ExitCode, exitCodes, type Invocation, type Verb } from "./verb.ts";

const log = getLogger("demo");

const clip = new URL("../../demo/clip.m2t", import.meta.url).href;

/** How often the table is rewritten, and how often a line is printed instead. */
const tableMs = 500;
const lineMs = 1000;

/** The verb. */
export const demo: Verb = {
  name: "demo",
  summary: "carry a stream over a bad path on this machine, and judge it",
  usage: "[OPTIONS]",
  positionals: [0, 0],
  about: [
    "Plays a short clip for ever at a constant rate, sends it by SRT over a path that delays and " +
    "loses packets, receives it, and hands it to a viewer on this machine and to a check that " +
    "compares every packet with what was sent.",
    "At the end it says how much was sent, lost on the link, recovered, and lost to the viewer. " +
    "It succeeds only if the viewer got everything.",
    "To watch it, open udp://127.0.0.1:5004 in VLC, mpv or ffplay meanwhile.",
  ],
  options: [
    { name: "seconds", value: "N", help: "how long; 30 unless told otherwise" },
    { name: "rate", value: "8Mbps", help: "rate of the stream" },
    { name: "delay", value: "20ms", help: "delay of the path, each way" },
    { name: "loss", value: "1%", help: "share of packets that the path loses, each way" },
    { name: "latency", value: "300ms", help: "time in which a lost packet can be repaired" },
    { name: "seed", value: "N", help: "repeats the chances of a run; random unless given" },
    { name: "port", value: "5004", help: "the viewer's UDP port" },
    { name: "json", help: "print one JSON object at the end, and nothing else" },
  ],
  examples: [
    { command: "lockstep demo", text: "half a minute over a path that loses 1 %" },
    {
      command: "lockstep demo --seconds 10 --loss 5% --delay 50ms --latency 1s",
      text: "a longer and worse path needs more time for repairs",
    },
    {
      command: "lockstep demo --loss 30% --latency 60ms",
      text: "what it says when the time is too short",
    },
  ],
  run,
};

interface Settings extends ChainSettings {
  readonly seconds: number;
  readonly json: boolean;
  /** The path in words. */
  readonly shown: string;
}

async function run(invocation: Invocation): Promise<ExitCode> {
  const streams = openStreams(invocation.on("json") ? "WARN" : "INFO");
  const settings = readSettings(invocation);
  return await withSignals((stopping) => runDemo(settings, streams, stopping));
}

/**
 * Reads the command line.
 *
 * @throws {ConfigError} a value that is not accepted.
 */
export function readSettings(invocation: Invocation): Settings {
  const whole = (name: string, otherwise: number, least: number, most: number): number =>
    invocation.read(name, otherwise, (text) => parseInteger(text, least, most));
  const rateBps = invocation.read("rate", 8_000_000, readRate);
  const latencyNs = invocation.read("latency", 300_000_000, readLatency);
  const delay = invocation.text("delay") ?? "20ms";
  const loss = invocation.text("loss") ?? "1%";
  const path = readImpairments({ delay, loss });
  if (parseShare(loss) === 1) throw new ConfigError("--loss: over 100% nothing can be sent");
  const seed = readSeed(invocation);
  return {
    clip,
    rate: formatRate(rateBps),
    latency: formatDuration(latencyNs),
    buffer: packetsWithin(rateBps, latencyNs + 4 * parseDuration(delay, "ms")),
    viewerPort: whole("port", 5004, 1, 65_535),
    path: [{ name: "seed", value: seed.toString() }, ...path.options],
    shown: `${path.shown} seed=${seed}`,
    seconds: whole("seconds", 30, 1, 86_400),
    json: invocation.on("json"),
  };
}

/** All stages share one thread; beyond this, what is lost would be the machine's fault. */
const maxRateBps = 100_000_000;

function readRate(text: string): number {
  const bps = parseRate(text);
  if (bps < 10_000 || bps > maxRateBps) {
    throw new ConfigError(`${quote(text)} is not between 10kbps and ${formatRate(maxRateBps)}`);
  }
  return bps;
}

/** The handshake carries a latency in 16 bits of ms (draft-sharabayko-srt §3.2.1.1). */
function readLatency(text: string): number {
  const ns = parseDuration(text, "ms");
  if (ns > 65_535_000_000) throw new ConfigError(`${quote(text)} is longer than 65535ms`);
  return ns;
}

/**
 * How many packets of 1316 bytes fall into a time at a rate, half as many again for
 * retransmissions; within what a buffer can have.
 */
export function packetsWithin(bps: number, ns: number): number {
  const packets = Math.ceil(1.5 * bps / (8 * 1316) * ns / 1e9);
  return Math.min(Math.max(packets, 8192), 65_536);
}

async function runDemo(
  settings: Settings,
  streams: Streams,
  stopping: Stopping,
): Promise<ExitCode> {
  const engine = Engine.open();
  await using session = new FlowSession(engine, logEvent);
  const chain = await DemoChain.open(engine, settings);
  log.info(`${settings.rate} over a path with ${settings.shown}, latency ${settings.latency}`);
  log.info(`the viewer's address is udp://127.0.0.1:${settings.viewerPort}`);
  for (const route of chain.routes()) log.info(route);
  const stop = AbortSignal.any([stopping.stop, streams.out.gone]);
  if (!await chain.connected(stop)) {
    log.error("the caller did not reach the listener over this path");
    return exitCodes.failed;
  }
  chain.begin();
  const beganMs = performance.now();
  const early = await carry(chain, session, settings, streams, stop);
  const seconds = Math.round((performance.now() - beganMs) / 100) / 10;
  const whole = await chain.finish(session, stopping.force);
  streams.console.progress("");
  const last = chain.statistics();
  const figures = figuresOf(last);
  const faults = faultsOf(figures, last, settings.latency);
  if (early !== undefined) faults.push(early);
  if (!whole) faults.push("it did not end in time and was cut short");
  if (settings.json) streams.out.line(jsonOf(figures, faults, seconds));
  else for (const line of verdictLines(figures, faults, seconds)) streams.out.line(line);
  return faults.length === 0 ? exitCodes.ok : exitCodes.failed;
}

/**
 * Lets the stream run for its time, or until it is stopped. What went wrong, if a stage has ended by
 * itself.
 */
async function carry(
  chain: DemoChain,
  session: FlowSession,
  settings: Settings,
  streams: Streams,
  stop: AbortSignal,
): Promise<string | undefined> {
  const show = progressOf(chain, settings.json, streams);
  const ticking = setInterval(show.tick, show.everyMs);
  try {
    using limit = new Timer(1000 * settings.seconds, stop);
    return await Promise.race([
      limit.over.then(() => undefined),
      ...stageNames.map(async (stage) => {
        const reason = await session.ended(chain.owner(stage));
        return `the ${stage} ended by itself${reason === "" ? "" : `: ${reason}`}`;
      }),
    ]);
  } finally {
    clearInterval(ticking);
  }
}

/** A table on a terminal, lines elsewhere, nothing with --json. */
function progressOf(
  chain: DemoChain,
  json: boolean,
  streams: Streams,
): { readonly everyMs: number; readonly tick: () => void } {
  const beganMs = performance.now();
  const table = streams.console.terminal;
  let before: ChainStatistics | undefined;
  let beforeNs = 0;
  const tick = (): void => {
    if (json) return;
    const now = chain.statistics();
    const ns = 1e6 * (performance.now() - beganMs);
    if (table) {
      streams.console.progress(progressTable(now, before, ns, ns - beforeNs).join("\n"));
    } else streams.out.line(progressLine(now, ns));
    before = now;
    beforeNs = ns;
  };
  return { everyMs: table ? tableMs : lineMs, tick };
}

/** The stages come and go as they should; what goes wrong is worth a line. */
function logEvent(event: EngineEvent): void {
  const broken = event.kind === "link_state" && event.state === "broken";
  if (broken || event.kind === "warning" || event.kind === "lost") {
    log.warn(describeEvent(event, undefined));
  }
}
