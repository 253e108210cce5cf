/**
 * The stages of the demonstration: a source, an SRT caller, a path that loses packets, an SRT
 * listener with a viewer. They talk over UDP on this machine, as they would on four.
 *
 * @module
 */

import {
  ConfigError,
  type Direction,
  type NumericOption,
  parseUri,
  type ResolvedEndpoint,
  resolveEndpoint,
} from "../config/mod.ts";
import {
  type EndpointStatistics,
  type Engine,
  type Flow,
  linkStates,
  type LinkStatistics,
  LockstepError,
  type Relay,
  type RelayStatistics,
} from "../engine/mod.ts";
import { accept, buildFlow, type BuiltFlow } from "./flow_builder.ts";
import { type FlowSession, Timer } from "./session.ts";

/** Ports for the hops between the stages: below those that systems hand out by themselves. */
const firstPort = 20_000;
const portCount = 12_000;
/** Ports that are tried for one hop. */
const portAttempts = 20;

/** How long the caller may take to reach the listener over the bad path. */
const connectTimeoutMs = 15_000;
/** How long the sender may take to fetch what the source has left in its socket. */
const carryTimeoutMs = 1000;
/** Statistics are at most this old. */
const statisticsAgeMs = 50;

/** What the stages are made of. */
export interface ChainSettings {
  /** URI of the clip, without keys. */
  readonly clip: string;
  readonly rate: string;
  readonly latency: string;
  /** Packets that a send or receive buffer must hold. */
  readonly buffer: number;
  readonly viewerPort: number;
  /** The library's options of the path. */
  readonly path: readonly NumericOption[];
}

/** The counters of all stages at one moment. */
export interface ChainStatistics {
  /** The source's output. */
  readonly source: EndpointStatistics;
  /** The sender's input and its link. */
  readonly sender: EndpointStatistics;
  readonly sending: LinkStatistics;
  readonly path: RelayStatistics;
  readonly receiving: LinkStatistics;
  /** What the viewer gets, and what the check finds in it. */
  readonly viewer: EndpointStatistics;
  readonly check: EndpointStatistics;
}

/** The names of the stages, in the order in which they are stopped. */
export const stageNames = ["source", "sender", "receiver", "path"] as const;
export type StageName = (typeof stageNames)[number];

/** The running stages. */
export class DemoChain {
  readonly #source: BuiltFlow;
  readonly #sender: BuiltFlow;
  readonly #path: Relay;
  readonly #receiver: BuiltFlow;

  private constructor(source: BuiltFlow, sender: BuiltFlow, path: Relay, receiver: BuiltFlow) {
    this.#source = source;
    this.#sender = sender;
    this.#path = path;
    this.#receiver = receiver;
  }

  /**
   * Opens the stages, last one first, on ports that are free; all but the source are started.
   *
   * @throws {ConfigError} an option is not accepted.
   * @throws {LockstepError} a stage cannot be started.
   */
  static async open(engine: Engine, settings: ChainSettings): Promise<DemoChain> {
    const { latency, buffer, viewerPort } = settings;
    const srt = `latency=${latency}&fc=${buffer}&buffer=${buffer}`;
    const host = "127.0.0.1";
    const receiver = await onFreePort(async (port) => {
      const built = await build(engine, `srt://${host}:${port}?mode=listener&${srt}`, [
        `udp://${host}:${viewerPort}`,
        "check:",
      ]);
      return { owner: built.flow, built };
    });
    const path = await onFreePort((port) => {
      const relay = engine.openRelay();
      const addresses = [
        { name: "local", value: `${host}:${port}` },
        { name: "target", value: `${host}:${receiver.port}` },
      ];
      for (const { name, value } of [...addresses, ...settings.path]) {
        accept("path", () => relay.option(name, value));
      }
      return Promise.resolve({ owner: relay });
    });
    const sender = await onFreePort(async (port) => {
      const caller = `srt://${host}:${path.port}?mode=caller&fc=${buffer}&buffer=${buffer}`;
      const built = await build(engine, `udp://${host}:${port}`, [caller]);
      return { owner: built.flow, built };
    });
    const clip = `${settings.clip}?loop&marker&rate=${settings.rate}`;
    const source = await build(engine, clip, [`udp://${host}:${sender.port}`]);
    return new DemoChain(source, sender.built, path.owner, receiver.built);
  }

  /** The flow or relay of a stage. */
  owner(stage: StageName): Flow | Relay {
    return {
      source: this.#source.flow,
      sender: this.#sender.flow,
      path: this.#path,
      receiver: this.#receiver.flow,
    }[stage];
  }

