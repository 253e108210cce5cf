/**
 * The simulator: both ends of a stream on virtual clocks, over links of the impairment model.
 *
 * @module
 */

import { load } from "./ffi.ts";
import { encodeText, Native } from "./native.ts";
import type { LinkStatistics, SimulationStatistics } from "./statistics.gen.ts";
import { type Library, LS_SELF } from "./symbols.ts";

/** How far a simulation has come. */
export interface Progress {
  /** Whether it goes on; at its end, or where a rule was broken, it stands still. */
  readonly goesOn: boolean;
  /** Which rule was broken, and when; undefined while none is. */
  readonly violation: string | undefined;
}

/**
 * One simulation. It checks the rules that a stream has to keep (docs/reference/scenario.md), and
 * one seed makes the same run again.
 *
 * ```ts ignore
 * await using simulation = Simulation.open();
 * simulation.optionOf(simulation.addLink(), "delay_ns", "20000000");
 * await simulation.run(60e9);
 * ```
 */
export class Simulation implements AsyncDisposable {
  readonly #native: Native;
  readonly #handle: bigint;
  #running: Promise<unknown> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(native: Native, handle: bigint) {
    this.#native = native;
    this.#handle = handle;
  }

  /**
   * A simulation without links.
   *
   * @throws {LibraryError} the library cannot be loaded.
   * @throws {LockstepError} no memory, or too many simulations in this process.
   */
  static open(library: Library = load()): Simulation {
    const native = new Native(library, "simulation");
    return new Simulation(native, native.handle((library) => library.ls_simulation_open()));
  }

  /** A call now would wait until the run ends, and everything else with it. */
  #idle(): Native {
    if (this.#running !== undefined) throw new TypeError("Cannot use a simulation while it runs");
    return this.#native;
  }

  /** Adds a link; its number. */
  addLink(): number {
    const native = this.#idle();
    return native.unwrap(native.library.ls_simulation_link_add(this.#handle));
  }

  /** Sets an option of the simulation itself, before the first run. */
  option(name: string, value: string): void {
    this.optionOf(LS_SELF, name, value);
  }

  /** Sets an option of a link, before the first run: those of the impairment relay. */
  optionOf(link: number, name: string, value: string): void {
    const [nameText, valueText] = [encodeText(name), encodeText(value)];
    this.#idle().call((library, text, size) =>
      library.ls_simulation_option(this.#handle, link, nameText, valueText, text, size)
    );
  }

  /** Runs a span of virtual time on a thread of the runtime. */
  async run(spanNs: number): Promise<Progress> {
    const running = this.#idle().later((library, text, size) =>
      library.ls_simulation_run(this.#handle, BigInt(spanNs), text, size)
    );
    this.#running = running;
    try {
      const { result, sentence } = await running;
      return { goesOn: result === 1, violation: sentence === "" ? undefined : sentence };
    } finally {
      this.#running = undefined;
    }
  }

  /** The source ends; further runs deliver what is under way. */
  finish(): void {
    const native = this.#idle();
    native.unwrap(native.library.ls_simulation_finish(this.#handle));
  }

  /** The figures of the whole. */
  statistics(): SimulationStatistics {
    return this.#idle().block(
      "simulation",
      (library, scope, block) =>
        library.ls_simulation_stats(this.#handle, scope, LS_SELF, block, block.length),
    );
  }

  /** The figures of one side of a link, after the first run. */
  statisticsOf(link: number, side: "sender" | "receiver"): LinkStatistics {
    const index = 2 * link + (side === "sender" ? 0 : 1);
    return this.#idle().block(
      "link",
      (library, scope, block) =>
        library.ls_simulation_stats(this.#handle, scope, index, block, block.length),
    );
  }

  /** Frees it, once a run has ended. Closing twice does nothing more. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const library = this.#native.library;
    this.#native.closed = true;
    await this.#running?.catch(() => {}); // whoever runs it gets the error
    this.#native.unwrap(library.ls_simulation_close(this.#handle));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
