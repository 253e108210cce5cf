/** libsrt goes without a goodbye: we notice it after five seconds, and it finds us again. */
import assert from "node:assert/strict";
import { compare } from "./comparison.ts";
import type { Route } from "./lockstep.ts";
import { delay, type Peer } from "./peer.ts";
import { freePort } from "./ports.ts";
import { needing } from "./programs.ts";
import { onStage, type Stage } from "./stage.ts";
import { clip } from "./transfer.ts";

const latencyMs = 300;

/** How long a peer may be silent, unless told otherwise: as in libsrt. */
const silenceMs = 5000;
/** It may have spoken last a keepalive ago, and the machine may be busy. */
const [earlyMs, lateMs] = [1100, 2000];
/** Our caller waits 250 ms, then twice as long each time, and each call lasts up to 3 s. */
const redialMs = 6000;
const query = `latency=${latencyMs}`;

/** Kills a peer; how long it took until we said that the link is broken. */
async function killed(peer: Peer, route: Route, times: number): Promise<number> {
  const at = performance.now();
  peer.signal("SIGKILL");
  const text = await route.reaches("broken", times, silenceMs + lateMs + 1000);
  assert.match(text, /no answer in time \(TIMEOUT\)$/);
  return performance.now() - at;
}

function assertSilence(ms: number): void {
  const text = `noticed after ${Math.round(ms)} ms`;
  assert.ok(ms > silenceMs - earlyMs && ms < silenceMs + lateMs, text);
}

function startListener(stage: Stage, port: number, file: string): Peer {
  const uri = `srt://127.0.0.1:${port}?mode=listener&${query}`;
  const options = { stdoutPath: stage.path(file) };
  return stage.start(file, "srt-live-transmit", ["-q", uri, "file://con"], options);
}

/** We call, and call again until the peer is back; from then on it gets everything. */
async function callerReturns(stage: Stage): Promise<void> {
  const [port, udp] = [await freePort(), await freePort()];
  const first = startListener(stage, port, "first.ts");
  await first.listens(port);
  const input = `udp://127.0.0.1:${udp}`;
  const caller = await stage.route("our caller", input, `srt://127.0.0.1:${port}?${query}`);
  await caller.reaches("connected");
  const copy = stage.path("copy.ts");
  const source = await stage.route("source", `${clip}8Mbps`, input, copy);
  await delay(500);
  assertSilence(await killed(first, caller, 1));
  const second = startListener(stage, port, "second.ts");
  await caller.reaches("connected", 2, redialMs);
  await delay(1500);
  await source.finish();
  await caller.finish();
  await delay(300);
  await second.interrupt();
  const received = await Deno.readFile(stage.path("second.ts"));
  const { difference, packets } = compare(await Deno.readFile(copy), received);
  assert.equal(difference, undefined);
  assert.ok(packets > 5000, `only ${packets} TS packets after the return`);
}

/** We listen; a caller that was killed takes its place again, before and after we noticed. */
async function listenerReturns(stage: Stage): Promise<void> {
  const [port, udp] = [await freePort(), await freePort()];
  const uri = `srt://127.0.0.1:${port}?mode=listener&${query}`;
  const listener = await stage.route("our listener", uri, stage.path("received.ts"));
  await listener.listens(port);
  const call = (name: string): Peer =>
    stage.start(name, "srt-live-transmit", [
      "-q",
      `udp://127.0.0.1:${udp}`,
      `srt://127.0.0.1:${port}?mode=caller&${query}`,
    ]);
  const first = call("first caller");
  await listener.reaches("connected");
  first.signal("SIGKILL");
  await delay(1000);
  const second = call("second caller");
  await listener.reaches("connected", 2);
  assert.match(listener.linkTexts("broken")[0] ?? "", /replaced by the same caller$/);
  assertSilence(await killed(second, listener, 2));
  call("third caller");
  await listener.reaches("connected", 3);
}

Deno.test(needing(
  ["srt-live-transmit"],
  "a peer that was killed is missed after 5 s and found again",
  () =>
    onStage(async (stage) => {
      await Promise.all([callerReturns(stage), listenerReturns(stage)]);
    }),
));
