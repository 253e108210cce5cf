import assert from "node:assert/strict";
import { Engine, type EngineEvent, type Flow, load } from "../engine/mod.ts";
import { freePort } from "../engine/udp_testing.ts";
import { FlowSession, Timer, waitForEnd } from "./session.ts";
import { SignalCounter } from "./signals.ts";

const library = load();

/** A flow that only waits for datagrams. */
function udpFlow(engine: Engine): Flow {
  const flow = engine.openFlow();
  const input = flow.addEndpoint("input", "udp");
  const output = flow.addEndpoint("output", "udp");
  flow.optionOf(input, "local", `127.0.0.1:${freePort()}`);
  flow.optionOf(output, "remote", "127.0.0.1:9");
  return flow;
}

Deno.test("several flows end one by one, and each end is told", async () => {
  const events: EngineEvent[] = [];
  await using session = new FlowSession(Engine.open(2, library), (event) => events.push(event));
  const flows = [udpFlow(session.engine), udpFlow(session.engine)];
  for (const flow of flows) flow.start();
  for (const flow of flows) {
    assert.equal(await session.stop(flow), true);
    assert.equal(await session.ended(flow), "stopped");
  }
  for (const flow of flows) {
    const states = events.filter(({ owner }) => owner === flow).map((event) =>
      event.kind === "flow_state" ? event.state : event.kind
    );
    assert.deepEqual(states, ["running", "draining", "ended"]);
  }
});

Deno.test("a flow runs until it is told to stop, until its time is over, and ticks meanwhile", async () => {
  await using session = new FlowSession(Engine.open(1, library), () => {});
  for (const how of ["signal", "time"]) {
    const flow = udpFlow(session.engine);
    flow.start();
    const counter = new SignalCounter();
    let ticks = 0;
    const end = await waitForEnd(session, flow, {
      stopping: counter.stopping,
      forMs: how === "time" ? 80 : undefined,
      everyMs: 10,
      tick: () => {
        if (++ticks === 3 && how === "signal") counter.signal(0);
      },
    });
    assert.deepEqual(end, { kind: "stopped" });
    assert.ok(ticks >= 3, `${ticks}`);
    flow.close();
  }
});

Deno.test("a flow that is cut short is told so", async () => {
  await using session = new FlowSession(Engine.open(1, library), () => {});
  const relay = session.engine.openRelay();
  // Never started, so its end never comes: as a flow that hangs.
  const force = AbortSignal.abort();
  const hanging = Object.create(relay, { stop: { value: () => {} } });
  assert.equal(await session.stop(hanging, force), false);
});

Deno.test("timers", async () => {
  const abort = new AbortController();
  using never = new Timer(Number.POSITIVE_INFINITY, abort.signal);
  using soon = new Timer(5);
  await soon.over;
  abort.abort();
  await never.over;
  using already = new Timer(60_000, abort.signal);
  await already.over;
});
