// The demonstration: it succeeds where everything can be repaired, and says so where it cannot.
import assert from "node:assert/strict";
import { UdpSocket } from "../../src/engine/udp_testing.ts";
import { App, freePort, run } from "../cli/app.ts";

const task = "demo" as const;

function between(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what}: ${value} is not in ${least} … ${most}`);
}

Deno.test("ten seconds at 1 % loss: all of it is repaired, and the viewer sees the clip", async () => {
  await using viewer = await UdpSocket.open();
  const args = ["--seconds=10", "--json", `--port=${viewer.port}`];
  const { code, stdout, stderr } = await run(args, { task });
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^\{.*\}\n$/, "one JSON object and nothing else");
  const result = JSON.parse(stdout);
  assert.deepEqual([result.ok, result.faults], [true, []]);
  // 8 Mbps in packets of 1316 bytes; a stop comes up to 50 ms late.
  between(result.sent, 7550, 7800, "sent");
  between(result.lostOnLink / result.sent, 0.004, 0.02, "share lost on the link");
  assert.equal(result.recovered, result.lostOnLink);
  between(result.retransmitted, result.lostOnLink, 3 * result.lostOnLink, "retransmitted");
  assert.deepEqual([result.lostToViewer, result.lostToViewerTs, result.wrong], [0, 0, 0]);
  // 300 ms, and the delay of one way; the handshake measures that with what the path does to it.
  between(result.latencyMinMs, 318, 345, "least latency");
  between(result.latencyMs, result.latencyMinMs, 345, "median latency");
  between(result.latencyMaxMs, result.latencyMs, 1000, "most latency");
  between(result.jitterMs, 0, 20, "jitter");
  between(result.seconds, 10, 10.5, "seconds");

  // The viewer is another program: what it misses is its own affair, but not much.
  between(viewer.waiting, 0.95 * result.sent, result.sent, "datagrams at the viewer");
  const pids = new Set<number>();
  while (viewer.waiting > 0) {
    const datagram = await viewer.receive();
    assert.equal(datagram.length, 1316);
    for (let at = 0; at < datagram.length; at += 188) {
      const [sync = 0, high = 0, low = 0] = datagram.subarray(at, at + 3);
      assert.equal(sync, 0x47);
      pids.add((high & 0x1f) << 8 | low);
    }
  }
  // Tables, pictures with their clock, sound, stuffing.
  for (const pid of [0, 0x1000, 0x100, 0x101, 0x1fff]) assert.ok(pids.has(pid), `PID ${pid}`);
});

Deno.test("too little time for too much loss: it fails, and says what was lost and what to do", async () => {
  const args = ["--seconds=4", "--loss=30%", "--latency=60ms", `--port=${freePort()}`];
  const { code, stdout } = await run([...args, "--json"], { task });
  assert.equal(code, 1, stdout);
  const result = JSON.parse(stdout);
  assert.equal(result.ok, false);
  between(result.lostOnLink / result.sent, 0.2, 0.4, "share lost on the link");
  assert.ok(result.recovered < result.lostOnLink);
  assert.ok(result.lostToViewer > 0);
  between(result.lostToViewerTs, 7 * (result.lostToViewer - 1) + 1, 7 * result.lostToViewer, "TS");
  assert.equal(result.wrong, 0);
  assert.match(result.faults.join("\n"), /did not reach the viewer within 60ms: raise --latency/);
});

Deno.test("Ctrl-C ends it in order, and it judges what was", async () => {
  await using app = App.start(["--seconds=600", `--port=${freePort()}`], { task });
  while (!app.stdout.includes("0:00:02")) await new Promise((resolve) => setTimeout(resolve, 50));
  app.signal("SIGINT");
  const { code, stdout, stderr } = await app.end();
  assert.equal(code, 0, stdout + stderr);
  const lines = stdout.trimEnd().split("\n");
  assert.match(
    lines[0] ?? "",
    /^0:00:01, sent \d+, lost on the link \d+, recovered \d+, lost to the viewer 0, latency 3\d\d ms$/,
  );
  const verdict = lines.slice(lines.findIndex((line) => line.startsWith("Everything")));
  assert.deepEqual(verdict.map((line) => line.slice(0, 22).trim()), [
    "Everything that was se",
    "sent",
    "lost on the link",
    "recovered",
    "lost to the viewer",
    "latency",
    "jitter",
  ]);
  assert.match(stderr, /8Mbps over a path with delay=20ms loss=1% seed=\d+, latency 300ms/);
  assert.match(stderr, /route udp:\/\/127\.0\.0\.1:\d+ to srt:\/\/127\.0\.0\.1:\d+\?mode=caller/);
});

Deno.test("a rate below the clip's own is refused before anything is sent", async () => {
  const { code, stdout, stderr } = await run(["--rate=500k", `--port=${freePort()}`], { task });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /error: --rate: the clip carries \d+ bit\/s: the rate must be higher/);
});
