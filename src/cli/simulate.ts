/**
 * `lockstep simulate`: what a stream makes of a path, on virtual clocks.
 *
 * @module
 */

import { getLogger } from "@std/log";
import process from "node:process";
import { ConfigError, parseDuration, quote, type Scenario, within } from "../config/mod.ts";
import { openStreams, type Streams } from "./output.ts";
import { readSeed } from "./seed.ts";
import { withSignals } from "./signals.ts";
import {
  faultOf,
  progressLine,
  type ReportContext,
  reportJson,
  reportTable,
} from "./simulate_report.ts";
import { runScenario } from "./simulation_run.ts";
import { type ExitCode, exitCodes, type Invocation, type Verb } from "./verb.ts";

const log = getLogger("simulate");

/** The verb. */
export const simulate: Verb = {
  name: "simulate",
  summary: "carry a stream over simulated links, hours in seconds",
  usage: "SCENARIO",
  positionals: [1, 1],
  about: [
    "Runs both ends of a stream on virtual clocks over the links that SCENARIO describes, a YAML " +
    "file or - for standard input, and tells what reaches the viewer and with which latency. " +
    "The core is the one that route uses; network, kernel and real time are left out.",
    "It checks as it goes: order and bytes, a constant latency, and that libsrt would object to " +
    "nothing. One seed makes one run, always the same; a rule that is broken is told with the " +
    "command that repeats it. Ctrl-C ends it early with the figures so far.",
  ],
  options: [
    { name: "seed", value: "N", help: "instead of the scenario's; random where there is none" },
    { name: "for", value: "10min", help: "virtual time, instead of the scenario's duration" },
    { name: "hours", value: "H", help: "the same in hours: --hours 24" },
    { name: "json", help: "print one JSON object at the end, and nothing else" },
  ],
  examples: [
    {
      command: "lockstep simulate scenarios/single_1pct.yaml",
      text: "an hour over a link that loses 1 %",
    },
    {
      command: "lockstep simulate scenarios/jitter.yaml --hours 24 --seed 7",
      text: "a day, with other chances",
    },
  ],
  run,
};

async function run(invocation: Invocation): Promise<ExitCode> {
  const json = invocation.on("json");
  const streams = openStreams(json ? "WARN" : "INFO");
  const [path = ""] = invocation.positional;
  // Not at the top: it loads packages that would make each start of every verb slower.
  const { maxDurationNs, maxScenarioBytes, readScenario } = await import("../config/scenario.ts");
  const given = readGivenDuration(invocation, maxDurationNs);
  const text = await readText(path, maxScenarioBytes);
  let scenario: Scenario;
  try {
    scenario = readScenario(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const line of error.message.split("\n")) log.error(`${path}: ${line}`);
    return exitCodes.usage;
  }
  const seed = invocation.text("seed") === undefined && scenario.seed !== undefined
    ? scenario.seed
    : readSeed(invocation);
  const span = given === undefined ? "" : ` --for ${given.text}`;
  const repeat = `lockstep simulate ${shellWord(path)} --seed ${seed}${span}`;
  const durationNs = given?.ns ?? scenario.durationNs;
  return await execute({ scenario, seed, repeat, durationNs, json }, streams);
}

interface Settings {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly repeat: string;
  readonly durationNs: number;
  readonly json: boolean;
}

async function execute(settings: Settings, streams: Streams): Promise<ExitCode> {
  const { scenario, seed, repeat, durationNs, json } = settings;
  const beganMs = performance.now();
  const began = process.cpuUsage();
  const wallSeconds = (): number => (performance.now() - beganMs) / 1000;
  const tick = json
    ? undefined
    : (now: Parameters<typeof progressLine>[0]): void =>
      streams.console.progress(progressLine(now, durationNs, wallSeconds()));
  const result = await withSignals(({ stop }) =>
    runScenario(scenario, {
      seed,
      durationNs,
      stop: AbortSignal.any([stop, streams.out.gone]),
      ...(tick === undefined ? {} : { tick }),
    })
  );
  streams.console.progress("");
  const { user, system } = process.cpuUsage(began);
  const context: ReportContext = {
    scenario,
    seed,
    repeat,
    wallSeconds: wallSeconds(),
    cpuSeconds: (user + system) / 1e6,
  };
  const fault = faultOf(result);
  if (json) streams.out.line(reportJson(result, context));
  else {
    streams.out.line(headlines[result.end]);
    for (const line of reportTable(result, context)) streams.out.line(line);
  }
  if (fault === undefined) return exitCodes.ok;
  log.error(`${fault}; repeat it with: ${repeat}`);
  return exitCodes.failed;
}

const headlines = {
  ended: "ended: no rule was broken",
  stopped: "stopped: no rule was broken so far",
  broken: "broken off: a rule was broken",
  stuck: "given up: the stream did not end",
} as const;

/** `--for` or `--hours`, and how to write it again. */
export function readGivenDuration(
  invocation: Invocation,
  maxNs: number,
): { ns: number; text: string } | undefined {
  const hours = invocation.text("hours");
  const given = invocation.text("for");
  if (hours !== undefined && given !== undefined) {
    throw new ConfigError("--for and --hours say the same; keep one");
  }
  const text = hours === undefined ? given : `${hours}h`;
  if (text === undefined) return undefined;
  return within(hours === undefined ? "--for" : "--hours", () => {
    const ns = parseDuration(text);
    if (ns < 1e6 || ns > maxNs) {
      throw new ConfigError(`${quote(text)} is not between 1ms and ${maxNs / 3600e9}h`);
    }
    return { ns, text: text.replaceAll(" ", "") };
  });
}

/** A word that a shell takes as it is. */
export function shellWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** A scenario's text; a file that is longer than any is not read to its end. */
async function readText(path: string, maxBytes: number): Promise<string> {
  try {
    using file = path === "-" ? undefined : await Deno.open(path);
    return await readStart(file?.readable ?? Deno.stdin.readable, maxBytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new ConfigError(
        `${quote(path)} does not exist; name a scenario, such as those in scenarios/`,
      );
    }
    if (error instanceof Deno.errors.NotCapable) {
      throw new ConfigError(`${quote(path)} may not be read: run with --allow-read=${path}`);
    }
    if (
      error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.IsADirectory
    ) {
      throw new ConfigError(`${quote(path)} cannot be read: ${error.message}`);
    }
    throw error;
  }
}

async function readStart(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part);
    length += part.length;
    if (length > maxBytes) {
      throw new ConfigError(
        `SCENARIO has more than ${maxBytes} bytes, which no scenario needs`,
      );
    }
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError("SCENARIO is not text in UTF-8");
  }
}
