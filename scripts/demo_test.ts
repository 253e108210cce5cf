import assert from "node:assert/strict";
import { judgement, progressLine } from "./demo.ts";

const relay = { forward_packets: 7044, forward_lost: 70 };
const check = {
  check_ts_packets: 39_689,
  check_ts_lost: 0,
  check_ts_wrong: 0,
  check_latency_min_ns: 318e6,
  check_latency_max_ns: 320e6,
};

Deno.test("all is well when all arrived", () => {
  const { ok, text } = judgement(relay, check);
  assert.equal(ok, true);
  assert.equal(
    text,
    "The path lost 70 of 7 044 packets (0.994 %). The receiver played out all 39 689 " +
      "transport-stream packets, each between 318 ms and 320 ms after it was sent.",
  );
});

Deno.test.each([
  ["something is lost", { check_ts_lost: 7 }, /missed 7 of 39 696 .* 0 stretches came wrong/],
  ["something is wrong", { check_ts_wrong: 1 }, /missed 0 of 39 689 .* 1 stretches came wrong/],
  ["nothing arrived", { check_ts_packets: 0 }, /Nothing arrived/],
] as [string, Partial<typeof check>, RegExp][])("it is not well when %s", (_name, change, says) => {
  const { ok, text } = judgement(relay, { ...check, ...change });
  assert.equal(ok, false);
  assert.match(text, says);
});

Deno.test("a second's line shows the rate of that second", () => {
  const now = {
    bytes: 750_000,
    check_ts_lost: 2,
    check_latency_p50_ns: 318e6,
    check_jitter_ns: 20_400,
  };
  const link = { rtt_ns: 40.5e6, packets_receive_lost: 3, packets_recovered: 1 };
  assert.equal(
    progressLine(2, now, link, { bytes: 250_000 }).trim().split(/ {2,}/).join("|"),
    "2 s|4.00 Mbps|40.5 ms|3|1|2|318 ms|20.4 µs",
  );
});
