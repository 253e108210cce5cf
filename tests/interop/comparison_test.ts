import assert from "node:assert/strict";
import { compare } from "./comparison.ts";

const packetBytes = 188;

/** Packets with random contents and, now and then, a run of null packets that are all alike. */
function stream(count: number, seed: number): Uint8Array {
  let state = seed;
  const random = (): number => state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  const bytes = new Uint8Array(count * packetBytes).fill(0xff);
  for (let packet = 0; packet < count; packet++) {
    const at = packet * packetBytes;
    if (packet % 40 >= 30) bytes.set([0x47, 0x1f, 0xff, 0x10], at);
    else for (let i = 0; i < packetBytes; i++) bytes[at + i] = random() >>> 24;
    bytes[at] = 0x47;
  }
  return bytes;
}

const sent = stream(1000, 1);

function cut(from: number, to: number): Uint8Array {
  return sent.subarray(from * packetBytes, to * packetBytes);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function changed(at: number, byte: number): Uint8Array {
  const copy = sent.slice();
  copy[at] = byte;
  return copy;
}

Deno.test("a received stream is bit-exact from its first packet to the last one sent", () => {
  assert.deepEqual(compare(sent, sent), { packets: 1000, before: 0 });
  assert.deepEqual(compare(sent, cut(35, 1000)), { packets: 965, before: 35 });
  assert.deepEqual(compare(sent, cut(35, 990), { tailPackets: 10 }), { packets: 955, before: 35 });
  const withinPacket = sent.subarray(100);
  assert.deepEqual(compare(sent, withinPacket), { packets: 999, before: 1 });
});

Deno.test("a difference is said with its place and its kind", () => {
  const cases: [string, Uint8Array, string][] = [
    ["nothing", new Uint8Array(0), "nothing was received"],
    ["an end", cut(0, 998), "missing at the end: 2 TS packets; allowed: 0"],
    [
      "a gap",
      joined(cut(3, 100), cut(107, 1000)),
      "at TS packet 97 of the received, 100 of the sent: missing: 7 TS packets",
    ],
    [
      "a repetition",
      joined(cut(0, 107), cut(100, 1000)),
      "at TS packet 107 of the received, 107 of the sent: repeated: 7 TS packets",
    ],
    [
      "something foreign",
      joined(cut(0, 100), stream(3, 7), cut(100, 1000)),
      "at TS packet 100 of the received, 100 of the sent: in between: 3 TS packets",
    ],
    [
      "a byte",
      changed(500 * packetBytes + 9, 0xab),
      "at TS packet 500 of the received, 500 of the sent: altered: 1 TS packet; " +
      "byte 9 is ab instead of f7, 1 differ in the packet",
    ],
    [
      "too much",
      joined(sent, stream(1, 9)),
      "at TS packet 1000 of the received, 1000 of the sent: " +
      "it goes on although nothing more was sent",
    ],
    [
      "another stream",
      stream(100, 2),
      "the first packet received was never sent, or is one of many that look alike",
    ],
  ];
  for (const [name, received, difference] of cases) {
    assert.equal(compare(sent, received).difference, difference, name);
  }
});

Deno.test("null packets alone have no place", () => {
  assert.match(compare(sent, cut(30, 40)).difference ?? "", /look alike/);
});

Deno.test("a gap in the tail is allowed, one before it is not", () => {
  const gap = joined(cut(0, 100), cut(107, 1000));
  const said = "at TS packet 100 of the received, 100 of the sent: missing: 7 TS packets";
  const allowed = { tailPackets: 900, gapsInTail: true };
  assert.deepEqual(compare(sent, gap, allowed), { packets: 100, before: 0 });
  assert.equal(compare(sent, gap, { ...allowed, tailPackets: 899 }).difference, said);
  assert.equal(compare(sent, gap, { tailPackets: 900 }).difference, said);
  const tooMuch = joined(sent, stream(1, 9));
  assert.match(
    compare(sent, tooMuch, { tailPackets: 10, gapsInTail: true }).difference ?? "",
    /goes on/,
  );
});

Deno.test("less than the tail allows is not bit-exact", () => {
  const { difference } = compare(sent, cut(0, 989), { tailPackets: 10 });
  assert.equal(difference, "missing at the end: 11 TS packets; allowed: 10");
});
