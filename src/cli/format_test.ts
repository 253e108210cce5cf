import assert from "node:assert/strict";
import { showCount, showDuration, showRate, showShare, showTime } from "./format.ts";

Deno.test("rates", () => {
  const cases: [number, string][] = [
    [0, "0 bps"],
    [7, "7 bps"],
    [999, "999 bps"],
    [999.9, "1.00 kbps"],
    [8_000_000, "8.00 Mbps"],
    [10_528_000, "10.5 Mbps"],
    [123_456_789, "123 Mbps"],
    [999_900_000, "1.00 Gbps"],
    [99_960_000, "100 Mbps"],
  ];
  for (const [bps, text] of cases) assert.equal(showRate(bps), text);
});

Deno.test("durations", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [12, "12 ns"],
    [40_234_000, "40.2 ms"],
    [119_000_000, "119 ms"],
    [1_500_000_000, "1.50 s"],
    [250_000, "250 µs"],
    [3_723_000_000_000, "1:02:03"],
  ];
  for (const [ns, text] of cases) assert.equal(showDuration(ns), text);
  assert.equal(showTime(59_999_999_999), "0:00:59");
});

Deno.test("counts and shares", () => {
  assert.equal(showCount(0), "0");
  assert.equal(showCount(1234567), "1 234 567");
  assert.equal(showShare(0, 0), "0 %");
  assert.equal(showShare(1, 100), "1.00 %");
  assert.equal(showShare(1, 3), "33.3 %");
});
