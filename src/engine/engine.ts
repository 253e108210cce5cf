/**
 * The library as objects: an engine owns flows and relays, each closes what it owns, and nothing
 * calls into the library after a close.
 *
 * @module
 */

import { LockstepError } from "./errors.ts";
import { decodeEvent, type Happening } from "./event.ts";
import { load } from "./ffi.ts";
import { Native } from "./native.ts";
import type { EngineStatistics, StatisticsOf } from "./statistics.gen.ts";
import { directions, endpointKinds, eventSize, type Library, LS_SELF } from "./symbols.ts";

/**
 * Longest wait for an event. A wait occupies one of the runtime's 32 threads, and a close takes
 * place only after it.
 */
const eventWaitMs = 250;

/** What an endpoint is. */
export type Kind = keyof typeof endpointKinds;

/** What flows and relays have in common. */
abstract class Owned implements Disposable {
  readonly #native: Native;
  readonly #handle: bigint;
  readonly #forget: () => void;
  #closed = false;

  constructor(native: Native, handle: bigint, forget: () => void) {
    this.#native = native;
    this.#handle = handle;
    this.#forget = forget;
  }

  /** Calls into the library with the handle; an exception after a close. */
  protected use<T>(run: (native: Native, handle: bigint) => T): T {
    if (this.#closed) throw new LockstepError("LS_EHANDLE", -2, "it is closed");
    return run(this.#native, this.#handle);
  }

  /** Sets an option of the flow or relay itself: docs/reference/options.md. */
  option(name: string, value: string): void {
    this.use((native, handle) => native.option(handle, LS_SELF, name, value));
  }

  /** Opens sockets and files, and starts. */
  start(): void {
    this.use((native, handle) =>
      native.call((library, text, size) => library.ls_start(handle, text, size))
    );
  }

  /**
   * Asks for an orderly end: the input stops, what is buffered is delivered, links say goodbye.
   * The event `flow_state` with `ended` tells when that is done.
   */
  stop(): void {
    this.use((native, handle) => native.unwrap(native.library.ls_stop(handle)));
  }

  /** Ends at once. Closing twice, or after the engine, does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget();
    if (!this.#native.closed) {
      this.#native.unwrap(this.#native.library.ls_close(this.#handle));
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** One input and its outputs; made by `Engine.openFlow`. */
export class Flow extends Owned {
  /** Adds the input or an output; its number. */
  addEndpoint(direction: keyof typeof directions, kind: Kind): number {
    return this.use((native, handle) =>
      native.unwrap(
        native.library.ls_endpoint_add(handle, directions[direction], endpointKinds[kind]),
      )
    );
  }

  /** Adds a link to an SRT endpoint; its number. */
  addLink(endpoint: number): number {
    return this.use((native, handle) =>
      native.unwrap(native.library.ls_link_add(handle, endpoint))
    );
  }

  /** Sets an option of an endpoint or link. */
  optionOf(index: number, name: string, value: string): void {
    this.use((native, handle) => native.option(handle, index, name, value));
  }

  /** The statistics of the flow itself. */
  statistics(): StatisticsOf["flow"] {
    return this.use((native, handle) => native.statistics(handle, "flow", LS_SELF));
  }

  /** The statistics of an endpoint or a link, by its number. */
  statisticsOf<S extends "endpoint" | "link">(scope: S, index: number): StatisticsOf[S] {
    return this.use((native, handle) => native.statistics(handle, scope, index));
  }
}

/** A UDP impairment relay; made by `Engine.openRelay`. */
export class Relay extends Owned {
  /** The statistics of the relay. */
  statistics(): StatisticsOf["relay"] {
    return this.use((native, handle) => native.statistics(handle, "relay", LS_SELF));
  }
}

/** What happened to a flow, a relay, or one of their parts. */
export type EngineEvent = Happening & {
  /** The flow or relay; undefined when it was closed in the meantime. */
  readonly owner: Flow | Relay | undefined;
  /** Number of the endpoint or link, or -1 for the owner itself. */
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** A sentence, or empty. */
  readonly text: string;
};

/**
 * Reactor threads, and the flows and relays that they carry.
 *
 * ```ts ignore
 * await using engine = Engine.open();
 * const flow = engine.openFlow();
 * const input = flow.addEndpoint("input", "udp");
 * flow.optionOf(input, "local", "127.0.0.1:5004");
 * ```
 */
export class Engine implements AsyncDisposable {
  readonly #native: Native;
  readonly #handle: bigint;
  readonly #owned = new Map<bigint, Flow | Relay>();
  #waiting: Promise<number> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(native: Native, handle: bigint) {
    this.#native = native;
    this.#handle = handle;
  }

  /**
   * Starts the threads.
   *
   * @throws {LibraryError} the library cannot be loaded.
   * @throws {LockstepError} the threads cannot be started.
   */
  static open(threads = 1, library: Library = load()): Engine {
    const native = new Native(library, "engine");
    const handle = native.handle((library, text, size) =>
      library.ls_engine_open(threads, text, size)
    );
    return new Engine(native, handle);
  }

  /** Sets an option of the engine. */
  option(name: string, value: string): void {
    this.#native.option(this.#handle, LS_SELF, name, value);
  }

  /** A flow without endpoints. */
  openFlow(): Flow {
    const handle = this.#native.handle((library) => library.ls_flow_open(this.#handle));
    const flow = new Flow(this.#native, handle, () => this.#owned.delete(handle));
    this.#owned.set(handle, flow);
    return flow;
  }

  /** A relay without addresses. */
  openRelay(): Relay {
    const handle = this.#native.handle((library) => library.ls_relay_open(this.#handle));
    const relay = new Relay(this.#native, handle, () => this.#owned.delete(handle));
    this.#owned.set(handle, relay);
    return relay;
  }

  /** The statistics of the engine. */
  statistics(): EngineStatistics {
    return this.#native.statistics(this.#handle, "engine", LS_SELF);
  }

  /**
   * The next event; undefined once the signal is aborted or the engine closed, at most 250 ms later.
   * One caller waits at a time.
   */
  async nextEvent(signal?: AbortSignal): Promise<EngineEvent | undefined> {
    if (this.#waiting !== undefined) throw new TypeError("Cannot wait for events twice at a time");
    const block = new Uint8Array(eventSize);
    while (signal?.aborted !== true && !this.#native.closed) {
      const wait = this.#native.library.ls_event_wait(
        this.#handle,
        block,
        block.length,
        eventWaitMs,
      );
      this.#waiting = wait;
      let result: number;
      try {
        result = await wait;
      } finally {
        this.#waiting = undefined;
      }
      if (this.#native.unwrap(result) === 0) continue;
      const { handle, ...event } = decodeEvent(block);
      return { ...event, owner: this.#owned.get(handle) };
    }
    return undefined;
  }

  /** Events as they come, until the signal is aborted or the engine closed. */
  async *events(signal?: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    let event: EngineEvent | undefined;
    while ((event = await this.nextEvent(signal)) !== undefined) yield event;
  }

  /**
   * Ends everything at once and stops the threads; resolves when that is done. A wait for an event
   * ends first. Closing twice does nothing more.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const library = this.#native.library;
    this.#native.closed = true;
    await this.#waiting;
    this.#owned.clear();
    this.#native.unwrap(library.ls_close(this.#handle));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
