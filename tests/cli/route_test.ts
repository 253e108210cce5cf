// Streams through the real program.
import assert from "node:assert/strict";
import { UdpSocket } from "../../src/engine/udp_testing.ts";
import { App, countingBytes, delay, freePort, run, withDirectory } from "./app.ts";

const clip = new URL("../../demo/clip.m2t", import.meta.url).pathname;

/** Objects of a JSON lines output. */
// deno-lint-ignore no-explicit-any -- a test looks into what it wants to see
function objects(stdout: string): any[] {
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("standard input to standard output, bit by bit, and nothing else there", async () => {
  const data = countingBytes(4_000_003);
  const { code, stdoutBytes, stderr } = await run(["route", "-", "-", "--stats-every=100ms"], {
    stdin: data,
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdoutBytes, data);
  assert.match(stderr, /ended: end of the input/);
  assert.match(stderr, /ended: \d:\d\d:\d\d, in .* out /);
});

Deno.test("a file to two files, one of them appended to", async () => {
  await withDirectory(async (path) => {
    const data = countingBytes(1_000_000);
    await Deno.writeFile(`${path}/in.bin`, data);
    await Deno.writeTextFile(`${path}/b.bin`, "before");
    const args = [`${path}/in.bin`, `${path}/a.bin`, `file://${path}/b.bin?append=yes`];
    const { code, stderr } = await run(["route", ...args]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await Deno.readFile(`${path}/a.bin`), data);
    const appended = await Deno.readFile(`${path}/b.bin`);
    assert.equal(new TextDecoder().decode(appended.subarray(0, 6)), "before");
    assert.deepEqual(appended.subarray(6), new Uint8Array(data));
  });
});

Deno.test("relative paths are those of the directory it is run in", async () => {
  await withDirectory(async (path) => {
    await Deno.writeFile(`${path}/in.bin`, countingBytes(1000));
    const { code, stderr } = await run(["route", "in.bin", "out.bin"], { cwd: path });
    assert.equal(code, 0, stderr);
    assert.deepEqual(await Deno.readFile(`${path}/out.bin`), countingBytes(1000));
  });
});

Deno.test("UDP to UDP until Ctrl-C: every datagram as it was, events and a summary as JSON", async () => {
  await using receiver = await UdpSocket.open();
  await using sender = await UdpSocket.open();
  const port = freePort();
  const args = [`udp://127.0.0.1:${port}`, `udp://127.0.0.1:${receiver.port}`];
  await using app = App.start(["route", ...args, "--json", "--stats-every=200ms"]);
  for (let number = 0; receiver.waiting === 0; number++) {
    assert.ok(number < 1000, "nothing arrives");
    await sender.send(new Uint8Array([255]), port);
    await delay(10);
  }
  while (receiver.waiting > 0) await receiver.receive();
  const sizes = [1, 188, 1316, 1456];
  for (const [number, size] of sizes.entries()) {
    const payload = new Uint8Array(size).fill(number + 1);
    await sender.send(payload, port);
    let arrived = await receiver.receive();
    while (arrived.length === 1 && arrived[0] === 255) arrived = await receiver.receive();
    assert.deepEqual(arrived, payload);
  }
  await delay(250);
  app.signal("SIGINT");
  const { code, stdout, stderr } = await app.end();
  assert.equal(code, 0, stderr);
  const lines = objects(stdout);
  assert.equal(lines[0].type, "start");
  assert.deepEqual(lines[0].outputs, [args[1]]);
  assert.deepEqual(
    lines.filter(({ type }) => type === "event").map(({ state }) => state),
    ["running", "draining", "ended"],
  );
  assert.ok(lines.some(({ type }) => type === "statistics"));
  const last = lines.at(-1);
  assert.deepEqual([last.type, last.ok, last.end, last.faults], ["summary", true, "stopped", []]);
  assert.equal(last.input.statistics.packets, last.outputs[0].statistics.packets);
  assert.ok(last.input.statistics.packets >= sizes.length);
});

Deno.test("Ctrl-C twice within a second is one, and SIGTERM and SIGHUP mean the same", async () => {
  for (const signals of [["SIGINT", "SIGINT"], ["SIGTERM"], ["SIGHUP"]] as const) {
    await using app = App.start(["route", `udp://127.0.0.1:${freePort()}`, "udp://127.0.0.1:9"]);
    await app.says("running");
    for (const signal of signals) app.signal(signal);
    const { code, stderr } = await app.end();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /ended: stopped/);
  }
});

Deno.test("a reader that goes away ends it in order", async () => {
  const script = `${Deno.execPath()} "$@" | head -n 2`;
  const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));
  const task = String(tasks.lockstep.command).split(" ").slice(1);
  const { code, stdout } = await new Deno.Command("timeout", {
    args: [
      "20",
      "sh",
      "-c",
      script,
      "sh",
      ...task,
      "route",
      `udp://127.0.0.1:${freePort()}`,
      "udp://127.0.0.1:9",
      "--json",
      "--stats-every=100ms",
    ],
    stderr: "null",
  }).output();
  assert.equal(code, 0);
  assert.equal(new TextDecoder().decode(stdout).trimEnd().split("\n").length, 2);
});

