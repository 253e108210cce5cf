/**
 * `deno task demo`: the whole thing on one machine. A clip goes round and round from a sender over a
 * path that loses and delays packets to a receiver that checks what arrives, each a verb of its own
 * as a person would start it. It prints what happens each second and a verdict.
 *
 * @module
 */

import { parseArgs } from "@std/cli";
import { createSocket } from "node:dgram";
import { showCount, showDuration, showRate, showShare } from "../src/cli/format.ts";
import type { Snapshot } from "../src/cli/snapshot.ts";
import type { EndpointStatistics, LinkStatistics, RelayStatistics } from "../src/engine/mod.ts";
import { root } from "./files.ts";
import { guardVersion } from "./version.ts";

/** How long the receiver and the relay may outlive the sender, should nobody stop them. */
const outliveS = 30;
/** How long a verb may take to be ready. */
const readyMs = 10_000;

/** One line of a verb's `--json`. */
type Line =
  | (Snapshot & { readonly type: "statistics" | "summary" })
  | { readonly type: "start" }
  | { readonly type: "event"; readonly event: string; readonly state?: string };

/** A verb that runs. */
class Running {
  readonly #child: Deno.ChildProcess;
  readonly #name: string;
  readonly #reading: Promise<void>;
  readonly #onLine: (line: Line) => void;
  /** The last line; undefined until there is one. */
  last: Line | undefined;

  constructor(name: string, args: readonly string[], onLine: (line: Line) => void = () => {}) {
    this.#name = name;
    this.#onLine = onLine;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...verbArguments, ...args, "--json", "--quiet"],
      cwd: root,
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
      detached: true, // Ctrl-C is for us: the sender is stopped first
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        this.last = JSON.parse(line) as Line;
        this.#onLine(this.last);
      }
    }
  }

  /** Waits until it has begun: its sockets are open then. */
  async ready(): Promise<void> {
    const deadline = performance.now() + readyMs;
    const ended = this.#child.status.then(() => true);
    while (this.last === undefined) {
      const pause = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 20));
      const over = await Promise.race([ended, pause]);
      if (over || performance.now() > deadline) {
        throw new Error(`the ${this.#name} did not start; its reason stands above`);
      }
    }
  }

  stop(): void {
    try {
      this.#child.kill("SIGINT");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended already
    }
  }

  /** Its exit code, when all it said was read. */
  async ended(): Promise<number> {
    await this.#reading;
    return (await this.#child.status).code;
  }
}

const { tasks } = JSON.parse(Deno.readTextFileSync(`${root}deno.json`));
/** The arguments by which the task `lockstep` runs a verb, with its permissions. */
const verbArguments = String(tasks.lockstep.command).split(" ").slice(1);

/** A UDP port of the loopback that nobody uses. */
async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("error", reject);
  socket.bind(0, "127.0.0.1", resolve);
  await promise;
  const { port } = socket.address();
  await new Promise<void>((closed) => socket.close(closed));
  return port;
}

/** A word as a person has to type it in a shell. */
function quoted(word: string): string {
  return /^[\w./:%=-]+$/.test(word) ? word : `'${word}'`;
}

/** The line of one second: what arrived, what the path did, and what came of it. */
export function progressLine(
  seconds: number,
  check: Pick<
    EndpointStatistics,
    "bytes" | "check_ts_lost" | "check_latency_p50_ns" | "check_jitter_ns"
  >,
  link: Pick<LinkStatistics, "rtt_ns" | "packets_receive_lost" | "packets_recovered">,
  before: { readonly bytes: number },
): string {
  return [
    `${seconds} s`.padStart(5),
    showRate(8 * (check.bytes - before.bytes)).padStart(11),
    showDuration(link.rtt_ns).padStart(9),
    showCount(link.packets_receive_lost).padStart(8),
    showCount(link.packets_recovered).padStart(11),
    showCount(check.check_ts_lost).padStart(9),
    showDuration(check.check_latency_p50_ns).padStart(9),
    showDuration(check.check_jitter_ns).padStart(9),
  ].join("");
}

const head = [
  "time".padStart(5),
  "received".padStart(11),
  "rtt".padStart(9),
  "missing".padStart(8),
  "recovered".padStart(11),
  "TS lost".padStart(9),
  "latency".padStart(9),
  "jitter".padStart(9),
].join("");

