/**
 * A stream from a UDP port over SRT into a file: which program sends and which receives, who calls,
 * and a relay in between that delays and loses packets.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { LinkStatistics, RelayStatistics } from "../../src/engine/mod.ts";
import { compare } from "./comparison.ts";
import { type Impairment, linkOf, Route, type RouteStatistics } from "./lockstep.ts";
import { delay, type Peer } from "./peer.ts";
import { freePort } from "./ports.ts";
import type { Program } from "./programs.ts";
import type { Stage } from "./stage.ts";

/** Latency of every connection. */
export const latencyMs = 300;
const oneWayMs = 20;
const lossShare = 0.01;
/** A round trip of 40 ms; 1 % is lost each way, data as well as reports. */
const impairments = [`--delay=${oneWayMs}ms`, `--loss=${100 * lossShare}%`];
/** When all that was sent has been played out, with a margin for a busy machine. */
const playedOutMs = latencyMs + oneWayMs + 700;
/** The clip, looped for ever at a constant rate, no two stretches of it alike. */
export const clip = "demo/clip.m2t?loop&marker&rate=";
const rateBps = 8_000_000;
const packetBits = 8 * 188;

/** A program that speaks SRT. */
export type Speaker = "lockstep" | "srt-live-transmit";

/** Who does what. */
export interface Roles {
  readonly sender: Speaker;
  readonly receiver: Speaker;
  readonly caller: "sender" | "receiver";
}

/** The roles in words. */
export function describeRoles({ sender, receiver, caller }: Roles): string {
  return caller === "sender"
    ? `${sender} calls and sends to ${receiver}`
    : `${receiver} calls and receives from ${sender}`;
}

/** The programs that no one here wrote among the roles. */
export function programsOf({ sender, receiver }: Roles): Program[] {
  return [sender, receiver].filter((speaker) => speaker !== "lockstep");
}

/** Starts the sending or the receiving program. */
async function startSpeaker(
  stage: Stage,
  name: string,
  speaker: Speaker,
  input: string,
  output: string,
): Promise<Peer> {
  if (speaker === "lockstep") return await stage.route(name, input, output);
  // Its UDP reader loses packets with the system's socket buffer.
  const from = input.startsWith("udp:") ? `${input}?rcvbuf=4000000` : input;
  if (output.startsWith("srt:")) return stage.start(name, speaker, ["-q", from, output]);
  return stage.start(name, speaker, ["-q", from, "file://con"], { stdoutPath: output });
}

/** A running transfer. */
export class Transfer {
  readonly roles: Roles;
  /** Takes UDP on this port of 127.0.0.1. */
  readonly port: number;
  readonly #far: string;
  readonly #sender: Peer;
  readonly #relay: Impairment;
  readonly #receiver: Peer;

  private constructor(
    roles: Roles,
    port: number,
    far: string,
    [sender, relay, receiver]: readonly [Peer, Impairment, Peer],
  ) {
    this.roles = roles;
    this.port = port;
    this.#far = far;
    this.#sender = sender;
    this.#relay = relay;
    this.#receiver = receiver;
  }

  /** Starts all three and waits until they are connected. */
  static async open(stage: Stage, name: string, roles: Roles): Promise<Transfer> {
    const [port, calledPort, relayPort] = [await freePort(), await freePort(), await freePort()];
    const far = stage.path(`${name}.ts`);
    const listening = `srt://127.0.0.1:${calledPort}?mode=listener&latency=${latencyMs}`;
    const calling = `srt://127.0.0.1:${relayPort}?mode=caller&latency=${latencyMs}`;
    const startSender = (uri: string): Promise<Peer> =>
      startSpeaker(stage, `${name} sender`, roles.sender, `udp://127.0.0.1:${port}`, uri);
    const startReceiver = (uri: string): Promise<Peer> =>
      startSpeaker(stage, `${name} receiver`, roles.receiver, uri, far);
    const sends = roles.caller === "sender";
    const called = await (sends ? startReceiver : startSender)(listening);
    await called.listens(calledPort);
    const relay = await stage.impair(relayPort, calledPort, ...impairments);
    const caller = await (sends ? startSender : startReceiver)(calling);
    for (const peer of [called, caller]) if (peer instanceof Route) await peer.reaches("connected");
    const [sender, receiver] = sends ? [caller, called] : [called, caller];
    await sender.listens(port);
    return new Transfer(roles, port, far, [sender, relay, receiver]);
  }

