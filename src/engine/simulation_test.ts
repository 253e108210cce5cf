import assert from "node:assert/strict";
import { load } from "./ffi.ts";
import { Simulation } from "./simulation.ts";

const library = load();
const second = 1e9;

async function lossy(seed: string): Promise<Simulation> {
  const simulation = Simulation.open(library);
  simulation.option("seed", seed);
  simulation.option("rate_bps", "1000000");
  assert.equal(simulation.addLink(), 0);
  simulation.optionOf(0, "delay_ns", "20000000");
  simulation.optionOf(0, "loss", "0.02");
  assert.deepEqual(await simulation.run(30 * second), { goesOn: true, violation: undefined });
  return simulation;
}

Deno.test("a run is counted, ends, and is the same with the same seed", async () => {
  await using first = await lossy("5");
  await using again = await lossy("5");
  await using other = await lossy("6");
  assert.deepEqual(first.statistics(), again.statistics());
  assert.deepEqual(first.statisticsOf(0, "receiver"), again.statisticsOf(0, "receiver"));
  assert.notDeepEqual(first.statisticsOf(0, "receiver"), other.statisticsOf(0, "receiver"));
  first.finish();
  assert.deepEqual(await first.run(10 * second), { goesOn: false, violation: undefined });
  const { sent, delivered, lost, latency_first_ns: latencyNs } = first.statistics();
  assert.ok(sent > 2800 && sent < 2900, `${sent}`);
  assert.equal(delivered + lost, sent);
  assert.ok(Math.abs(latencyNs - 140e6) < 2000, `${latencyNs} ns`);
  const receiver = first.statisticsOf(0, "receiver");
  assert.ok(receiver.packets_recovered > 20);
  assert.ok(first.statisticsOf(0, "sender").packets_retransmitted >= receiver.packets_recovered);
});

Deno.test("a broken rule is said, and the simulation stands still", async () => {
  await using simulation = Simulation.open(library);
  simulation.option("loss_allowed", "false");
  simulation.addLink();
  simulation.optionOf(0, "loss", "0.3");
  const { goesOn, violation } = await simulation.run(60 * second);
  assert.equal(goesOn, false);
  assert.match(violation ?? "", /^a packet was lost, at \d+\.\d{9} s$/);
  assert.equal(simulation.statistics().violated, 1);
});

Deno.test("what is not accepted is an error with its sentence", async () => {
  const simulation = Simulation.open(library);
  await assert.rejects(simulation.run(1), { name: "LS_EINVAL", message: /at least one link/ });
  assert.throws(() => simulation.option("no_such_option", "1"), { name: "LS_EOPTION" });
  assert.throws(() => simulation.option("a\0b", "1"), TypeError);
  assert.throws(() => simulation.optionOf(3, "loss", "0"), { name: "LS_EINDEX" });
  assert.throws(() => simulation.finish(), { name: "LS_ESTATE" });
  await simulation.close();
  await simulation.close();
  assert.throws(() => simulation.statistics(), { name: "LS_EHANDLE", message: /simulation/ });
});

Deno.test("nothing else is called while it runs, and a close waits for the end", async () => {
  const simulation = Simulation.open(library);
  simulation.addLink();
  const running = simulation.run(20 * second);
  assert.throws(() => simulation.statistics(), TypeError);
  await assert.rejects(simulation.run(1), TypeError);
  const closing = simulation.close();
  assert.equal((await running).goesOn, true);
  await closing;
});
