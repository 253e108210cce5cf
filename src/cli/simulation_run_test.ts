import assert from "node:assert/strict";
import { readScenario } from "../config/scenario.ts";
import { load } from "../engine/mod.ts";
import { nextStretch, runScenario } from "./simulation_run.ts";

load();

const scenario = readScenario(`
stream: { rate: 1Mbps }
links: [{ delay: 20ms, loss: 2% }, { name: slow, delay: 50ms }]
`);

Deno.test("it runs to its end, and delivers what is under way", async () => {
  const times: number[] = [];
  const run = await runScenario(scenario, {
    seed: 3,
    durationNs: 20e9,
    tick: (now) => times.push(now.virtual_ns),
  });
  assert.deepEqual([run.end, run.violation], ["ended", undefined]);
  const { sent, delivered, lost, virtual_ns: virtualNs } = run.statistics;
  assert.ok(sent > 1850 && delivered + lost === sent);
  assert.ok(virtualNs > 20e9 && virtualNs < 22e9, `${virtualNs}`);
  assert.deepEqual(run.links.map(({ name }) => name), ["A", "slow"]);
  assert.ok((run.links[0]?.receiver.packets_receive_lost ?? 0) > 10);
  assert.equal(run.links[1]?.receiver.rtt_ns, 100e6);
  assert.ok(times.length > 1 && times.includes(20e9));
});

Deno.test("it is stopped with the figures so far", async () => {
  const stopping = new AbortController();
  const run = await runScenario(scenario, {
    seed: 3,
    durationNs: 3600e9,
    stop: stopping.signal,
    tick: () => stopping.abort(),
  });
  assert.equal(run.end, "stopped");
  assert.ok(run.statistics.sent > 0 && run.statistics.virtual_ns < 3600e9);

  const early = await runScenario(scenario, {
    seed: 3,
    durationNs: 1e9,
    stop: AbortSignal.abort(),
  });
  assert.deepEqual([early.end, early.statistics.sent, early.links.length], ["stopped", 0, 2]);
});

Deno.test("a broken rule ends it", async () => {
  const strict = readScenario("rules: { loss: forbidden }\nlinks: [{ loss: 30%, delay: 50ms }]");
  const run = await runScenario(strict, { seed: 1, durationNs: 60e9 });
  assert.equal(run.end, "broken");
  assert.match(run.violation ?? "", /^a packet was lost, at /);
});

Deno.test("what only the library can refuse is a mistake in the scenario", async () => {
  const impossible = readScenario("links: [{ loss: 100% }]");
  const run = await runScenario(impossible, { seed: 1, durationNs: 60e9 });
  assert.deepEqual([run.end, run.statistics.sent], ["broken", 0]);
  const wrong = { ...impossible, options: [{ name: "rate_bps", value: "1" }] };
  await assert.rejects(runScenario(wrong, { seed: 1, durationNs: 1e9 }), {
    name: "ConfigError",
    message: /^scenario: .*rate_bps/,
  });
});

Deno.test("stretches approach a tenth of a second, by factors of two at most", () => {
  assert.equal(nextStretch(1e9, 100), 1e9);
  assert.equal(nextStretch(1e9, 0), 2e9);
  assert.equal(nextStretch(1e9, 125), 0.8e9);
  assert.equal(nextStretch(1e9, 10_000), 0.5e9);
  assert.equal(nextStretch(1e6, 10_000), 1e6);
  assert.equal(nextStretch(600e9, 1), 600e9);
});
