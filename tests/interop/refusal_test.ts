/** What libsrt and we refuse of each other, what both say about it, and what is agreed upon. */
import assert from "node:assert/strict";
import { linkOf, type Route } from "./lockstep.ts";
import { delay, type Peer } from "./peer.ts";
import { freePort } from "./ports.ts";
import { needing } from "./programs.ts";
import { onStage, type Stage } from "./stage.ts";

/** Without calling again, and with the reason of a refusal. */
const once = ["-a", "no", "-ll", "note"];
/** The settings of a peer that do not fit ours, what both say, and whether it finds us fitting. */
const misfits = [
  {
    what: "a passphrase",
    settings: "passphrase=not-so-secret",
    libsrtSays: /Password required or unexpected/,
    weSay: "one side has a passphrase and the other has none (UNSECURE)",
    accepts: false,
  },
  {
    what: "stream mode",
    settings: "messageapi=0",
    libsrtSays: /MessageAPI\/StreamAPI collision/,
    weSay: "one side is in live mode and the other in file (stream) mode (MESSAGEAPI)",
    accepts: false,
  },
  {
    what: "a packet filter",
    settings: "packetfilter=fec,cols:10,rows:5",
    libsrtSays: /Packet Filter settings error/,
    weSay: "the packet filters (FEC) differ: none is served (FILTER)",
    accepts: true,
  },
  {
    what: "another congestion controller",
    settings: "congestion=file",
    libsrtSays: /Congestion controller type collision/,
    weSay: "the congestion controllers differ: only live is served (CONGESTION)",
    accepts: false,
  },
];

/** How libsrt 1.5.1 words every reason of its access control convention. */
const applicationRefused = /Application-defined rejection reason/;

/** Our listener that receives. */
async function listen(stage: Stage, port: number, query = ""): Promise<Route> {
  const uri = `srt://127.0.0.1:${port}?mode=listener${query}`;
  const route = await stage.route("listener", uri, stage.path("far.ts"));
  await route.listens(port);
  return route;
}

/** libsrt calls us with these settings. */
async function call(stage: Stage, port: number, settings: string): Promise<Peer> {
  const input = `udp://127.0.0.1:${await freePort()}`;
  const output = `srt://127.0.0.1:${port}?mode=caller&${settings}`;
  return stage.start("caller", "srt-live-transmit", [...once, input, output]);
}

for (const { what, settings, libsrtSays, weSay, accepts } of misfits) {
  Deno.test(needing(
    ["srt-live-transmit"],
    `our listener refuses a caller with ${what}, and both say why`,
    () =>
      onStage(async (stage) => {
        const port = await freePort();
        const listener = await listen(stage, port);
        const caller = await call(stage, port, settings);
        await caller.until("refused", () => libsrtSays.test(caller.stderr));
        await listener.until("a warning", () => listener.warnings().length > 0);
        const [warning = ""] = listener.warnings();
        assert.match(warning, /^127\.0\.0\.1:\d+: caller refused: /);
        assert.ok(warning.endsWith(weSay), warning);
        assert.deepEqual(listener.linkTexts("connected"), []);
      }),
  ));

  Deno.test(needing(
    ["srt-live-transmit"],
    `our caller and a listener with ${what} do not connect, and we say why`,
    () =>
      onStage(async (stage) => {
        const [port, udp] = [await freePort(), await freePort()];
        const uri = `srt://127.0.0.1:${port}?mode=listener&${settings}`;
        const peer = stage.start("listener", "srt-live-transmit", [uri, "file://con"]);
        await peer.listens(port);
        const caller = await stage.route(
          "caller",
          `udp://127.0.0.1:${udp}`,
          `srt://127.0.0.1:${port}`,
        );
        assert.equal(await caller.reaches("broken"), `127.0.0.1:${port}: ${weSay}`);
        assert.deepEqual(caller.linkTexts("connected"), []);
        // Where libsrt found us fitting, it does not wait for us until its time-out: it ends, or
        // listens again, depending on how far it was.
        const left = (): boolean => peer.ended || peer.stderr.includes("SRT source disconnected");
        if (accepts) await peer.until("rid of us", left, 2000);
      }),
  ));
}

Deno.test(needing(
  ["srt-live-transmit"],
  "stream IDs choose among our listeners and are shown",
  () =>
    onStage(async (stage) => {
      const port = await freePort();
      const listener = await listen(stage, port, "&streamid=cam1");
      const other = await call(stage, port, "streamid=cam2");
      await other.until("refused", () => applicationRefused.test(other.stderr));
      await listener.until("a warning", () => listener.warnings().length > 0);
      assert.match(listener.warnings()[0] ?? "", /\(NOTFOUND\)$/);
      await call(stage, port, "streamid=#!::r=cam1,m=publish");
      assert.match(await listener.reaches("connected"), /, stream ID #!::r=cam1,m=publish$/);
      await delay(200); // two warnings within 100 ms would be one
      const second = await call(stage, port, "streamid=cam1");
      await second.until("refused", () => applicationRefused.test(second.stderr));
      await listener.until("a second warning", () => listener.warnings().length > 1);
      assert.match(listener.warnings()[1] ?? "", /\(CONFLICT\)$/);
    }),
));

/** Latencies in ms: what each side asks for its own receiver and for its peer's. */
const latencies = [
  { ours: [120, 500], theirs: [300, 400] },
  { ours: [350, 100], theirs: [250, 200] },
] as const;

for (const { ours, theirs } of latencies) {
  const query = ([own, peer]: readonly [number, number]): string =>
    `rcvlatency=${own}&peerlatency=${peer}`;
  const agreed = {
    receive_latency_ns: 1e6 * Math.max(ours[0], theirs[1]),
    send_latency_ns: 1e6 * Math.max(ours[1], theirs[0]),
  };

  /** The same whoever calls. */
  const check = async (route: Route): Promise<void> => {
    await route.reaches("connected");
    await delay(300);
    const { receive_latency_ns, send_latency_ns } = linkOf(await route.finish());
    assert.deepEqual({ receive_latency_ns, send_latency_ns }, agreed);
  };

  Deno.test(needing(
    ["srt-live-transmit"],
    `of ${query(ours)} and ${query(theirs)} the larger count in each direction`,
    () =>
      onStage(async (stage) => {
        const [ourPort, theirPort] = [await freePort(), await freePort()];
        const listener = await listen(stage, ourPort, `&${query(ours)}`);
        await call(stage, ourPort, query(theirs));
        const uri = `srt://127.0.0.1:${theirPort}?mode=listener&${query(theirs)}`;
        const peer = stage.start("peer", "srt-live-transmit", [uri, "file://con"]);
        await peer.listens(theirPort);
        const caller = await stage.route(
          "caller",
          `udp://127.0.0.1:${await freePort()}`,
          `srt://127.0.0.1:${theirPort}?${query(ours)}`,
        );
        await Promise.all([check(listener), check(caller)]);
      }),
  ));
}
