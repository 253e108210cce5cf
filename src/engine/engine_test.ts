import assert from "node:assert/strict";
import { Engine } from "./engine.ts";
import { LockstepError } from "./errors.ts";
import { load } from "./ffi.ts";
import { eventSize, type Library } from "./symbols.ts";
import { freePort, UdpSocket } from "./udp_testing.ts";

/** Records calls, and answers as the header says; waits end when the test says so. */
class Recorder {
  readonly calls: string[] = [];
  readonly waits: PromiseWithResolvers<number>[] = [];
  waitBlock: Uint8Array | undefined;
  /** Results by function, where not 0 or the next handle. */
  readonly results: Record<string, number> = {};
  sentence = "";
  #next = 0x1_0000_0001n;

  #result(name: string, err?: AllowSharedBufferSource | null): number {
    this.calls.push(name);
    if (err instanceof Uint8Array) new TextEncoder().encodeInto(`${this.sentence}\0`, err);
    return this.results[name] ?? 0;
  }

  #handle(name: string): bigint {
    const result = this.#result(name);
    return result < 0 ? BigInt(result) : this.#next++;
  }

  readonly library: Library = {
    ls_abi_version: () => 1,
    ls_layout_hash: () => 0,
    ls_error_describe: (code, buffer) => {
      const text = code === -1 ? "LS_EINVAL: not accepted\0" : "LS_ESTATE: not in this state\0";
      assert.ok(buffer instanceof Uint8Array);
      return new TextEncoder().encodeInto(text, buffer).written;
    },
    ls_engine_open: () => this.#handle("engine_open"),
    ls_flow_open: () => this.#handle("flow_open"),
    ls_relay_open: () => this.#handle("relay_open"),
    ls_endpoint_add: (_flow, direction, kind) => this.#result(`endpoint_add ${direction} ${kind}`),
    ls_link_add: (_flow, endpoint) => this.#result(`link_add ${endpoint}`),
    ls_option: (_handle, index, name, value, err) => {
      const text = (bytes: AllowSharedBufferSource | null): string =>
        bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : "";
      return this.#result(`option ${index} ${text(name)} ${text(value)}`, err);
    },
    ls_start: (_handle, err) => this.#result("start", err),
    ls_stop: () => this.#result("stop"),
    ls_close: (handle) => this.#result(`close ${handle}`),
    ls_event_wait: (_engine, block) => {
      this.calls.push("event_wait");
      assert.ok(block instanceof Uint8Array);
      this.waitBlock = block;
      const wait = Promise.withResolvers<number>();
      this.waits.push(wait);
      return wait.promise;
    },
    ls_stats: (_handle, scope, index) => this.#result(`stats ${scope} ${index}`),
    ls_simulation_open: () => this.#handle("simulation_open"),
    ls_simulation_link_add: () => this.#result("simulation_link_add"),
    ls_simulation_option: (_simulation, index, _name, _value, err) =>
      this.#result(`simulation_option ${index}`, err),
    ls_simulation_run: (_simulation, spanNs, err) =>
      Promise.resolve(this.#result(`simulation_run ${spanNs}`, err)),
    ls_simulation_finish: () => this.#result("simulation_finish"),
    ls_simulation_stats: (_simulation, scope, index) =>
      this.#result(`simulation_stats ${scope} ${index}`),
    ls_simulation_close: (simulation) => this.#result(`simulation_close ${simulation}`),
  };
}

Deno.test("handles, options and errors pass through", async () => {
  const recorder = new Recorder();
  await using engine = Engine.open(2, recorder.library);
  const flow = engine.openFlow();
  assert.equal(flow.addEndpoint("input", "srt"), 0);
  flow.addLink(0);
  flow.option("name", "café");
  flow.optionOf(3, "latency", "1");
  flow.start();
  assert.deepEqual(recorder.calls, [
    "engine_open",
    "flow_open",
    "endpoint_add 1 2",
    "link_add 0",
    "option -1 name\0 café\0",
    "option 3 latency\0 1\0",
    "start",
  ]);
  assert.throws(() => flow.option("a\0b", "1"), TypeError);

  recorder.results["start"] = -1;
  recorder.sentence = "input: an address is missing";
  assert.throws(() => flow.start(), (error) => {
    assert.ok(error instanceof LockstepError);
    assert.deepEqual([error.name, error.code, error.message], [
      "LS_EINVAL",
      -1,
      "input: an address is missing",
    ]);
    return true;
  });
  // Without a sentence, the error's own text; an old sentence does not linger.
  recorder.sentence = "";
  assert.throws(() => flow.start(), { message: "not accepted" });
  recorder.results["stop"] = -5;
  assert.throws(() => flow.stop(), { name: "LS_ESTATE", message: "not in this state" });
});

Deno.test("nothing is called after a close", async () => {
  const recorder = new Recorder();
  const engine = Engine.open(1, recorder.library);
  const flow = engine.openFlow();
  const relay = engine.openRelay();
  flow.close();
  flow.close();
  assert.throws(() => flow.start(), { name: "LS_EHANDLE" });
  await engine.close();
  await engine.close();
  const calls = recorder.calls.length;
  relay.close();
  assert.throws(() => relay.start(), { name: "LS_EHANDLE" });
  assert.throws(() => engine.openFlow(), { name: "LS_EHANDLE" });
  assert.throws(() => engine.statistics(), { name: "LS_EHANDLE" });
  assert.equal(await engine.nextEvent(), undefined);
  assert.equal(recorder.calls.length, calls);
  assert.deepEqual(recorder.calls.filter((call) => call.startsWith("close")), [
    "close 4294967298",
    "close 4294967297",
  ]);
});

