/**
 * `deno task soak [part …]`: what is too long for the tests, in the simulator. A day of a stream, the
 * viewer's loss against its closed form, and a thousand seeds of every kind of trouble. It prints
 * one line for each figure, with what was asked for, and fails when one is missed.
 *
 * @module
 */

import { type Run, runScenario } from "../src/cli/simulation_run.ts";
import { readScenario, type Scenario } from "../src/config/scenario.ts";
import { build } from "./build.ts";
import { root } from "./files.ts";
import { endProgramsOnSignal, run } from "./process.ts";
import { inPool } from "./suite.ts";

/** A figure, what was asked for, and whether that is so. */
export interface Figure {
  readonly name: string;
  readonly found: string;
  readonly wanted: string;
  readonly ok: boolean;
}

const hourNs = 3600e9;
const dayNs = 24 * hourNs;
const dayWallS = 300;
const dayScenario = "scenarios/single_1pct.yaml";

/** What garbage collection may move the process's memory by. */
const memoryNoiseBytes = 16 << 20;

const losses = ["5%", "10%"];
const lossSeeds = 30;
const lossNs = 600e9;
/** What the viewer may lose, of what the closed form says. */
const lossFactor = 1.2;

const hostileSeeds = 1000;
const hostileMs = 1_200_000;

/** The figures of the day. */
export function judgeDay(
  day: Run,
  wallS: number,
  rssBytes: { readonly afterHour: number; readonly end: number },
): Figure[] {
  const { statistics: all, end, violation } = day;
  const mib = (bytes: number): string => (bytes / (1 << 20)).toFixed(1);
  const grown = rssBytes.end - rssBytes.afterHour;
  return [
    {
      name: "day: rules broken in 24 h",
      found: violation ?? (end === "ended" ? "none" : end),
      wanted: "none; latency within 1 ms of the first",
      ok: end === "ended" && all.virtual_ns >= dayNs,
    },
    {
      name: "day: latency off the first, p99",
      found: `${(all.latency_off_p99_ns / 1e3).toFixed(1)} us`,
      wanted: "1 ms at most",
      ok: all.delivered > 0 && all.latency_off_p99_ns <= 1e6,
    },
    {
      name: "day: lost to the viewer",
      found: `${all.lost} of ${all.sent}`,
      wanted: `${
        (lossFactor * all.expected_loss * all.sent).toFixed(0)
      } at most (closed form × ${lossFactor})`,
      ok: all.sent > 0 && all.lost <= lossFactor * all.expected_loss * all.sent,
    },
    {
      name: "day: memory after 1 h, at the end",
      found: `${mib(rssBytes.afterHour)}, ${mib(rssBytes.end)} MiB`,
      wanted: `grows by ${mib(memoryNoiseBytes)} MiB at most`,
      ok: grown <= memoryNoiseBytes,
    },
    {
      name: "day: took",
      found: `${wallS.toFixed(0)} s`,
      wanted: `less than ${dayWallS} s`,
      ok: wallS < dayWallS,
    },
  ];
}

/** The figures of the seeds at one loss: all together, and the worst alone for information. */
export function judgeLoss(loss: string, runs: readonly Run[]): Figure {
  const sum = (of: (one: Run) => number): number => runs.reduce((all, one) => all + of(one), 0);
  const expected = sum(({ statistics: { expected_loss: share, sent } }) => share * sent);
  const lost = sum(({ statistics }) => statistics.lost);
  const worst = Math.max(
    ...runs.map(({ statistics: { lost, expected_loss: share, sent } }) => lost / (share * sent)),
  );
  const ended = runs.length > 0 && runs.every(({ end }) => end === "ended");
  return {
    name: `loss ${loss}: lost to the viewer, ${runs.length} seeds`,
    found: ended
      ? `${(lost / expected).toFixed(2)} of the closed form (${lost}; worst seed ${
        worst.toFixed(2)
      })`
      : "not all ended",
    wanted: `${lossFactor} at most`,
    ok: ended && lost <= lossFactor * expected,
  };
}

async function soakDay(): Promise<Figure[]> {
  const scenario = readScenario(await Deno.readTextFile(`${root}${dayScenario}`));
  const began = performance.now();
  let afterHour: number | undefined;
  const day = await runScenario(scenario, {
    seed: 1,
    durationNs: dayNs,
    tick: ({ virtual_ns: virtualNs }) => {
      if (virtualNs >= hourNs) afterHour ??= Deno.memoryUsage().rss;
    },
  });
  const end = Deno.memoryUsage().rss;
  const wallS = (performance.now() - began) / 1000;
  return judgeDay(day, wallS, { afterHour: afterHour ?? end, end });
}

/** A round trip of 40 ms with a latency of 120 ms, and that loss each way. */
function lossScenario(loss: string): Scenario {
  return readScenario(`
stream: { rate: 10Mbps, payload: 1316, latency: 120ms }
links: [{ delay: 20ms, loss: ${loss} }]
`);
}

async function soakLoss(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const loss of losses) {
    const scenario = lossScenario(loss);
    const seeds = Array.from({ length: lossSeeds }, (_, index) => index + 1);
    const work = (seed: number): Promise<Run> =>
      runScenario(scenario, { seed, durationNs: lossNs });
    figures.push(judgeLoss(loss, await inPool(seeds, navigator.hardwareConcurrency, work)));
  }
  return figures;
}

async function soakHostile(): Promise<Figure[]> {
  const built = await build("plain", ["sim_sim_test"]);
  const env = { SEEDS: `${hostileSeeds}` };
  const { code, output } = built.ok
    ? await run(`${root}build/plain/sim_sim_test`, { env, timeoutMs: hostileMs })
    : { code: 1, output: built.text };
  if (code !== 0) console.error(output);
  return [{
    name: `hostile: ${hostileSeeds} seeds`,
    found: code === 0 ? "all keep the rules" : "failed, see above",
    wanted: "all keep the rules",
    ok: code === 0,
  }];
}

const parts = { day: soakDay, loss: soakLoss, hostile: soakHostile };

/** A line of the table. */
export function line({ name, found, wanted, ok }: Figure): string {
  return `${ok ? "ok    " : "MISSED"}  ${name.padEnd(44)}${found.padEnd(52)}${wanted}`.trimEnd();
}

async function main(args: readonly string[]): Promise<number> {
  endProgramsOnSignal();
  const names = Object.keys(parts) as (keyof typeof parts)[];
  const unknown = args.find((arg) => !names.some((name) => name === arg));
  if (unknown !== undefined) {
    console.error(`soak: there is no part "${unknown}"; known are ${names.join(", ")}`);
    return 2;
  }
  let missed = 0;
  for (const name of args.length === 0 ? names : names.filter((one) => args.includes(one))) {
    for (const figure of await parts[name]()) {
      console.log(line(figure));
      if (!figure.ok) missed++;
    }
  }
  return missed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
