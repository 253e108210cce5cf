import assert from "node:assert/strict";
import { decodeEvent, nameOf } from "./event.ts";
import { eventSize, flowStates } from "./symbols.ts";

function block(kind: number, code: number, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(eventSize);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, kind, true);
  view.setInt32(4, code, true);
  view.setBigInt64(8, 0x1_0000_0002n, true);
  view.setInt32(16, -1, true);
  view.setBigInt64(24, 1_790_000_000_123_456_789n, true);
  new TextEncoder().encodeInto(text, bytes.subarray(32));
  return bytes;
}

Deno.test("events", () => {
  const event = decodeEvent(block(2, 3, "the peer fell silent"));
  assert.deepEqual({ ...event, atMs: Math.round(event.atMs * 1000) / 1000 }, {
    kind: "link_state",
    state: "broken",
    handle: 0x1_0000_0002n,
    index: -1,
    atMs: 1_790_000_000_123.457,
    text: "the peer fell silent",
  });
  assert.deepEqual(decodeEvent(block(4, 7, "")).kind, "lost");
});

Deno.test("a text that fills its field, and one that ends inside a character", () => {
  assert.equal(decodeEvent(block(3, 0, "x".repeat(224))).text.length, 224);
  const cut = decodeEvent(block(3, 0, "€".repeat(80))).text;
  assert.ok(cut.startsWith("€".repeat(74)));
});

Deno.test("numbers that the header does not have", () => {
  assert.throws(() => decodeEvent(block(99, 0, "")), RangeError);
  assert.throws(() => decodeEvent(block(1, 9, "")), RangeError);
  assert.equal(nameOf(flowStates, 2), "draining");
});
