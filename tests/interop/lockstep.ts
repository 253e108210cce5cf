/**
 * Our own verbs as programs, with the permissions that `deno task lockstep` grants and no more.
 *
 * @module
 */

import { root } from "../../scripts/files.ts";
import type { Snapshot } from "../../src/cli/snapshot.ts";
import type { LinkState, LinkStatistics, RelayStatistics } from "../../src/engine/mod.ts";
import { Peer } from "./peer.ts";

/** An event of `route --json`. */
export interface RouteEvent {
  readonly type: "event";
  readonly event: "flow_state" | "link_state" | "warning" | "lost";
  readonly state?: LinkState | "running" | "draining" | "ended";
  readonly endpoint?: string;
  readonly text: string;
  readonly at: string;
}

/** Statistics of `route --json`, at one moment and at the end. */
export interface RouteStatistics extends Snapshot {
  readonly type: "statistics" | "summary";
  /** In a summary: what went wrong on the whole. */
  readonly faults?: readonly string[];
}

/** Statistics of `impair --json`. */
interface ImpairStatistics {
  readonly type: "statistics" | "summary";
  readonly statistics: RelayStatistics;
}

/** The arguments by which the task runs a verb, without the runtime's own name. */
async function taskArguments(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  const [runtime, ...args] = String(tasks.lockstep.command).split(" ");
  if (runtime !== "deno") throw new Error(`The task runs "${runtime}" and not deno`);
  return args;
}

async function verbArguments(verb: string, args: readonly string[]): Promise<string[]> {
  return [...await taskArguments(), verb, "--json", ...args];
}

/** What a verb writes: settings first, then events and statistics, a summary last. */
type Line<S> = { readonly type: "start" } | RouteEvent | S;

class Verb<S extends { readonly type: "statistics" | "summary" }> extends Peer {
  constructor(name: string, args: readonly string[]) {
    super(name, Deno.execPath(), args, { cwd: root });
  }

  /** The complete lines so far. */
  #lines(): Line<S>[] {
    return this.stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Line<S>);
  }

  /** The events so far. */
  events(): RouteEvent[] {
    return this.#lines().filter((line): line is RouteEvent => line.type === "event");
  }

  /** The newest statistics. */
  latest(): S {
    const found = this.#lines().findLast((line): line is S =>
      line.type === "statistics" || line.type === "summary"
    );
    if (found === undefined) throw new Error(`${this.name}: no statistics`);
    return found;
  }

  /** Ends it in order; its last statistics. */
  async finish(): Promise<S> {
    await this.interrupt();
    const summary = this.latest();
    if (summary.type !== "summary") throw new Error(`${this.name}: no summary`);
    return summary;
  }

  protected override said(): string {
    const lines = this.stdout.split("\n").filter((line) =>
      !line.startsWith('{"type":"statistics"')
    );
    return lines.join("\n").replaceAll(/"\w+":0(?=[,}]),?/g, "");
  }
}

/** `lockstep route --json`. */
export class Route extends Verb<RouteStatistics> {
  /** Starts it; `args` are the input, the outputs and further options. */
  static async start(name: string, args: readonly string[]): Promise<Route> {
    return new Route(name, await verbArguments("route", args));
  }

  /** The texts of the link's events of one state so far. */
  linkTexts(state: LinkState): string[] {
    return this.events()
      .filter((event) => event.event === "link_state" && event.state === state)
      .map(({ text }) => text);
  }

  /** The texts of the warnings so far. */
  warnings(): string[] {
    return this.events().filter((event) => event.event === "warning").map(({ text }) => text);
  }

  /** Waits until the link has been in a state that often; the event's text. */
  async reaches(state: LinkState, times = 1, timeoutMs = 10_000): Promise<string> {
    const what = `${state}${times > 1 ? `, time ${times}` : ""}`;
    await this.until(what, () => this.linkTexts(state).length >= times, timeoutMs);
    return this.linkTexts(state)[times - 1] ?? "";
  }
}

/** `lockstep impair --json`. */
export class Impairment extends Verb<ImpairStatistics> {
  /** Starts it; `args` are where it listens, its target and what it does to packets. */
  static async start(name: string, args: readonly string[]): Promise<Impairment> {
    return new Impairment(name, await verbArguments("impair", args));
  }
}

/** The one link of a flow. */
export function linkOf(statistics: RouteStatistics): LinkStatistics {
  const links = [statistics.input, ...statistics.outputs].flatMap((endpoint) => endpoint.links);
  const [link] = links;
  if (link === undefined || links.length > 1) throw new Error(`It has ${links.length} links`);
  return link;
}
