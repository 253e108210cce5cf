/** Every kind of packet that we send, as a dissector sees it that no one here wrote. */
import assert from "node:assert/strict";
import { Capture, type Dissected } from "./capture.ts";
import { linkOf } from "./lockstep.ts";
import { delay } from "./peer.ts";
import { freePort } from "./ports.ts";
import { needing } from "./programs.ts";
import { onStage, type Stage } from "./stage.ts";
import { clip } from "./transfer.ts";

const latencyMs = 300;

/** An idle link says so once a second. */
const idleMs = 2200;
/** Longer than the period of the outages and one of them: a whole one falls into the stream. */
const outage = "--forward-outage=every=6s,for=1500ms";
const streamMs = 8000;
const impairments = ["--delay=20ms", "--loss=1%"];

/** What we sent in each role. */
interface Sent {
  readonly caller: readonly Dissected[];
  readonly listener: readonly Dissected[];
}

/** We call and send, and are called and receive, beside each other; libsrt is the peer. */
async function capture(stage: Stage): Promise<Sent> {
  const [calledPort, relayPort, udpPort] = [await freePort(), await freePort(), await freePort()];
  const [ourPort, toOurPort, toUdpPort] = [await freePort(), await freePort(), await freePort()];
  const wire = await Capture.start(stage, [relayPort, ourPort]);
  const ours = `srt://127.0.0.1:${ourPort}?mode=listener&latency=${latencyMs}`;
  const listener = await stage.route("our listener", ours, stage.path("listener.ts"));
  const called = stage.start("slt listener", "srt-live-transmit", [
    "-q",
    `srt://127.0.0.1:${calledPort}?mode=listener&latency=${latencyMs}`,
    "file://con",
  ], { stdoutPath: stage.path("called.ts") });
  await Promise.all([called.listens(calledPort), listener.listens(ourPort)]);
  await stage.impair(relayPort, calledPort, ...impairments, outage);
  await stage.impair(toOurPort, ourPort, ...impairments);
  const calling = stage.start("slt caller", "srt-live-transmit", [
    "-q",
    `udp://127.0.0.1:${toUdpPort}?rcvbuf=4000000`,
    `srt://127.0.0.1:${toOurPort}?mode=caller&latency=${latencyMs}&streamid=to-us`,
  ]);
  const caller = await stage.route(
    "our caller",
    `udp://127.0.0.1:${udpPort}`,
    `srt://127.0.0.1:${relayPort}?latency=${latencyMs}&streamid=from-us`,
  );
  await Promise.all([caller.reaches("connected"), listener.reaches("connected")]);
  await delay(idleMs);
  const outputs = [`udp://127.0.0.1:${udpPort}`, `udp://127.0.0.1:${toUdpPort}`];
  const source = await stage.route("source", `${clip}8Mbps`, ...outputs, stage.path("copy.ts"));
  await delay(streamMs);
  await source.finish();
  const [sent, received] = await Promise.all([caller.finish(), listener.finish()]);
  assert.ok(linkOf(sent).packets_send_dropped > 0, "the outage was too short");
  assert.ok(linkOf(received).packets_receive_lost > 0, "nothing was lost");
  await Promise.all([calling.interrupt(), called.interrupt()]);
  const packets = await wire.finish();
  return {
    caller: packets.filter(({ toPort }) => toPort === relayPort),
    listener: packets.filter(({ fromPort }) => fromPort === ourPort),
  };
}

/** How many packets of each type there are. */
function count(packets: readonly Dissected[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of packets) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

function checkTypes(packets: readonly Dissected[], types: readonly string[]): void {
  const counts = count(packets);
  console.log(Object.entries(counts).map(([type, number]) => `${type} ${number}`).join(", "));
  assert.deepEqual(packets.filter(({ objections }) => objections !== ""), []);
  assert.deepEqual(Object.keys(counts).sort(), [...types].sort());
}

function handshakes(packets: readonly Dissected[]): string[] {
  const all = packets.filter(({ type }) => type === "HANDSHAKE");
  return [...new Set(all.map(({ handshake }) => handshake.replaceAll("\t", " ")))];
}

Deno.test(needing(
  ["srt-live-transmit", "dumpcap", "tshark"],
  "tshark dissects all that we send",
  async (t: Deno.TestContext) => {
    await onStage(async (stage) => {
      const { caller, listener } = await capture(stage);
      await t.step("as a caller that sends", () => {
        checkTypes(caller, ["ACKACK", "DATA", "DROPREQ", "HANDSHAKE", "KEEPALIVE", "SHUTDOWN"]);
        // Version 4 to begin with; then 5 and SRT 1.5.4, HSREQ and stream ID, flags, latencies.
        assert.deepEqual(handshakes(caller), [
          "4  1",
          "5,0x00010504 0x0005 -1 0x0001,0x0005 0x000000bf 300 300 from-us",
        ]);
      });
      await t.step("as a listener that receives", () => {
        checkTypes(listener, ["ACK", "HANDSHAKE", "KEEPALIVE", "NAK", "SHUTDOWN"]);
        // The cookie with the magic number; then HSRSP, with what was agreed. A peer that calls
        // again at once is refused, because we are closing.
        const [closing, ...others] = handshakes(listener).slice(2);
        assert.ok(closing === undefined || / 1007$/.test(closing), closing);
        assert.deepEqual(others, []);
        assert.deepEqual(handshakes(listener).slice(0, 2), [
          "5 0x4a17 1",
          "5,0x00010504 0x0001 -1 0x0002 0x000000bf 300 300",
        ]);
        const reports = listener.filter(({ type }) => type === "NAK");
        assert.ok(reports.every(({ losses }) => losses > 0), "a NAK without a loss");
      });
    });
  },
));
