import assert from "node:assert/strict";
import { load } from "./ffi.ts";
import { encodeText, Native } from "./native.ts";

const library = load();

Deno.test("texts end with NUL and hold none", () => {
  assert.deepEqual(encodeText("né"), new Uint8Array([0x6e, 0xc3, 0xa9, 0]));
  assert.throws(() => encodeText("a\0b"), TypeError);
});

Deno.test("a negative result becomes an exception, with a sentence where there is one", async () => {
  const native = new Native(library, "thing");
  assert.equal(native.unwrap(7), 7);
  assert.throws(() => native.unwrap(-2), { name: "LS_EHANDLE", code: -2 });
  const write = (text: Uint8Array, sentence: string): number => {
    new TextEncoder().encodeInto(`${sentence}\0`, text);
    return -1;
  };
  assert.throws(() => native.call((_, text) => write(text, "too loud")), { message: "too loud" });
  // An old sentence does not linger.
  assert.throws(() => native.call(() => -1), { name: "LS_EINVAL", message: /^(?!too loud)./ });
  assert.throws(() => native.handle((_, text) => BigInt(write(text, "none left"))), {
    message: "none left",
  });
  await assert.rejects(native.later((_, text) => Promise.resolve(write(text, "too late"))), {
    message: "too late",
  });
  assert.deepEqual(await native.later(() => Promise.resolve(3)), { result: 3, sentence: "" });
});

Deno.test("after a close there is no library", () => {
  const native = new Native(library, "thing");
  native.closed = true;
  assert.throws(() => native.library, { name: "LS_EHANDLE", message: "the thing is closed" });
});
