import assert from "node:assert/strict";
import { demo, packetsWithin, readSettings } from "./demo.ts";
import { readInvocation } from "./verb.ts";

const read = (...args: string[]): ReturnType<typeof readSettings> =>
  readSettings(readInvocation(demo, args));

Deno.test("without options: 30 s, 8 Mbps, 20 ms and 1 % each way, 300 ms, port 5004", () => {
  const settings = read("--seed=7");
  assert.match(settings.clip, /^file:\/\/\/.*\/demo\/clip\.m2t$/);
  assert.ok(Deno.statSync(new URL(settings.clip)).size < 1_000_000);
  assert.deepEqual({ ...settings, clip: "" }, {
    clip: "",
    rate: "8Mbps",
    latency: "300ms",
    buffer: 8192,
    viewerPort: 5004,
    path: [
      { name: "seed", value: "7" },
      { name: "delay_ns", value: "20000000" },
      { name: "loss", value: "0.01" },
    ],
    shown: "delay=20ms loss=1% seed=7",
    seconds: 30,
    json: false,
  });
});

Deno.test("every option reaches its setting", () => {
  const settings = read(
    "--seconds=5",
    "--rate=20M",
    "--delay=50",
    "--loss=0.05",
    "--latency=1500",
    "--port=6000",
    "--json",
    "--seed=1",
  );
  assert.deepEqual({ ...settings, clip: "", path: [] }, {
    clip: "",
    rate: "20Mbps",
    latency: "1.5s",
    buffer: 8192,
    viewerPort: 6000,
    path: [],
    shown: "delay=50ms loss=5% seed=1",
    seconds: 5,
    json: true,
  });
  assert.notEqual(read().shown, read().shown, "a seed of its own for each run");
});

Deno.test("what is not accepted", () => {
  const cases: [string, RegExp][] = [
    ["--seconds=0", /--seconds: "0" is not a whole number from 1/],
    ["--rate=9kbps", /--rate: .* not between 10kbps and 100Mbps/],
    ["--rate=1Gbps", /--rate: /],
    ["--loss=100%", /nothing can be sent/],
    ["--loss=1", /two ways/],
    ["--delay=fast", /--delay: "fast" is not a duration/],
    ["--latency=65536", /--latency: "65536" is longer than 65535ms/],
    ["--port=0", /--port/],
    ["--seed=x", /--seed/],
    ["clip.ts", /one argument too many/],
  ];
  for (const [argument, message] of cases) assert.throws(() => read(argument), { message });
});

Deno.test("a buffer holds what is on its way, and stays within its limits", () => {
  assert.equal(packetsWithin(8_000_000, 380e6), 8192);
  // 9499 packets a second; one and a half times two seconds of them.
  assert.equal(packetsWithin(100_000_000, 2e9), 28_496);
  assert.equal(packetsWithin(100_000_000, 65e9), 65_536);
});
