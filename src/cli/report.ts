/**
 * What `route` tells: in words or as JSON.
 *
 * @module
 */

import { getLogger } from "@std/log";
import type { ResolvedEndpoint } from "../config/mod.ts";
import type { EngineEvent } from "../engine/mod.ts";
import { type BuiltFlow, endpointOf } from "./flow_builder.ts";
import type { Streams } from "./output.ts";
import { type End, stopTimeoutMs } from "./session.ts";
import { type Snapshot, snapshotLine, verdict } from "./snapshot.ts";
import { type ExitCode, exitCodes } from "./verb.ts";

const log = getLogger("route");

/** What the report depends on. */
export interface RouteSettings {
  readonly input: ResolvedEndpoint;
  readonly outputs: readonly ResolvedEndpoint[];
  readonly threads: number;
  readonly json: boolean;
  /** How often statistics are printed; undefined: not at all. */
  readonly everyMs: number | undefined;
}

/** Says what happens, in words or as JSON. */
export class Reporter {
  readonly #settings: RouteSettings;
  readonly #streams: Streams;
  readonly #showProgress: boolean;
  readonly #print: (text: string) => void;
  #built: BuiltFlow | undefined;
  #before: Snapshot | undefined;

  constructor(settings: RouteSettings, streams: Streams, showProgress: boolean) {
    this.#settings = settings;
    this.#streams = streams;
    this.#showProgress = showProgress;
    // Standard output may be carrying the stream.
    const busy = settings.outputs.some(({ standardStream }) => standardStream);
    this.#print = busy ? (text) => streams.console.line(text) : (text) => streams.out.line(text);
  }

  #json(type: string, fields: Readonly<Record<string, unknown>>, atMs = Date.now()): void {
    this.#print(JSON.stringify({ type, at: new Date(atMs).toISOString(), ...fields }));
  }

  /** The flow is about to start. */
  start(built: BuiltFlow): void {
    this.#built = built;
    const { input, outputs, json, threads } = this.#settings;
    const uris = outputs.map(({ uri }) => uri);
    if (json) this.#json("start", { input: input.uri, outputs: uris, threads });
    else log.info(`route ${input.uri} to ${uris.join(", ")}`);
  }

  /** Something happened. */
  event(event: EngineEvent): void {
    const built = this.#built;
    const endpoint = built === undefined ? undefined : endpointOf(built, event.index);
    if (this.#settings.json) {
      const { kind, atMs, text } = event;
      const state = "state" in event ? { state: event.state } : {};
      const count = "count" in event ? { count: event.count } : {};
      const what = { event: kind, ...state, ...count, endpoint: endpoint?.label, text };
      this.#json("event", what, atMs);
      return;
    }
    const sentence = describeEvent(event, endpoint?.label);
    const grave = event.kind === "warning" || event.kind === "lost" ||
      (event.kind === "link_state" && event.state === "broken");
    if (grave) log.warn(sentence);
    else log.info(sentence);
  }

  /** It is time for statistics or progress. */
  tick(now: Snapshot): void {
    if (this.#settings.json) this.#json("statistics", { ...now });
    else {
      const line = snapshotLine(now, this.#before);
      if (this.#settings.everyMs !== undefined) this.#print(line);
      else if (this.#showProgress) this.#streams.console.progress(line);
    }
    this.#before = now;
  }

  /** The flow has ended; the exit code. */
  end(end: End, last: Snapshot): ExitCode {
    const faults = verdict(last, end.kind === "ended");
    if (end.kind === "cut") faults.unshift("it did not end in time and was cut short");
    if (this.#streams.out.failed) faults.push("not all could be written to standard output");
    this.#streams.console.progress("");
    if (this.#settings.json) {
      const reason = end.kind === "ended" ? end.reason : "";
      this.#json("summary", { ok: faults.length === 0, end: end.kind, reason, faults, ...last });
    } else {
      this.#print(`${endWords[end.kind]}: ${snapshotLine(last)}`);
      for (const fault of faults) log.error(fault);
    }
    return faults.length === 0 ? exitCodes.ok : exitCodes.failed;
  }
}

const endWords = { ended: "ended", stopped: "stopped", cut: "cut short" } as const;

const flowWords = {
  running: "running",
  draining: `delivering what is buffered, for ${stopTimeoutMs / 1000} s at most`,
  ended: "ended",
} as const;

const linkWords = {
  connecting: "connecting",
  connected: "connected",
  broken: "connection broken",
  closed: "connection closed",
} as const;

/** An event in words: who, what, why. */
export function describeEvent(event: EngineEvent, who: string | undefined): string {
  return [who, wordsOf(event), event.text]
    .filter((part) => part !== undefined && part !== "")
    .join(": ");
}

/** What the library's sentence does not say by itself. */
function wordsOf(event: EngineEvent): string {
  switch (event.kind) {
    case "flow_state":
      return event.text === flowWords[event.state] ? "" : flowWords[event.state];
    case "link_state":
      return event.text === "" || event.state === "broken" ? linkWords[event.state] : "";
    case "lost":
      return `${event.count} events were lost, because they were not read in time`;
    case "warning":
      return "";
  }
}
