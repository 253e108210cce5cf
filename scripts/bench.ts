/**
 * `deno task bench [rate …]`: what carrying a stream costs, beside libsrt's own program in the same
 * run. A feeder writes a paced stream into a sender, SRT carries it over the loopback, a receiver
 * throws it away: `stdin → SRT → /dev/null`. Counted is the CPU time of the sender's and of the
 * receiver's process in a window of steady state, and what the receiver wrote in it. Runs
 * alternate, medians are printed.
 *
 * @module
 */

import { root } from "./files.ts";
import { endProgramsOnSignal, run } from "./process.ts";

/** What a window of steady state took. */
interface Cost {
  readonly senderS: number;
  readonly receiverS: number;
  readonly writtenBytes: number;
}

const rounds = 5;
const warmUpS = 2;
const windowS = 10;
const port = 20_000;
const directory = `${root}build/bench`;
/** Ticks of /proc/<pid>/stat in a second: USER_HZ, the same on every Linux that we run on. */
const ticksPerS = 100;

/**
 * CPU seconds that a process has used, from the text of its `/proc/<pid>/stat`: user and system
 * time are the fields 14 and 15, counted behind the name, which may hold blanks.
 *
 * @example
 * ```ts
 * import { cpuSeconds } from "./bench.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(cpuSeconds("7 (a b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"), 2);
 * ```
 */
export function cpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  if (!Number.isFinite(user + system)) throw new Error(`Cannot read CPU times from "${stat}"`);
  return (user + system) / ticksPerS;
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error("Cannot take the median of nothing");
  return (low + high) / 2;
}

/** A program to measure: how it sends its standard input, and how it receives to nowhere. */
interface Contender {
  readonly name: string;
  readonly sender: string;
  readonly receiver: string;
}

const lockstep = `'${Deno.execPath()}' run --quiet --no-prompt --no-config ` +
  `--import-map='${root}deno.json' --allow-ffi='${root}build/release/liblockstep.so' ` +
  `--allow-net --allow-sys=networkInterfaces '${root}src/main.ts' route --quiet`;

const contenders: readonly Contender[] = [
  {
    name: "lockstep",
    sender: `${lockstep} - srt://127.0.0.1:${port}`,
    receiver: `${lockstep} srt://:${port} /dev/null`,
  },
  {
    name: "srt-live-transmit",
    sender: `srt-live-transmit -q -chunk:1316 file://con 'srt://127.0.0.1:${port}'`,
    receiver: `srt-live-transmit -q -chunk:1316 'srt://:${port}?mode=listener' file://con`,
  },
];

/** A command that first writes the number of its process. */
function announced(name: string, command: string): string {
  return `sh -c 'echo $PPID' > '${directory}/${name}.pid'; exec ${command}`;
}

async function procFile(name: string, file: string): Promise<string> {
  const pid = (await Deno.readTextFile(`${directory}/${name}.pid`)).trim();
  const args = [`/proc/${pid}/${file}`];
  const { code, stdout, output } = await run("cat", { args, timeoutMs: 5_000 });
  if (code !== 0) throw new Error(`The ${name} has ended: ${output.trim()}`);
  return stdout;
}

/** Everything so far. */
async function sample(): Promise<Cost> {
  return {
    senderS: cpuSeconds(await procFile("sender", "stat")),
    receiverS: cpuSeconds(await procFile("receiver", "stat")),
    writtenBytes: Number(/^wchar: (\d+)$/m.exec(await procFile("receiver", "io"))?.[1]),
  };
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}

async function measure(contender: Contender, rate: string): Promise<Cost> {
  const timeoutMs = 1000 * (warmUpS + windowS + 1.5);
  const shell = (script: string): ReturnType<typeof run> =>
    run("sh", { args: ["-c", script], cwd: root, timeoutMs });
  const receiving = shell(`${announced("receiver", contender.receiver)} > /dev/null`);
  await wait(0.5);
  const feeder = `${lockstep} 'demo/clip.m2t?loop&rate=${rate}' -`;
  const sending = shell(`${feeder} | { ${announced("sender", contender.sender)}; }`);
  await wait(warmUpS);
  try {
    const before = await sample();
    await wait(windowS);
    const after = await sample();
    return {
      senderS: after.senderS - before.senderS,
      receiverS: after.receiverS - before.receiverS,
      writtenBytes: after.writtenBytes - before.writtenBytes,
    };
  } catch (error) {
    const outputs = (await Promise.all([sending, receiving])).map((one) => one.output.trim());
    throw new Error(`${contender.name} failed:\n${outputs.join("\n")}`, { cause: error });
  } finally {
    await Promise.all([sending, receiving]); // each is ended by its time limit
  }
}

async function main(args: readonly string[]): Promise<number> {
  endProgramsOnSignal();
  await Deno.mkdir(directory, { recursive: true });
  const peer = await run("srt-live-transmit", { args: ["-version"], timeoutMs: 5_000 });
  const present = peer.code === 0 ? contenders : contenders.slice(0, 1);
  if (peer.code !== 0) console.error("bench: srt-live-transmit is missing: no comparison");
  console.log(`CPU % of a core, median of ${rounds} alternated windows of ${windowS} s`);
  console.log("rate        program             sender   receiver   delivered");
  for (const rate of args.length > 0 ? args : ["10Mbps", "100Mbps"]) {
    const costs = new Map<Contender, Cost[]>(present.map((one) => [one, []]));
    for (let round = 0; round < rounds; round++) {
      for (const one of present) costs.get(one)?.push(await measure(one, rate));
    }
    for (const [{ name }, list] of costs) {
      const percent = (seconds: readonly number[]): string =>
        (100 * median(seconds) / windowS).toFixed(1).padStart(9);
      const sender = percent(list.map((cost) => cost.senderS));
      const receiver = percent(list.map((cost) => cost.receiverS));
      const mbps = median(list.map((cost) => 8e-6 * cost.writtenBytes / windowS)).toFixed(1);
      const delivered = `${mbps.padStart(8)} Mb/s`;
      console.log(`${rate.padEnd(12)}${name.padEnd(18)}${sender}  ${receiver}  ${delivered}`);
    }
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