/** What came of it, in two sentences, and whether it is what was promised. */
export function judgement(
  relay: Pick<RelayStatistics, "forward_packets" | "forward_lost">,
  check: Pick<
    EndpointStatistics,
    | "check_ts_packets"
    | "check_ts_lost"
    | "check_ts_wrong"
    | "check_latency_min_ns"
    | "check_latency_max_ns"
  >,
): { readonly ok: boolean; readonly text: string } {
  const { forward_lost: lost, forward_packets: packets } = relay;
  const { check_ts_packets: seen, check_ts_lost: gone, check_ts_wrong: wrong } = check;
  const ok = seen > 0 && gone === 0 && wrong === 0;
  const path = `The path lost ${showCount(lost)} of ${showCount(packets)} packets (${
    showShare(lost, packets)
  }).`;
  const got = seen === 0
    ? "Nothing arrived at the receiver."
    : ok
    ? `The receiver played out all ${showCount(seen)} transport-stream packets, each between ${
      showDuration(check.check_latency_min_ns)
    } and ${showDuration(check.check_latency_max_ns)} after it was sent.`
    : `The receiver missed ${showCount(gone)} of ${
      showCount(seen + gone)
    } transport-stream packets, and ${showCount(wrong)} stretches came wrong: ` +
      "the latency is too short for this path.";
  return { ok, text: `${path} ${got}` };
}

interface Settings {
  readonly seconds: number;
  readonly loss: string;
  readonly latency: string;
  readonly watch: string | undefined;
}

const usage = `deno task demo [--for SECONDS] [--loss 1%] [--latency 300ms] [--watch URI]

  --for      how long, in seconds; 15 unless given
  --loss     share of packets that the path loses, each way; 1% unless given
  --latency  time to repair what got lost; 300ms unless given
  --watch    where a player may look on, such as udp://127.0.0.1:5004`;

function readSettings(args: readonly string[]): Settings | undefined {
  const unknown: string[] = [];
  const parsed = parseArgs(args, {
    string: ["for", "loss", "latency", "watch"],
    default: { for: "15", loss: "1%", latency: "300ms" },
    unknown: (argument) => unknown.push(argument),
  });
  const seconds = Number(parsed.for?.replace(/s$/, ""));
  if (unknown.length > 0 || !Number.isInteger(seconds) || seconds < 1) return undefined;
  const { loss = "", latency = "", watch } = parsed;
  return { seconds, loss, latency, watch };
}

async function carry(settings: Settings): Promise<number> {
  const { seconds, loss, latency, watch } = settings;
  const [near, far] = [await freePort(), await freePort()];
  const limit = ["--for", `${seconds + outliveS}s`];
  const receiverArgs = [
    "route",
    `srt://127.0.0.1:${far}?mode=listener&latency=${latency}`,
    "check:",
    ...watch === undefined ? [] : [watch],
  ];
  const path = ["--delay", "20ms", "--jitter", "2ms", "--loss", loss];
  const relayArgs = ["impair", `127.0.0.1:${near}`, `127.0.0.1:${far}`, ...path];
  const senderArgs = [
    "route",
    "demo/clip.m2t?loop&rate=4Mbps&marker",
    `srt://127.0.0.1:${near}?latency=${latency}`,
  ];
  console.log(
    "A clip of 8 s, at 4 Mbps, round and round, over a path with a round trip of 40 ms:\n",
  );
  for (const args of [senderArgs, relayArgs, receiverArgs]) {
    console.log(`  deno task lockstep ${args.map(quoted).join(" ")}`);
  }
  console.log(`\n${head}`);

  let [second, bytes] = [0, 0];
  const onStatistics = (line: Line): void => {
    if (line.type !== "statistics") return;
    const check = line.outputs[0]?.statistics;
    const link = line.input.links[0];
    if (check === undefined || link === undefined || link.connections === 0) return;
    console.log(progressLine(++second, check, link, { bytes }));
    bytes = check.bytes;
  };
  const started: Running[] = [];
  const start = (...args: ConstructorParameters<typeof Running>): Running => {
    const running = new Running(...args);
    started.push(running);
    return running;
  };
  try {
    const receiver = start("receiver", [...receiverArgs, ...limit], onStatistics);
    const relay = start("relay", [...relayArgs, ...limit]);
    await Promise.all([receiver.ready(), relay.ready()]);
    const sender = start("sender", [...senderArgs, "--for", `${seconds}s`]);
    const stop = (): void => sender.stop();
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
    await sender.ended();
    for (const verb of [receiver, relay]) verb.stop();
    await Promise.all([receiver.ended(), relay.ended()]);
    return report(receiver, relay);
  } finally {
    for (const verb of started) verb.stop();
    await Promise.all(started.map((verb) => verb.ended()));
  }
}

/** Prints the verdict; the exit code. */
function report(receiver: Running, relay: Running): number {
  const arrived = receiver.last as Snapshot | undefined;
  const path = relay.last as { statistics: RelayStatistics } | undefined;
  const check = arrived?.outputs[0]?.statistics;
  if (check === undefined || path === undefined) throw new Error("a verb ended without a summary");
  const { ok, text } = judgement(path.statistics, check);
  console.log(`\n${text}`);
  return ok ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  guardVersion();
  const settings = readSettings(args);
  if (settings === undefined) {
    console.error(usage);
    return 2;
  }
  try {
    return await carry(settings);
  } catch (error) {
    console.error(`demo: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