Deno.test("an engine is closed only after the wait for an event has ended", async () => {
  const recorder = new Recorder();
  const engine = Engine.open(1, recorder.library);
  const waiting = engine.nextEvent();
  await assert.rejects(engine.nextEvent(), TypeError);
  const closing = engine.close();
  await Promise.resolve();
  assert.ok(!recorder.calls.some((call) => call.startsWith("close")));
  recorder.waits[0]?.resolve(0);
  assert.equal(await waiting, undefined);
  await closing;
  assert.ok(recorder.calls.some((call) => call.startsWith("close")));
  assert.equal(recorder.waits.length, 1);
});

Deno.test("events find their owner; a time-out waits again; an abort ends it", async () => {
  const recorder = new Recorder();
  await using engine = Engine.open(1, recorder.library);
  const flow = engine.openFlow();
  const abort = new AbortController();
  const events = engine.events(abort.signal);
  const first = events.next();
  await Promise.resolve();
  recorder.waits[0]?.resolve(0);
  while (recorder.waits.length < 2) await Promise.resolve();
  const block = recorder.waitBlock;
  assert.ok(block !== undefined);
  assert.equal(block.length, eventSize);
  const view = new DataView(block.buffer);
  view.setUint32(0, 1, true);
  view.setInt32(4, 1, true);
  view.setBigInt64(8, 0x1_0000_0002n, true);
  recorder.waits[1]?.resolve(1);
  const { value } = await first;
  assert.ok(value && value.kind === "flow_state");
  assert.equal(value.owner, flow);
  assert.equal(value.state, "running");

  const second = events.next();
  await Promise.resolve();
  abort.abort();
  recorder.waits[2]?.resolve(0);
  assert.equal((await second).done, true);
});

// From here on with the real library.

const library = load();

Deno.test("the real library tells what it does not accept", async () => {
  assert.throws(() => Engine.open(0, library), { name: "LS_EINVAL" });
  await using engine = Engine.open(1, library);
  using flow = engine.openFlow();
  assert.throws(() => flow.option("no_such_option", "1"), { name: "LS_EOPTION" });
  assert.throws(() => flow.addLink(7), { name: "LS_EINDEX" });
  const input = flow.addEndpoint("input", "udp");
  assert.throws(() => flow.optionOf(input, "local", "nowhere"), {
    name: "LS_EINVAL",
    message: /local/,
  });
  assert.throws(() => flow.start(), LockstepError);
  assert.equal(engine.statistics().events_lost, 0);
});

Deno.test("the real library carries UDP, counts it, and ends in order", async () => {
  await using receiver = await UdpSocket.open();
  await using sender = await UdpSocket.open();
  await using engine = Engine.open(1, library);
  const flow = engine.openFlow();
  const input = flow.addEndpoint("input", "udp");
  const output = flow.addEndpoint("output", "udp");
  const port = freePort();
  flow.optionOf(input, "local", `127.0.0.1:${port}`);
  flow.optionOf(output, "remote", `127.0.0.1:${receiver.port}`);
  flow.start();
  const states: string[] = [];
  const ended = (async (): Promise<void> => {
    for await (const event of engine.events()) {
      assert.equal(event.owner, flow);
      assert.ok(Math.abs(event.atMs - Date.now()) < 60_000);
      if (event.kind === "flow_state") states.push(event.state);
      if (states.at(-1) === "ended") return;
    }
  })();
  for (let number = 0; number < 100; number++) {
    const payload = new Uint8Array(1316).fill(number);
    await sender.send(payload, port);
    assert.deepEqual(await receiver.receive(), payload);
  }
  // Statistics are at most 50 ms old.
  await new Promise((resolve) => setTimeout(resolve, 120));
  assert.equal(flow.statisticsOf("endpoint", input).packets, 100);
  assert.equal(flow.statisticsOf("endpoint", output).bytes, 131_600);
  assert.equal(flow.statistics().state, 1);
  assert.ok(flow.statistics().running_ns > 100e6);
  flow.stop();
  await ended;
  assert.deepEqual(states, ["running", "draining", "ended"]);
  assert.equal(flow.statistics().state, 3);
});

Deno.test("the real library survives flows that are dropped in every state", async () => {
  for (let round = 0; round < 5; round++) {
    await using engine = Engine.open(2, library);
    const waiting = engine.nextEvent();
    for (let number = 0; number < 10; number++) {
      const flow = engine.openFlow();
      const input = flow.addEndpoint("input", "udp");
      const output = flow.addEndpoint("output", "udp");
      flow.optionOf(input, "local", `127.0.0.1:${freePort()}`);
      flow.optionOf(output, "remote", "127.0.0.1:9");
      if (number % 3 > 0) flow.start();
      if (number % 3 > 1) flow.stop();
      if (number % 2 > 0) flow.close();
    }
    await engine.close();
    await waiting;
  }
});
