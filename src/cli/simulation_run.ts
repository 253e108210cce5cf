/**
 * Runs a scenario from its start to its end, a stretch at a time.
 *
 * @module
 */

import type { NumericOption, Scenario } from "../config/mod.ts";
import { type LinkStatistics, Simulation, type SimulationStatistics } from "../engine/mod.ts";
import { accept } from "./flow_builder.ts";

const second = 1e9;

/** A stretch takes about so long in real time: a stop is obeyed, and progress moves. */
const stretchMs = 100;
const firstStretchNs = second;
const maxStretchNs = 600 * second;

/** After the source has ended, what is under way is delivered within this time, or never. */
const drainNs = 300 * second;

/** The figures of a link's two sides. */
export interface LinkFigures {
  readonly name: string;
  readonly sender: LinkStatistics;
  readonly receiver: LinkStatistics;
}

/** What a run has found. */
export interface Run {
  /** `stopped` by whoever runs it, `broken` where a rule was, `stuck` where the end never came. */
  readonly end: "ended" | "stopped" | "broken" | "stuck";
  /** Which rule was broken, and when. */
  readonly violation: string | undefined;
  readonly statistics: SimulationStatistics;
  readonly links: readonly LinkFigures[];
}

/** How to run it. */
export interface RunSettings {
  readonly seed: number;
  readonly durationNs: number;
  readonly stop?: AbortSignal;
  /** Called after each stretch. */
  readonly tick?: (now: SimulationStatistics) => void;
}

/** The stretch after one that took so long: nearer to `stretchMs`, in steps of at most two. */
export function nextStretch(stretchNs: number, tookMs: number): number {
  const factor = Math.min(Math.max(stretchMs / Math.max(tookMs, 1), 0.5), 2);
  return Math.min(Math.max(Math.round(stretchNs * factor), 1e6), maxStretchNs);
}

/**
 * Runs a scenario.
 *
 * @throws {ConfigError} an option that the library does not accept.
 * @throws {LockstepError} no memory.
 */
export async function runScenario(scenario: Scenario, settings: RunSettings): Promise<Run> {
  await using simulation = Simulation.open();
  prepare(simulation, scenario, settings.seed);
  let violation: string | undefined;
  let stretchNs = firstStretchNs;
  const isStopped = (): boolean => settings.stop?.aborted === true;
  /** Runs to a virtual time, or until it stands still or is stopped; whether it goes on. */
  const runTo = async (untilNs: number): Promise<boolean> => {
    for (let nowNs = simulation.statistics().virtual_ns; nowNs < untilNs && !isStopped();) {
      const beganMs = performance.now();
      const progress = await simulation.run(Math.min(stretchNs, untilNs - nowNs));
      stretchNs = nextStretch(stretchNs, performance.now() - beganMs);
      const now = simulation.statistics();
      settings.tick?.(now);
      violation = progress.violation;
      if (!progress.goesOn) return false;
      nowNs = now.virtual_ns;
    }
    return true;
  };
  await simulation.run(0); // from here on there are figures, however soon it is stopped
  let goesOn = await runTo(settings.durationNs);
  if (goesOn && !isStopped()) {
    simulation.finish();
    goesOn = await runTo(settings.durationNs + drainNs);
  }
  return {
    end: violation !== undefined ? "broken" : !goesOn ? "ended" : isStopped() ? "stopped" : "stuck",
    violation,
    statistics: simulation.statistics(),
    links: scenario.links.map(({ name }, link) => ({
      name,
      sender: simulation.statisticsOf(link, "sender"),
      receiver: simulation.statisticsOf(link, "receiver"),
    })),
  };
}

function prepare(simulation: Simulation, scenario: Scenario, seed: number): void {
  const own: NumericOption[] = [...scenario.options, { name: "seed", value: seed.toString() }];
  for (const { name, value } of own) accept("scenario", () => simulation.option(name, value));
  for (const { name: of, options } of scenario.links) {
    const link = simulation.addLink();
    for (const { name, value } of options) {
      accept(`link ${of}`, () => simulation.optionOf(link, name, value));
    }
  }
}
