/**
 * What a test sets up and leaves nothing of: a directory and running programs.
 *
 * @module
 */

import { root } from "../../scripts/files.ts";
import { Impairment, Route } from "./lockstep.ts";
import { Peer, type PeerOptions } from "./peer.ts";

const results = `${root}build/test`;

/** The directory and the programs of a test. */
export class Stage implements AsyncDisposable {
  readonly #directory: string;
  readonly #peers: Peer[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** An empty stage. */
  static async open(): Promise<Stage> {
    await Deno.mkdir(results, { recursive: true });
    return new Stage(await Deno.makeTempDir({ dir: results, prefix: "interop-" }));
  }

  /** A path in the directory. */
  path(name: string): string {
    return `${this.#directory}/${name}`;
  }

  /** Starts a program. */
  start(name: string, program: string, args: readonly string[], options?: PeerOptions): Peer {
    return this.#add(new Peer(name, program, args, options));
  }

  /** Starts `lockstep route`. */
  async route(name: string, input: string, ...rest: readonly string[]): Promise<Route> {
    return this.#add(await Route.start(name, [input, ...rest]));
  }

  /** Starts `lockstep impair` on a port of this machine. */
  async impair(listen: number, target: number, ...flags: readonly string[]): Promise<Impairment> {
    const args = [`127.0.0.1:${listen}`, `127.0.0.1:${target}`, ...flags];
    const relay = this.#add(await Impairment.start("impair", args));
    await relay.listens(listen);
    return relay;
  }

  #add<P extends Peer>(peer: P): P {
    this.#peers.push(peer);
    return peer;
  }

  /** The same work; a failure also tells what the programs said. */
  explained<T>(work: () => Promise<T>): () => Promise<T> {
    return async () => {
      try {
        return await work();
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        const reports = this.#peers.map((peer) => peer.report());
        throw new Error([text, ...reports].join("\n"), { cause: error });
      }
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer[Symbol.asyncDispose]()));
    await Deno.remove(this.#directory, { recursive: true });
  }
}

/** Does a test's work on a stage of its own. */
export async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  await using stage = await Stage.open();
  await stage.explained(() => work(stage))();
}
