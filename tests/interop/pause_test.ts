/** A UDP input loses nothing while its process is not scheduled: the kernel keeps what arrives. */
import assert from "node:assert/strict";
import { compare } from "./comparison.ts";
import { delay } from "./peer.ts";
import { freePort } from "./ports.ts";
import { onStage } from "./stage.ts";
import { clip } from "./transfer.ts";

const latencyMs = 300;

const pauses = 8;
const pauseMs = 100;
const betweenMs = 400;
/** A buffer that cannot hold what arrives in a pause: 100 ms of 8 Mb/s are 100 kB. */
const tooSmall = 16_384;

Deno.test("pauses of 100 ms at 8 Mb/s lose nothing at a UDP input", async () => {
  await onStage(async (stage) => {
    const [srt, udp, control] = [await freePort(), await freePort(), await freePort()];
    const far = stage.path("far.ts");
    const copy = stage.path("copy.ts");
    const address = `srt://127.0.0.1:${srt}`;
    const receiver = await stage.route(
      "receiver",
      `${address}?latency=${latencyMs}&mode=listener`,
      far,
    );
    await receiver.listens(srt);
    const tested = await stage.route(
      "tested",
      `udp://127.0.0.1:${udp}`,
      `${address}?latency=${latencyMs}`,
    );
    // The same with too small a buffer shows that the pauses are real, and that losses are counted.
    const small = await stage.route(
      "small",
      `udp://127.0.0.1:${control}?rcvbuf=${tooSmall}`,
      stage.path("small.ts"),
    );
    await Promise.all([tested.reaches("connected"), small.listens(control)]);
    const outputs = [`udp://127.0.0.1:${udp}`, `udp://127.0.0.1:${control}`];
    const source = await stage.route("source", `${clip}8Mbps`, ...outputs, copy);
    for (let pause = 0; pause < pauses; pause++) {
      await delay(betweenMs);
      for (const route of [tested, small]) route.signal("SIGSTOP");
      await delay(pauseMs);
      for (const route of [tested, small]) route.signal("SIGCONT");
    }
    await delay(betweenMs);
    await source.finish();
    const lossy = await small.finish();
    const { input } = await tested.finish();
    await delay(latencyMs);
    await receiver.finish();
    const [sent, received] = [await Deno.readFile(copy), await Deno.readFile(far)];
    assert.deepEqual(compare(sent, received), { packets: sent.length / 188, before: 0 });
    assert.equal(input.statistics.dropped_kernel, 0);
    assert.equal(input.statistics.bytes, sent.length);
    const { bytes, dropped_kernel } = lossy.input.statistics;
    assert.ok(dropped_kernel >= pauses, `${dropped_kernel} datagrams dropped in ${pauses} pauses`);
    assert.equal(bytes + 1316 * dropped_kernel, sent.length);
    console.log(`${pauses} pauses: 0 lost; with a buffer of ${tooSmall} bytes ${dropped_kernel}`);
  });
});