Deno.test("UDP to SRT to UDP by two processes, every datagram once and in order", async () => {
  await using receiver = await UdpSocket.open();
  await using sender = await UdpSocket.open();
  const [udp, srt] = [freePort(), freePort()];
  await using listener = App.start([
    "route",
    `srt://127.0.0.1:${srt}?mode=listener&latency=100ms&streamid=cam1`,
    `udp://127.0.0.1:${receiver.port}`,
    "--once",
  ]);
  await listener.says("listening");
  await using caller = App.start([
    "route",
    `udp://127.0.0.1:${udp}`,
    `srt://127.0.0.1:${srt}?latency=100ms&streamid=%23!::r=cam1,m=publish`,
  ]);
  await caller.says("connected");
  await listener.says("connected");
  const count = 2000;
  // Few enough at a time for the smallest socket buffer, however busy the machine is.
  const underWay = 40;
  for (let number = 0; number < count + underWay; number++) {
    if (number < count) {
      const payload = new Uint8Array(1316);
      new DataView(payload.buffer).setUint32(100, number);
      await sender.send(payload, udp);
    }
    if (number >= underWay) {
      const payload = await receiver.receive();
      assert.equal(payload.length, 1316);
      assert.equal(new DataView(payload.buffer).getUint32(100), number - underWay);
    }
  }
  caller.signal("SIGINT");
  assert.equal((await caller.end()).code, 0);
  // --once: the end of the connection is the end of the flow.
  const { code, stderr } = await listener.end();
  assert.equal(code, 0, stderr);
  assert.equal(receiver.waiting, 0);
});

Deno.test("a clip over a bad path arrives whole", async () => {
  const [relay, srt] = [freePort(), freePort()];
  await using listener = App.start([
    "route",
    `srt://127.0.0.1:${srt}?mode=listener&latency=400ms`,
    "check:",
    "--json",
    "--once",
  ]);
  await using path = App.start([
    "impair",
    `127.0.0.1:${relay}`,
    `127.0.0.1:${srt}`,
    ...["--delay=20ms", "--jitter=2ms", "--loss=2%", "--seed=7", "--json"],
  ]);
  await using caller = App.start([
    "route",
    `${clip}?loop&marker&rate=6Mbps`,
    `srt://127.0.0.1:${relay}?latency=400ms`,
    "--json",
    "--for=6s",
  ]);
  const sent = await caller.end(30_000);
  assert.equal(sent.code, 0, sent.stderr);
  const received = await listener.end();
  assert.equal(received.code, 0, received.stdout + received.stderr);
  path.signal("SIGINT");
  const relayed = await path.end();
  assert.equal(relayed.code, 0, relayed.stderr);

  const [sender, receiver] = [objects(sent.stdout).at(-1), objects(received.stdout).at(-1)];
  const model = objects(relayed.stdout).at(-1).statistics;
  const check = receiver.outputs[0].statistics;
  assert.deepEqual([check.check_ts_lost, check.check_ts_wrong], [0, 0]);
  assert.ok(check.check_ts_packets > 15_000, `${check.check_ts_packets}`);
  assert.ok(model.forward_lost > 20, `the path lost ${model.forward_lost}`);
  const link = receiver.input.links[0];
  assert.ok(link.packets_recovered > 0);
  assert.equal(link.packets_receive_dropped, 0);
  assert.ok(sender.outputs[0].links[0].packets_retransmitted >= link.packets_recovered);
  const latencyMs = check.check_latency_p50_ns / 1e6;
  assert.ok(latencyMs > 410 && latencyMs < 460, `${latencyMs} ms`);
});

Deno.test("a disk that is full is a failure that is told", async () => {
  const { code, stderr } = await run(["route", "-", "/dev/full"], {
    stdin: countingBytes(100_000),
  });
  assert.equal(code, 1);
  assert.match(stderr, /warning: output: cannot write to '\/dev\/full': No space left on device/);
  assert.match(stderr, /error: file:\/\/\/dev\/full could not be read or written to its end/);
});

Deno.test("with --once, a peer that dies is a failure, one that says goodbye is not", async () => {
  const srt = freePort();
  await using listener = App.start([
    "route",
    `srt://127.0.0.1:${srt}?mode=listener&peeridletimeo=500ms`,
    "udp://127.0.0.1:9",
    "--once",
  ]);
  await listener.says("listening");
  await using caller = App.start([
    "route",
    `udp://127.0.0.1:${freePort()}`,
    `srt://127.0.0.1:${srt}`,
  ]);
  await listener.says("connected");
  caller.signal("SIGKILL");
  const { code, stderr } = await listener.end();
  assert.equal(code, 1, stderr);
  assert.match(stderr, /warning: input: connection broken: /);
  assert.match(stderr, /error: srt:.* lost its connection/);
});

Deno.test("a peer that never answers is a failure that is told", async () => {
  const { code, stderr } = await run([
    "route",
    `udp://127.0.0.1:${freePort()}`,
    `srt://127.0.0.1:${freePort()}`,
    "--for=500ms",
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /error: srt:\/\/127\.0\.0\.1:\d+\?mode=caller never connected/);
});

Deno.test("guesses are told, and --quiet is quiet", async () => {
  const args = [`udp://127.0.0.1:${freePort()}`, `udp://localhost:9`, "--for=50ms"];
  const told = await run(["route", ...args]);
  assert.match(told.stderr, /output udp:\/\/localhost:9: localhost is 127\.0\.0\.1/);
  const quiet = await run(["route", "--quiet", ...args]);
  assert.equal(quiet.stderr, "");
  assert.match(quiet.stdout, /^stopped: 0:00:00, in 0 bps, out 0 bps\n$/);
});
