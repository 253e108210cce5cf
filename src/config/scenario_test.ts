import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import { readScenario, scenarioKeys } from "./scenario.ts";

function refusals(text: string): string[] {
  try {
    readScenario(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message.split("\n");
  }
  throw new Error(`it is accepted: ${text}`);
}

Deno.test("every key becomes the library's option", () => {
  const scenario = readScenario(`
stream: { rate: 10Mbps, payload: 1316, latency: 120ms, max_bandwidth: 0, buffer: 8192,
          reorder_tolerance: 3 }
clocks: { sender: 50ppm, receiver: -50ppm, sender_wander: 0, receiver_wander: 1500ppb }
start: { isn: 2147483646, stamp: 4294.967295s }
rules: { latency_tolerance: 1ms, loss: forbidden }
duration: 90min
seed: 9007199254740991
links:
  - forward: { delay: 5ms, outage: "every=2s,for=1s" }
    delay: 20ms
    jitter: 1ms
    loss: 1%
    burst: 2
    outage: { every: 30s, for: 5s }
    reorder: 0.5%
    duplicate: 0.1%
    rate: 20Mbps
    queue: 64KiB
  - { name: slow, backward: { rate: 0, loss: 0% } }
`);
  assert.deepEqual(scenario.options.map(({ name, value }) => `${name}=${value}`), [
    "rate_bps=10000000",
    "payload_bytes=1316",
    "latency_ns=120000000",
    "max_bandwidth_bps=0",
    "buffer_packets=8192",
    "reorder_tolerance=3",
    "sender_ppb=50000",
    "receiver_ppb=-50000",
    "sender_wander_ppb=0",
    "receiver_wander_ppb=1500",
    "isn=2147483646",
    "stamp_us=4294967295",
    "latency_tolerance_ns=1000000",
    "loss_allowed=false",
  ]);
  assert.deepEqual(scenario.links.map(({ name }) => name), ["A", "slow"]);
  // A direction's own value comes last, wherever it was written, and wins.
  assert.deepEqual(scenario.links[0]?.options.map(({ name, value }) => `${name}=${value}`), [
    "delay_ns=20000000",
    "jitter_ns=1000000",
    "loss=0.01",
    "burst_packets=2",
    "outage_every_ns=30000000000",
    "outage_for_ns=5000000000",
    "reorder=0.005",
    "duplicate=0.001",
    "rate_bps=20000000",
    "queue_bytes=65536",
    "forward_delay_ns=5000000",
    "forward_outage_every_ns=2000000000",
    "forward_outage_for_ns=1000000000",
  ]);
  assert.deepEqual(scenario.links[1]?.options, [{ name: "backward_loss", value: "0" }]);
  assert.deepEqual([scenario.durationNs, scenario.seed], [5_400e9, Number.MAX_SAFE_INTEGER]);
});

Deno.test("what is left out is left to the library", () => {
  const { options, links, durationNs, seed } = readScenario("links: [{}]");
  assert.deepEqual([options, links, seed], [[], [{ name: "A", options: [] }], undefined]);
  assert.equal(durationNs, 3600e9);
});

Deno.test("all that is wrong is told at once, each with its place and what is accepted", () => {
  const lines = refusals(`stream: { rate: 10MB, payload: [1], latancy: 120, foo: 1 }
clocks: 3
rules: { loss: maybe }
duration: 1
links:
  - outage: { every: 3s, for: 5s }
    forward: { lose: 2% }
  - outage: [1]
  - outage: every=3
  - outage: { every: 3s }
`);
  const expected = [
    /^line 1, column 17: stream\.rate: "10MB" is not a rate; /,
    /^line 1, column 32: stream\.payload: is a list/,
    /^line 1, column 37: stream: unknown key "latancy"; accepted: rate, payload, latency, /,
    /^line 1, column 51: stream: unknown key "foo"; accepted: rate, /,
    /^line 2, column 9: clocks: is not a map/,
    /^line 3, column 16: rules\.loss: "maybe" is neither allowed nor forbidden$/,
    /^line 4, column 11: duration: "1" has no unit/,
    /^line 6, column 13: links\[1\]\.outage: the outage must be /,
    /^line 7, column 16: links\[1\]\.forward: unknown key "lose"; accepted: delay, jitter, /,
    /^line 8, column 13: links\[2\]\.outage: is not an outage; write \{ every: 30s, for: 5s \}$/,
    /^line 9, column 13: links\[3\]\.outage: every: "3" has no unit/,
    /^line 10, column 13: links\[4\]\.outage: is not an outage; /,
  ];
  assert.equal(lines.length, expected.length, lines.join("\n"));
  expected.forEach((pattern, index) => assert.match(lines[index] ?? "", pattern));
});

Deno.test("limits", () => {
  const wrong: [string, RegExp][] = [
    ["", /is not a map/],
    ["stream: {}", /links: is missing/],
    ["links: []", /has no link/],
    [`links: [${Array(9).fill("{}").join(",")}]`, /more than 8 links/],
    ["links: [{ name: x }, { name: x }]", /^line 1, column 30: two links have the name "x"/],
    ["links: [{ name: 'a b' }]", /is not a name/],
    ["links: [{}]\nstream: { rate: 999 }", /between 1kbps and 10Gbps/],
    ["links: [{}]\nstream: { payload: 1457 }", /from 32 to 1456/],
    ["links: [{}]\nstream: { latency: 65536ms }", /between 0s and 65.535s/],
    ["links: [{}]\nclocks: { sender: 1001ppm }", /between -1000ppm and 1000ppm/],
    ["links: [{}]\nclocks: { sender_wander: -1ppm }", /between 0ppm and 1000ppm/],
    ["links: [{}]\nstart: { isn: 2147483647 }", /from 0 to 2147483646/],
    ["links: [{}]\nstart: { stamp: 1ns }", /whole number of us/],
    ["links: [{}]\nstart: { stamp: 4294967296us }", /whole number of us/],
    ["links: [{}]\nduration: 2161h", /between 1s and 2160h/],
    ["links: [{}]\nseed: -1", /whole number/],
    ["links: [{}]\n__proto__: { rate: 1 }", /unknown key "__proto__"/],
  ];
  for (const [text, pattern] of wrong) assert.match(refusals(text).join("\n"), pattern, text);
});

Deno.test("whatever is written, it is read or refused", () => {
  const leaf = fc.constantFrom("1", "1%", "20ms", "10Mbps", "5ppm", "", "allowed", "[]", "{}", "'");
  const keys = Object.values(scenarioKeys).flat();
  const map = fc.dictionary(fc.constantFrom(...keys), leaf).map((given) =>
    `{ ${Object.entries(given).map(([key, value]) => `${key}: ${value}`).join(", ")} }`
  );
  const part = fc.constantFrom("stream", "clocks", "start", "rules", "duration", "seed");
  fc.assert(fc.property(part, map, map, (name, one, link) => {
    try {
      readScenario(`${name}: ${one}\nlinks: [${link}]`);
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
    }
  }));
});

Deno.test("the reference page has every key, in its section", () => {
  const page = Deno.readTextFileSync(
    new URL("../../docs/reference/scenario.md", import.meta.url),
  );
  for (const [part, keys] of Object.entries(scenarioKeys)) {
    const heading = part === "" ? "The whole" : part;
    const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
    const documented = [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    assert.deepEqual(documented, keys, heading);
  }
});
