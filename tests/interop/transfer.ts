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
import { type Speaker, startReceiver, startSender } from "./speakers.ts";
import type { Stage } from "./stage.ts";

/** What is between two programs, and the latency that they agree upon because of it. */
export interface Path {
  readonly latencyMs: number;
  readonly oneWayMs: number;
  /** Lost each way, data as well as reports. */
  readonly lossShare: number;
  /** What else the relay does. */
  readonly flags: readonly string[];
}

/** A round trip of 40 ms, and 1 % lost each way. */
export const lossyPath: Path = { latencyMs: 300, oneWayMs: 20, lossShare: 0.01, flags: [] };

/**
 * Around the world by satellite. The answer to a request comes after the caller has repeated it
 * twice; packets overtake each other and come twice.
 */
export const longPath: Path = {
  latencyMs: 3000,
  oneWayMs: 300,
  lossShare: 0.02,
  flags: ["--jitter=2ms", "--reorder=1%", "--duplicate=1%"],
};

/** A program that is cut off loses at most what is within the latency and within itself. */
const withinMs = 300;
/** A caller's peer may miss its answer, and ffmpeg looks at its input for a while. */
const lateMs = 3000;
/** More than that is a margin for a busy machine: a peer has played out all that it was given. */
const marginMs = 700;
/** The same once our own sender has ended: it ends when the last has been played out. */
const writtenMs = 300;
/** The clip, looped for ever at a constant rate, no two stretches of it alike. */
export const clip = "demo/clip.m2t?loop&marker&rate=";
const rateBps = 8_000_000;
const packetBits = 8 * 188;

const packetsPerMs = rateBps / packetBits / 1000;

/** Who does what, and over which path. */
export interface Roles {
  readonly sender: Speaker;
  readonly receiver: Speaker;
  readonly caller: "sender" | "receiver";
  readonly path: Path;
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

  /** Starts all three: who is called, the relay, who calls. */
  static async start(stage: Stage, name: string, roles: Roles): Promise<Transfer> {
    const [port, calledPort, relayPort] = [await freePort(), await freePort(), await freePort()];
    const far = stage.path(`${name}.ts`);
    const { latencyMs, oneWayMs, lossShare, flags } = roles.path;
    const send = (uri: string): Promise<Peer> =>
      startSender(stage, `${name} sender`, roles.sender, port, { uri, latencyMs });
    const receive = (uri: string): Promise<Peer> =>
      startReceiver(stage, `${name} receiver`, roles.receiver, { uri, latencyMs }, far);
    const sends = roles.caller === "sender";
    const called = await (sends ? receive : send)(`srt://127.0.0.1:${calledPort}?mode=listener`);
    await called.listens(calledPort);
    const impairments = [`--delay=${oneWayMs}ms`, `--loss=${100 * lossShare}%`, ...flags];
    const relay = await stage.impair(relayPort, calledPort, ...impairments);
    const caller = await (sends ? send : receive)(`srt://127.0.0.1:${relayPort}?mode=caller`);
    const [sender, receiver] = sends ? [caller, called] : [called, caller];
    await sender.listens(port);
    return new Transfer(roles, port, far, [sender, relay, receiver]);
  }

  /** Waits until our own programs are connected. */
  async connected(): Promise<void> {
    for (const peer of [this.#sender, this.#receiver]) {
      if (peer instanceof Route) await peer.reaches("connected");
    }
  }

  async #playOut(): Promise<void> {
    const { latencyMs, oneWayMs } = this.roles.path;
    await delay(latencyMs + oneWayMs + marginMs);
  }

