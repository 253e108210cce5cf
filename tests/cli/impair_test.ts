// The impairment relay as a program.
import assert from "node:assert/strict";
import { UdpSocket } from "../../src/engine/udp_testing.ts";
import { App, delay, freePort, run } from "./app.ts";

Deno.test("datagrams go to the target and back, later by the delay", async () => {
  await using target = await UdpSocket.open();
  await using client = await UdpSocket.open();
  const port = freePort();
  const flags = ["--forward-delay=80ms", "--backward-delay=20ms", "--seed=5"];
  await using relay = App.start([
    "impair",
    `127.0.0.1:${port}`,
    `127.0.0.1:${target.port}`,
    ...flags,
  ]);
  for (let number = 0; target.waiting === 0; number++) {
    assert.ok(number < 200, "nothing arrives");
    await client.send(new Uint8Array([255]), port);
    await delay(100);
  }
  await delay(200);
  while (target.waiting > 0) await target.receive();

  const began = performance.now();
  await client.send(new Uint8Array([1, 2, 3]), port);
  assert.deepEqual(await target.receive(), new Uint8Array([1, 2, 3]));
  const forwardMs = performance.now() - began;
  assert.ok(forwardMs > 79 && forwardMs < 200, `${forwardMs} ms`);

  relay.signal("SIGINT");
  const { code, stdout, stderr } = await relay.end();
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    new RegExp(
      `^impair 127\\.0\\.0\\.1:${port} to 127\\.0\\.0\\.1:${target.port}: ` +
        "forward-delay=80ms backward-delay=20ms seed=5\n" +
        "0:00:0\\d; forward \\d+ packets: lost 0 \\(0 %\\), .*\n$",
    ),
  );
});

Deno.test("one seed loses the same packets, another seed others", async () => {
  const lost = async (seed: string): Promise<string> => {
    await using target = await UdpSocket.open();
    await using client = await UdpSocket.open();
    const port = freePort();
    const args = [`127.0.0.1:${port}`, `127.0.0.1:${target.port}`, "--loss=20%", `--seed=${seed}`];
    await using relay = App.start(["impair", ...args, "--json"]);
    // The line is printed when the relay is open; datagrams before it would not be counted.
    while (!relay.stdout.includes("start")) await delay(10);
    for (let number = 0; number < 200; number++) {
      await client.send(new Uint8Array([number >>> 8, number & 255]), port);
      if (number % 20 === 19) await delay(2);
    }
    await delay(300);
    relay.signal("SIGTERM");
    const { code, stdout } = await relay.end();
    assert.equal(code, 0);
    const { statistics } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    assert.equal(statistics.forward_packets, 200);
    assert.equal(statistics.forward_lost, 200 - target.waiting);
    const arrived = new Set<number>();
    while (target.waiting > 0) {
      const [high = 0, low = 0] = await target.receive();
      arrived.add(high << 8 | low);
    }
    return Array.from({ length: 200 }, (_, number) => arrived.has(number) ? "." : "x").join("");
  };
  const first = await lost("7");
  assert.equal(await lost("7"), first);
  assert.notEqual(await lost("8"), first);
  assert.ok(first.split("x").length > 20);
});

Deno.test("without a seed it takes one and says which", async () => {
  const seeds = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const args = [`127.0.0.1:${freePort()}`, "127.0.0.1:9", "--for=50ms"];
    const { code, stdout, stderr } = await run(["impair", ...args]);
    assert.equal(code, 0, stderr);
    seeds.add(/no impairment seed=(\d+)/.exec(stdout)?.[1] ?? "");
  }
  assert.equal(seeds.size, 2);
});

Deno.test("an address that is in use is told", async () => {
  const port = freePort();
  await using first = App.start(["impair", `127.0.0.1:${port}`, "127.0.0.1:9"]);
  while (!first.stdout.includes("impair")) await delay(10);
  const { code, stdout, stderr } = await run(["impair", `127.0.0.1:${port}`, "127.0.0.1:9"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, new RegExp(`error: .*127\\.0\\.0\\.1:${port}.*in use`));
});
