import assert from "node:assert/strict";
import { Engine, load, LockstepError, type Relay } from "../engine/mod.ts";
import { onFreePort } from "./demo_chain.ts";

load(); // outside the tests: the library stays loaded

function relayOn(engine: Engine, port: number): Relay {
  const relay = engine.openRelay();
  relay.option("local", `127.0.0.1:${port}`);
  relay.option("target", "127.0.0.1:9");
  return relay;
}

Deno.test("a port that is in use is passed over, and what failed on it is closed", async () => {
  await using engine = Engine.open();
  const first = await onFreePort((port) => Promise.resolve({ owner: relayOn(engine, port) }));
  const made: Relay[] = [];
  const second = await onFreePort((port) => {
    made.push(relayOn(engine, made.length === 0 ? first.port : port));
    return Promise.resolve({ owner: made.at(-1) as Relay });
  });
  assert.ok(made.length >= 2);
  assert.equal(second.owner, made.at(-1));
  assert.notEqual(second.port, first.port);
  assert.throws(() => made[0]?.statistics(), { name: "LS_EHANDLE" });
  second.owner.statistics();
});

Deno.test("it gives up when no port is free, and at once for another reason", async () => {
  const stage = (error: Error): { calls: string[]; owner: { start(): void; close(): void } } => {
    const calls: string[] = [];
    const start = (): void => {
      calls.push("start");
      throw error;
    };
    return { calls, owner: { start, close: () => calls.push("close") } };
  };
  const taken = stage(new LockstepError("LS_ESYSTEM", -7, "cannot bind: Address already in use"));
  await assert.rejects(onFreePort(() => Promise.resolve(taken)), { name: "LS_ESYSTEM" });
  assert.equal(taken.calls.length, 40);

  const wrong = stage(new LockstepError("LS_EINVAL", -1, "no"));
  await assert.rejects(onFreePort(() => Promise.resolve(wrong)), { name: "LS_EINVAL" });
  assert.deepEqual(wrong.calls, ["start", "close"]);
});
