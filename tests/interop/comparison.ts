/**
 * Compares what was sent with what arrived, packet by packet, and says where and how they first
 * differ.
 *
 * Bit-exact means: identical and without a gap from the first whole TS packet that was received to
 * the last one that was sent.
 *
 * @module
 */

const packetBytes = 188;
const sync = 0x47;
/** How many packets show how a difference goes on; fewer could match by chance (null packets). */
const witnessPackets = 21;
/** How far a gap, a repetition or an insertion is looked for. */
const maxShiftPackets = 200_000;

/** What a comparison found. */
export interface Comparison {
  /** Undefined when the received is bit-exact; else what is wrong with it, in a sentence. */
  readonly difference?: string;
  /** Whole packets received. */
  readonly packets: number;
  /** Packets that were sent before the first one received. */
  readonly before: number;
}

/** What may be missing by right. */
export interface Allowance {
  /** Packets at the end of the sent that need not have arrived; 0 unless given. */
  readonly tailPackets?: number;
  /**
   * Whether there may be gaps in that end too: a peer that closes without lingering repairs nothing
   * of its last latency. What follows the first gap in it is not judged.
   */
  readonly gapsInTail?: boolean;
}

/** TS packets in one piece of memory. */
class Packets {
  readonly #bytes: Uint8Array;
  readonly #at: number;
  readonly count: number;

  /** The whole packets from the first one on. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#at = firstPacket(bytes);
    this.count = Math.floor((bytes.length - this.#at) / packetBytes);
  }

  get strayBytes(): number {
    return this.#bytes.length - packetBytes * this.count;
  }

  packet(index: number): Uint8Array {
    const at = this.#at + packetBytes * index;
    return this.#bytes.subarray(at, at + packetBytes);
  }

  /** How many packets from `index` on are those of `other` from `otherIndex` on, up to `most`. */
  run(index: number, other: Packets, otherIndex: number, most: number): number {
    const end = Math.min(most, this.count - index, other.count - otherIndex);
    for (let n = 0; n < end; n++) {
      if (!equal(this.packet(index + n), other.packet(otherIndex + n))) return n;
    }
    return Math.max(0, end);
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  for (let at = 0; at < packetBytes; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Where the first whole packet begins: its sync byte comes again at the packet's length. */
function firstPacket(bytes: Uint8Array): number {
  const last = Math.min(packetBytes, bytes.length);
  for (let at = 0; at < last; at++) {
    let next = at;
    while (next < bytes.length && next < at + 5 * packetBytes && bytes[next] === sync) {
      next += packetBytes;
    }
    if (next >= Math.min(bytes.length, at + 5 * packetBytes)) return at;
  }
  return 0;
}

/**
 * Compares a received stream with the sent one.
 *
 * @example
 * ```ts
 * import { compare } from "./comparison.ts";
 * import assert from "node:assert/strict";
 *
 * const sent = new Uint8Array(1000 * 188).map((_, at) => at % 188 === 0 ? 0x47 : at * at >> 7);
 * assert.deepEqual(compare(sent, sent.subarray(7 * 188)), { packets: 993, before: 7 });
 * ```
 */
export function compare(
  sentBytes: Uint8Array,
  receivedBytes: Uint8Array,
  { tailPackets = 0, gapsInTail = false }: Allowance = {},
): Comparison {
  const sent = new Packets(sentBytes);
  const received = new Packets(receivedBytes);
  const wrong = (difference: string, before = 0): Comparison => ({
    difference,
    packets: received.count,
    before,
  });
  if (received.count === 0) return wrong("nothing was received");
  const start = find(received, 0, sent);
  if (start === undefined) {
    return wrong("the first packet received was never sent, or is one of many that look alike");
  }
  const same = received.run(0, sent, start, received.count);
  const judged = sent.count - tailPackets;
  const inTail = start + same >= judged && start + same < sent.count;
  if (same < received.count && inTail && gapsInTail) return { packets: same, before: start };
  if (same < received.count) return wrong(describe(sent, start + same, received, same), start);
  const missing = sent.count - start - received.count;
  if (missing > tailPackets) {
    return wrong(`missing at the end: ${packetsText(missing)}; allowed: ${tailPackets}`, start);
  }
  if (received.strayBytes >= packetBytes) {
    return wrong(`${received.strayBytes} bytes are of no packet`, start);
  }
  return { packets: received.count, before: start };
}

function packetsText(count: number): string {
  return count === 1 ? "1 TS packet" : `${count} TS packets`;
}

/** The only place in the sent where the packets received from `index` on are; else undefined. */
function find(received: Packets, index: number, sent: Packets): number | undefined {
  const wanted = Math.min(witnessPackets, received.count - index);
  let found: number | undefined;
  for (let at = 0; at + wanted <= sent.count; at++) {
    if (received.run(index, sent, at, wanted) < wanted) continue;
    if (found !== undefined) return undefined;
    found = at;
  }
  return found;
}

/** How a stream goes on after the first packet that differs. */
function describe(sent: Packets, sentIndex: number, received: Packets, index: number): string {
  const where = `at TS packet ${index} of the received, ${sentIndex} of the sent: `;
  if (sentIndex === sent.count) return `${where}it goes on although nothing more was sent`;
  for (let shift = 1; shift <= maxShiftPackets; shift++) {
    const text = shifted(sent, sentIndex, received, index, shift);
    if (text !== undefined) return `${where}${text}`;
  }
  return `${where}${altered(sent.packet(sentIndex), received.packet(index))}`;
}

/** Whether it goes on `shift` packets further on or back. */
function shifted(
  sent: Packets,
  sentIndex: number,
  received: Packets,
  index: number,
  shift: number,
): string | undefined {
  const most = witnessPackets;
  const goesOn = (from: number, to: number): boolean => {
    const length = Math.min(most, received.count - from, sent.count - to);
    return length > 0 && received.run(from, sent, to, length) === length;
  };
  if (goesOn(index, sentIndex + shift)) return `missing: ${packetsText(shift)}`;
  if (sentIndex >= shift && goesOn(index, sentIndex - shift)) {
    return `repeated: ${packetsText(shift)}`;
  }
  if (goesOn(index + shift, sentIndex)) return `in between: ${packetsText(shift)}`;
  if (goesOn(index + shift, sentIndex + shift)) {
    const bytes = altered(sent.packet(sentIndex), received.packet(index));
    return `altered: ${packetsText(shift)}; ${bytes}`;
  }
  return undefined;
}

function altered(sent: Uint8Array, received: Uint8Array): string {
  const places = [...sent.keys()].filter((at) => sent[at] !== received[at]);
  const [first = 0] = places;
  const hex = (byte = 0): string => byte.toString(16).padStart(2, "0");
  return `byte ${first} is ${hex(received[first])} instead of ${hex(sent[first])}, ` +
    `${places.length} differ in the packet`;
}
