/**
 * An engine with its event loop: who runs flows needs to know what happens to them, and when they
 * have ended.
 *
 * @module
 */

import type { Engine, EngineEvent, Flow, Relay } from "../engine/mod.ts";
import type { Stopping } from "./signals.ts";

/** How long an orderly end may take before it is cut short. */
export const stopTimeoutMs = 10_000;

/**
 * Reads the events of an engine until it is disposed of, and closes the engine then.
 *
 * ```ts ignore
 * await using session = new FlowSession(Engine.open(), (event) => console.log(event.text));
 * const flow = session.engine.openFlow();
 * // … endpoints and options …
 * flow.start();
 * await session.ended(flow);
 * ```
 */
export class FlowSession implements AsyncDisposable {
  readonly engine: Engine;
  readonly #abort = new AbortController();
  readonly #pump: Promise<void>;
  readonly #ended = new Map<Flow | Relay, PromiseWithResolvers<string>>();

  constructor(engine: Engine, onEvent: (event: EngineEvent) => void) {
    this.engine = engine;
    this.#pump = this.#run(onEvent);
    // A defect of the pump is reported to whoever waits, and by the disposal.
    this.#pump.catch((error) => {
      for (const { reject } of this.#ended.values()) reject(error);
    });
  }

  async #run(onEvent: (event: EngineEvent) => void): Promise<void> {
    for await (const event of this.engine.events(this.#abort.signal)) {
      onEvent(event);
      if (event.kind === "flow_state" && event.state === "ended" && event.owner !== undefined) {
        this.#waiterOf(event.owner).resolve(event.text);
      }
    }
  }

  #waiterOf(owner: Flow | Relay): PromiseWithResolvers<string> {
    const before = this.#ended.get(owner);
    if (before !== undefined) return before;
    const waiter = Promise.withResolvers<string>();
    // Nobody may be waiting when the pump fails.
    waiter.promise.catch(() => {});
    this.#ended.set(owner, waiter);
    return waiter;
  }

  /** Resolves with the reason, a sentence or empty, when a flow or relay has ended. */
  ended(owner: Flow | Relay): Promise<string> {
    return this.#waiterOf(owner).promise;
  }

  /**
   * Stops a flow or relay in order. Resolves with true when it has ended, with false when it took
   * longer than `stopTimeoutMs` or `force` was aborted. It is not closed, so that its last
   * statistics can be read.
   */
  async stop(owner: Flow | Relay, force?: AbortSignal): Promise<boolean> {
    owner.stop();
    using timer = new Timer(stopTimeoutMs, force);
    return await Promise.race([
      this.ended(owner).then(() => true),
      timer.over.then(() => false),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    try {
      await this.#pump;
    } finally {
      await this.engine.close();
    }
  }
}

/** Resolves once after a time, or when a signal is aborted; disposed of, it leaves nothing behind. */
export class Timer implements Disposable {
  readonly over: Promise<void>;
  readonly #listener: () => void;
  readonly #signal: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, signal?: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#listener = () => resolve();
    this.#signal = signal;
    if (signal?.aborted === true) resolve();
    else {
      signal?.addEventListener("abort", this.#listener);
      if (Number.isFinite(ms)) this.#timer = setTimeout(resolve, ms);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#listener);
  }
}

/** How something ended. */
export type End =
  /** By itself: its input or its connection ended. */
  | { readonly kind: "ended"; readonly reason: string }
  /** It was asked to, by a signal or because its time was over. */
  | { readonly kind: "stopped" }
  /** It was asked to and did not in time, or was cut short. */
  | { readonly kind: "cut" };

/** What to do meanwhile. */
export interface RunOptions {
  readonly stopping: Stopping;
  /** Stop after this time. */
  readonly forMs: number | undefined;
  /** Call `tick` that often. */
  readonly everyMs: number | undefined;
  readonly tick: () => void;
}

/**
 * Waits until a flow or relay that was started has ended, and stops it when it is time to. It is
 * left open, so that its last statistics can be read.
 */
export async function waitForEnd(
  session: FlowSession,
  owner: Flow | Relay,
  { stopping, forMs, everyMs, tick }: RunOptions,
): Promise<End> {
  const ticking = everyMs === undefined ? undefined : setInterval(tick, everyMs);
  try {
    using limit = new Timer(forMs ?? Number.POSITIVE_INFINITY, stopping.stop);
    const reason = await Promise.race([
      session.ended(owner),
      limit.over.then(() => undefined),
    ]);
    if (reason !== undefined) return { kind: "ended", reason };
    return { kind: await session.stop(owner, stopping.force) ? "stopped" : "cut" };
  } finally {
    clearInterval(ticking);
  }
}