  /** What each flow carries, as `lockstep route` would be told. */
  routes(): readonly string[] {
    return [this.#source, this.#sender, this.#receiver].map(({ input, outputs }) =>
      `route ${input.uri} to ${outputs.map(({ uri }) => uri).join(", ")}`
    );
  }

  /** Waits for the connection; false when it did not come in time, or `stop` was aborted. */
  connected(stop: AbortSignal): Promise<boolean> {
    const state = (): number => this.statistics().sending.state;
    return waitUntil(() => state() === linkStates.connected, connectTimeoutMs, stop);
  }

  /**
   * Starts the source.
   *
   * @throws {ConfigError} the clip cannot be played at this rate.
   */
  begin(): void {
    try {
      this.#source.flow.start();
    } catch (error) {
      const refused = error instanceof LockstepError && error.name === "LS_EINVAL";
      throw refused ? new ConfigError(`--rate: ${error.message}`, { cause: error }) : error;
    }
  }

  /**
   * Ends the stages in order, so that nothing is lost by stopping: the source, then the sender when
   * it has taken and delivered all, then the receiver when it has played all out, then the path.
   * False when a stage had to be cut short.
   */
  async finish(session: FlowSession, force: AbortSignal): Promise<boolean> {
    let whole = await session.stop(this.owner("source"), force);
    await this.#carried(force);
    for (const stage of ["sender", "receiver", "path"] as const) {
      whole = await session.stop(this.owner(stage), force) && whole;
    }
    return whole;
  }

  /** Waits until the sender has taken from its socket what the source has sent. */
  async #carried(force: AbortSignal): Promise<void> {
    using settled = new Timer(2 * statisticsAgeMs, force);
    await settled.over;
    const carried = (): boolean => {
      const { source, sender } = this.statistics();
      return sender.packets >= source.packets;
    };
    await waitUntil(carried, carryTimeoutMs, force);
  }

  /** Reads the counters. */
  statistics(): ChainStatistics {
    const [toSender] = this.#source.outputs;
    const [call] = this.#sender.outputs;
    const [viewer, check] = this.#receiver.outputs;
    const endpoint = (built: BuiltFlow, index: number | undefined): EndpointStatistics =>
      built.flow.statisticsOf("endpoint", index ?? -1);
    const link = (built: BuiltFlow, index: number | undefined): LinkStatistics =>
      built.flow.statisticsOf("link", index ?? -1);
    return {
      source: endpoint(this.#source, toSender?.index),
      sender: endpoint(this.#sender, this.#sender.input.index),
      sending: link(this.#sender, call?.links[0]),
      path: this.#path.statistics(),
      receiving: link(this.#receiver, this.#receiver.input.links[0]),
      viewer: endpoint(this.#receiver, viewer?.index),
      check: endpoint(this.#receiver, check?.index),
    };
  }
}

async function resolve(uri: string, direction: Direction): Promise<ResolvedEndpoint> {
  return await resolveEndpoint(parseUri(uri, direction));
}

async function build(
  engine: Engine,
  input: string,
  outputs: readonly string[],
): Promise<BuiltFlow> {
  const resolved = await Promise.all(outputs.map((uri) => resolve(uri, "output")));
  return buildFlow(engine, await resolve(input, "input"), resolved, []);
}

/** What `onFreePort` needs of a flow or relay. */
interface Startable {
  start(): void;
  close(): void;
}

/**
 * Makes and starts a stage on one random port after the other until one is free.
 *
 * @throws {LockstepError} it cannot be started, for another reason or on any of the ports.
 */
export async function onFreePort<T extends { readonly owner: Startable }>(
  make: (port: number) => Promise<T>,
): Promise<T & { readonly port: number }> {
  for (let attempt = 1;; attempt++) {
    const random = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const port = firstPort + random % portCount;
    const stage = await make(port);
    try {
      stage.owner.start();
      return { ...stage, port };
    } catch (error) {
      stage.owner.close();
      const taken = error instanceof LockstepError && error.name === "LS_ESYSTEM" &&
        error.message.includes("in use");
      if (!taken || attempt === portAttempts) throw error;
    }
  }
}

/** Asks again and again; false when the time is over or the signal aborted before it is true. */
async function waitUntil(
  isTrue: () => boolean,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (!isTrue()) {
    if (signal.aborted || performance.now() >= endMs) return false;
    using pause = new Timer(20, signal);
    await pause.over;
  }
  return true;
}
