import assert from "node:assert/strict";
import { type Direction, parseUri, resolveEndpoint } from "../config/mod.ts";
import { fileInputKeys, fileOutputKeys } from "../config/file_uri.ts";
import { impairments, readImpairments } from "../config/impairment.ts";
import type { Key } from "../config/key.ts";
import { srtKeys } from "../config/srt_keys.ts";
import { udpInputKeys, udpOutputKeys } from "../config/udp_uri.ts";
import { Engine, load } from "../engine/mod.ts";
import { accept, buildFlow, endpointOf } from "./flow_builder.ts";

const library = load();

/** Values to try for the keys; every key must have some. */
const samples: Record<string, readonly string[]> = {
  mode: ["caller"],
  bind: ["127.0.0.1:6000"],
  adapter: ["127.0.0.1"],
  source: [], // only a group has one: below
  port: ["6000"],
  localport: ["6000"],
  interface: ["lo"],
  latency: ["0", "65535"],
  rcvlatency: ["20ms"],
  peerlatency: ["1s"],
  streamid: ["x", "é".repeat(256)],
  maxbw: ["1", "100Gbps", "unlimited"],
  mss: ["76", "1500"],
  fc: ["32", "65536"],
  buffer: ["256", "65536"],
  conntimeo: ["1ms", "1h"],
  peeridletimeo: ["100ms", "1h"],
  tlpktdrop: ["yes", "no"],
  nakreport: ["yes", "no"],
  lossmaxttl: ["0", "10000"],
  snddropdelay: ["0", "65535"],
  reconnect: ["yes", "no"],
  iptos: ["0", "255"],
  ipttl: ["1", "255"],
  ttl: ["1", "255"],
  tos: ["0", "255"],
  rcvbuf: ["4096", "1GiB"],
  sndbuf: ["4096", "1GiB"],
  payloadsize: ["188", "1456"],
  pace: ["asap"],
  rate: ["1kbps", "100Gbps"],
  loop: ["yes&rate=1Mbps", "no"],
  marker: ["yes&loop&rate=1Mbps", "no"],
  append: ["yes"],
};

const tables: [string, Direction, readonly Key[]][] = [
  ["srt://127.0.0.1:5000", "input", srtKeys],
  ["srt://127.0.0.1:5000", "output", srtKeys],
  ["udp://127.0.0.1:5004", "input", udpInputKeys],
  ["udp://127.0.0.1:5004", "output", udpOutputKeys],
  ["/tmp/clip.ts", "input", fileInputKeys],
  ["/tmp/clip.ts", "output", fileOutputKeys],
];

Deno.test("the library takes the least and the greatest value that a URI may have", async () => {
  await using engine = Engine.open(1, library);
  const input = await resolveEndpoint(parseUri("udp://:5004", "input"));
  const output = await resolveEndpoint(parseUri("check:", "output"));
  for (const [uri, direction, keys] of tables) {
    for (const { name } of keys) {
      const values = samples[name];
      assert.ok(values !== undefined, `no value to try for ${name}`);
      for (const value of values) {
        const text = `${uri}?${name}=${encodeURI(value)}`;
        const endpoint = await resolveEndpoint(parseUri(text, direction));
        const { flow } = direction === "input"
          ? buildFlow(engine, endpoint, [output], [])
          : buildFlow(engine, input, [endpoint], []);
        flow.close();
      }
    }
  }
});

Deno.test("the library takes multicast, standard streams and a check", async () => {
  await using engine = Engine.open(1, library);
  const resolved = async (uri: string, direction: Direction) =>
    await resolveEndpoint(parseUri(uri, direction));
  const built = buildFlow(
    engine,
    await resolved("udp://127.0.0.1@239.1.1.1:5004?interface=lo", "input"),
    [await resolved("-", "output"), await resolved("check:", "output")],
    [{ name: "name", value: "studio" }, { name: "stop_with_link", value: "true" }],
  );
  assert.deepEqual([built.input, ...built.outputs].map(({ label }) => label), [
    "input",
    "output 1",
    "output 2",
  ]);
  const six = await resolved("udp://[ff3e::1]:5004", "input");
  const srt = await resolved("srt://[::1]:5000?bind=[::1]", "output");
  const other = buildFlow(engine, six, [srt], []);
  const link = other.outputs[0]?.links[0];
  assert.ok(link !== undefined);
  assert.equal(endpointOf(other, link)?.label, "output");
  assert.equal(endpointOf(other, -1), undefined);
});

Deno.test("the library takes every impairment", async () => {
  await using engine = Engine.open(1, library);
  const values: Record<string, readonly string[]> = {
    delay: ["0", "60s"],
    jitter: ["0", "60s"],
    loss: ["0", "0.000000000001", "100%"],
    burst: ["1", "1000000", "2.5"],
    outage: ["every=30s,for=5s", "every=24h,for=1ns"],
    reorder: ["0.5%"],
    duplicate: ["100%"],
    rate: ["1kbps", "1000Gbps"],
    queue: ["1", "1GiB"],
  };
  for (const { name } of impairments) {
    for (const value of values[name] ?? assert.fail(`no value to try for ${name}`)) {
      for (const prefix of ["", "forward-", "backward-"]) {
        using relay = engine.openRelay();
        for (const option of readImpairments({ [`${prefix}${name}`]: value }).options) {
          relay.option(option.name, option.value);
        }
      }
    }
  }
});

Deno.test("the library's refusal of an option becomes an error of the command line", async () => {
  await using engine = Engine.open(1, library);
  const relay = engine.openRelay();
  assert.throws(() => accept("relay", () => relay.option("loss", "2")), {
    name: "ConfigError",
    message: /^relay: loss: '2' is not a number from 0 to 1/,
  });
});