  /** Ends all three in the order in which the stream passes them. */
  async finish(): Promise<Outcome> {
    // Once the sender has gone, a receiver that calls is busy with calling again.
    const [sending, receiving] = [connectedState(this.#sender), connectedState(this.#receiver)];
    if (sending === undefined) await this.#playOut();
    const sent = await finishSpeaker(this.#sender, sending);
    if (sending !== undefined) await delay(writtenMs);
    const received = await finishSpeaker(this.#receiver, receiving);
    const { statistics } = await this.#relay.finish();
    return { roles: this.roles, far: this.#far, sent, received, relay: statistics };
  }

  /** The same while the stream goes on; `copiedBytes` tells how much of it there was until now. */
  async cut(copiedBytes: () => Promise<number>): Promise<Outcome> {
    const receiving = connectedState(this.#receiver);
    const cutAtBytes = await copiedBytes();
    await this.#sender.interrupt();
    await this.#playOut();
    const received = await finishSpeaker(this.#receiver, receiving);
    const { statistics } = await this.#relay.finish();
    const sent = undefined;
    return { roles: this.roles, far: this.#far, sent, received, relay: statistics, cutAtBytes };
  }
}

/** Our own statistics while connected, and at the end. */
interface OurEnd {
  readonly connected: RouteStatistics;
  readonly last: RouteStatistics;
}

function connectedState(speaker: Peer): RouteStatistics | undefined {
  return speaker instanceof Route ? speaker.latest() : undefined;
}

async function finishSpeaker(
  speaker: Peer,
  connected: RouteStatistics | undefined,
): Promise<OurEnd | undefined> {
  if (speaker instanceof Route && connected !== undefined) {
    return { connected, last: await speaker.finish() };
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
  /** What the source had sent when the sender was cut off; undefined when it was not. */
  readonly cutAtBytes?: number;
}

/** The longest time for which the machine did not let the relay do its work. */
export function pauseOf({ relay }: Outcome): number {
  return relay.lateness_max_ns / 1e6;
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
    roles.map((each, index) => Transfer.start(stage, `transfer ${index + 1}`, each)),
  );
  // ffmpeg calls when it has got something to send, and ends when it gets more.
  const byFfmpeg = transfers.filter((transfer) => transfer.roles.sender === "ffmpeg");
  const others = transfers.filter((transfer) => transfer.roles.sender !== "ffmpeg");
  await Promise.all(others.map((transfer) => transfer.connected()));
  const outputs = transfers.map(({ port }) => `udp://127.0.0.1:${port}`);
  const source = await stage.route("source", `${clip}${rateBps}`, ...outputs, copy);
  await Promise.all(byFfmpeg.map((transfer) => transfer.connected()));
  await delay(1000 * seconds);
  const copiedBytes = async (): Promise<number> => (await Deno.stat(copy)).size;
  const outcomes = await Promise.all(byFfmpeg.map((transfer) => transfer.cut(copiedBytes)));
  assert.deepEqual((await source.finish()).faults, []);
  outcomes.push(...await Promise.all(others.map((transfer) => transfer.finish())));
  return { copy, outcomes };
}

/**
 * A lost last packet opens no gap, so no receiver asks for it, and libsrt repeats nothing unasked: of
 * what it sent, the last three SRT packets may be missing. Of ours, none may.
 */
const libsrtTailPackets = 3 * 7;

/** Checks that a transfer is bit-exact although packets were lost; the figures in a line. */
export async function judge(copy: string, outcome: Outcome, seconds: number): Promise<string> {
  const sent = await Deno.readFile(copy);
  const tailPackets = outcome.cutAtBytes === undefined
    ? (outcome.roles.sender === "srt-live-transmit" ? libsrtTailPackets : 0)
    : (sent.length - outcome.cutAtBytes) / 188 +
      (outcome.roles.path.latencyMs + withinMs) * packetsPerMs;
  const received = await Deno.readFile(outcome.far);
  const { difference, packets, before } = compare(sent, received, {
    tailPackets,
    gapsInTail: outcome.cutAtBytes !== undefined,
  });
  assert.equal(difference, undefined);
  assert.ok(before <= lateMs * packetsPerMs, `it begins ${before} TS packets late`);
  const least = 0.9 * 1000 * seconds * packetsPerMs;
  assert.ok(packets >= least, `${packets} TS packets received, at least ${least} expected`);
  return `${packets} TS packets in ${seconds} s bit-exact; ${figures(outcome)}`;
}

/**
 * How many losses may stay unrepaired. ffmpeg closes at once, so what its last round trip lost (1 %
 * of some 80 packets) is not sent again; the comparison of the bytes says that they lie there.
 */
function maxUnrepaired({ sender }: Roles): number {
  return sender === "ffmpeg" ? 10 : 0;
}

/** The counters of our own programs and of the relay: losses happened and were repaired. */
function figures({ roles, sent, received, relay }: Outcome): string {
  const forward = roles.caller === "sender";
  const [dataSent, dataLost, reportsLost] = forward
    ? [relay.forward_packets, relay.forward_lost, relay.backward_lost]
    : [relay.backward_packets, relay.backward_lost, relay.forward_lost];
  // A quarter of what is expected: more than five standard deviations in the shortest run.
  assert.ok(
    dataLost > 0.25 * roles.path.lossShare * dataSent,
    `only ${dataLost} of ${dataSent} lost`,
  );
  const parts = [`lost by the path ${dataLost} of ${dataSent}, reports ${reportsLost}`];
  if (sent !== undefined) {
    const link = checkLink(sent, roles.path);
    assert.ok(link.packets_retransmitted >= dataLost / 2, "losses were not repeated");
    assert.equal(link.packets_send_dropped, 0);
    parts.push(`sender: retransmitted ${link.packets_retransmitted}`);
  }
  if (received !== undefined) {
    const link = checkLink(received, roles.path);
    assert.ok(link.packets_receive_lost > 0, "no loss was seen");
    const unrepaired = link.packets_receive_lost - link.packets_recovered;
    assert.ok(unrepaired >= 0 && unrepaired <= maxUnrepaired(roles), `${unrepaired} not repaired`);
    assert.ok(link.packets_receive_dropped <= unrepaired);
    const { packets_receive_lost, packets_recovered } = link;
    parts.push(`receiver: lost ${packets_receive_lost}, recovered ${packets_recovered}`);
  }
  return parts.join("; ");
}

function checkLink({ connected, last }: OurEnd, { oneWayMs }: Path): LinkStatistics {
  const { rtt_ns } = linkOf(connected);
  assert.ok(rtt_ns >= 1.95e6 * oneWayMs, `round trip of ${rtt_ns} ns`);
  assert.deepEqual(last.faults, []);
  assert.equal(last.input.statistics.dropped_kernel, 0);
  const link = linkOf(last);
  assert.equal(link.connections, 1);
  return link;
}