  /** Ends all three, once what was sent has been played out. */
  async finish(): Promise<Outcome> {
    const sent = await finishSpeaker(this.#sender);
    const received = await finishSpeaker(this.#receiver);
    const { statistics } = await this.#relay.finish();
    return { roles: this.roles, far: this.#far, sent, received, relay: statistics };
  }
}

/** Our own statistics while connected, and at the end. */
interface OurEnd {
  readonly connected: RouteStatistics;
  readonly last: RouteStatistics;
}

async function finishSpeaker(speaker: Peer): Promise<OurEnd | undefined> {
  if (speaker instanceof Route) {
    return { connected: speaker.latest(), last: await speaker.finish() };
  }
  await speaker.interrupt();
}

/** What a transfer left. */
export interface Outcome {
  readonly roles: Roles;
  /** Path of the file that the receiving program wrote. */
  readonly far: string;
  /** Of the sender and of the receiver, where it is ours. */
  readonly sent: OurEnd | undefined;
  readonly received: OurEnd | undefined;
  readonly relay: RelayStatistics;
}

/** What was sent and what came of it. */
export interface Carried {
  /** Path of the file with all that the source sent. */
  readonly copy: string;
  readonly outcomes: readonly Outcome[];
}

/** Sends one stream through several transfers at once. */
export async function carry(
  stage: Stage,
  roles: readonly Roles[],
  seconds: number,
): Promise<Carried> {
  const copy = stage.path("copy.ts");
  const transfers = await Promise.all(
    roles.map((each, index) => Transfer.open(stage, `transfer ${index + 1}`, each)),
  );
  const outputs = transfers.map(({ port }) => `udp://127.0.0.1:${port}`);
  const source = await stage.route("source", `${clip}${rateBps}`, ...outputs, copy);
  await delay(1000 * seconds);
  const summary = await source.finish();
  assert.deepEqual(summary.faults, []);
  await delay(playedOutMs);
  return { copy, outcomes: await Promise.all(transfers.map((transfer) => transfer.finish())) };
}

/** Checks that a transfer is bit-exact although packets were lost; the figures in a line. */
export async function judge(copy: string, outcome: Outcome, seconds: number): Promise<string> {
  const { difference, packets, before } = compare(
    await Deno.readFile(copy),
    await Deno.readFile(outcome.far),
  );
  assert.equal(difference, undefined);
  // The connection stood before the source began; a caller's peer may miss the answer twice.
  assert.ok(before * packetBits <= rateBps, `it begins ${before} TS packets late`);
  const least = 0.9 * seconds * rateBps / packetBits;
  assert.ok(packets >= least, `${packets} TS packets received, at least ${least} expected`);
  return `${packets} TS packets in ${seconds} s bit-exact; ${figures(outcome)}`;
}

/** The counters of our own programs and of the relay: losses happened and were repaired. */
function figures({ roles, sent, received, relay }: Outcome): string {
  const forward = roles.caller === "sender";
  const [dataSent, dataLost, reportsLost] = forward
    ? [relay.forward_packets, relay.forward_lost, relay.backward_lost]
    : [relay.backward_packets, relay.backward_lost, relay.forward_lost];
  // Half of what is expected: three standard deviations and more in the shortest run.
  assert.ok(dataLost > 0.5 * lossShare * dataSent, `only ${dataLost} of ${dataSent} lost`);
  const parts = [`lost by the path ${dataLost} of ${dataSent}, reports ${reportsLost}`];
  if (sent !== undefined) {
    const link = checkLink(sent);
    assert.ok(link.packets_retransmitted >= dataLost / 2, "losses were not repeated");
    assert.equal(link.packets_send_dropped, 0);
    parts.push(`sender: retransmitted ${link.packets_retransmitted}`);
  }
  if (received !== undefined) {
    const link = checkLink(received);
    assert.ok(link.packets_receive_lost > 0, "no loss was seen");
    assert.equal(link.packets_recovered, link.packets_receive_lost);
    assert.equal(link.packets_receive_dropped, 0);
    const { packets_receive_lost, packets_recovered } = link;
    parts.push(`receiver: lost ${packets_receive_lost}, recovered ${packets_recovered}`);
  }
  return parts.join("; ");
}

function checkLink({ connected, last }: OurEnd): LinkStatistics {
  const { rtt_ns } = linkOf(connected);
  assert.ok(rtt_ns >= 2e6 * oneWayMs - 1e6, `round trip of ${rtt_ns} ns`);
  assert.deepEqual(last.faults, []);
  assert.equal(last.input.statistics.dropped_kernel, 0);
  const link = linkOf(last);
  assert.equal(link.connections, 1);
  return link;
}
