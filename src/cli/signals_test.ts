import assert from "node:assert/strict";
import { SignalCounter, withSignals } from "./signals.ts";

Deno.test("the first signal stops, a double one is the same, a later one forces", () => {
  const counter = new SignalCounter();
  const states = (): boolean[] => [
    counter.stopping.stop.aborted,
    counter.stopping.force.aborted,
  ];
  assert.deepEqual(states(), [false, false]);
  counter.signal(5000);
  assert.deepEqual(states(), [true, false]);
  counter.signal(5999);
  assert.deepEqual(states(), [true, false]);
  counter.signal(6000);
  assert.deepEqual(states(), [true, true]);
});

Deno.test("listeners are taken away again, whatever happens", async () => {
  // The sanitizer of resources fails the test if one is left.
  assert.equal(await withSignals((stopping) => Promise.resolve(stopping.stop.aborted)), false);
  await assert.rejects(withSignals(() => Promise.reject(new Error("x"))), /x/);
});
