import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import {
  formatDuration,
  formatRate,
  formatShare,
  formatSize,
  parseClockError,
  parseDuration,
  parseInteger,
  parseRate,
  parseShare,
  parseSize,
  parseSwitch,
} from "./units.ts";

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  assert.fail("nothing was thrown");
}

Deno.test("durations", () => {
  const cases: [string, number][] = [
    ["20ms", 20_000_000],
    ["1.5s", 1_500_000_000],
    ["250us", 250_000],
    ["250µs", 250_000],
    ["250μs", 250_000],
    ["10ns", 10],
    ["2min", 120_000_000_000],
    ["1h", 3_600_000_000_000],
    ["0s", 0],
    ["0.000000001s", 1],
    [" 20 ms ", 20_000_000],
    ["0.1us", 100],
  ];
  for (const [text, ns] of cases) assert.equal(parseDuration(text), ns, text);
  assert.equal(parseDuration("200", "ms"), 200_000_000);
  assert.equal(parseDuration("1.5", "s"), 1_500_000_000);
  assert.equal(parseDuration("3us", "ms"), 3_000);
});

Deno.test("durations that are refused say what is accepted", () => {
  const examples = "write for example 20ms, 1.5s, 250us, 10ns or 2min";
  assert.equal(messageOf(() => parseDuration("20")), `"20" has no unit; ${examples}`);
  assert.equal(
    messageOf(() => parseDuration("fast", "ms")),
    `"fast" is not a duration; ${examples}; a bare number means ms`,
  );
  assert.equal(messageOf(() => parseDuration("5x")), `"5x" is not a duration; ${examples}`);
  assert.equal(messageOf(() => parseDuration("0.5ns")), `"0.5ns" is finer than the least duration`);
  assert.equal(
    messageOf(() => parseDuration("9999999h")),
    `"9999999h" is larger than any duration can be`,
  );
  for (
    const text of ["", "-1s", "+1s", "1e3s", ".5s", "1.s", "1,5s", "0x10s", "1 2s", "١s", "1MS"]
  ) {
    assert.match(messageOf(() => parseDuration(text)), /is not a duration/, text);
  }
  // Names that every object inherits are no units.
  assert.match(messageOf(() => parseDuration("1constructor")), /is not a duration/);
});

Deno.test("rates", () => {
  const cases: [string, number][] = [
    ["8Mbps", 8_000_000],
    ["10M", 10_000_000],
    ["500kbps", 500_000],
    ["1.2Gbps", 1_200_000_000],
    ["8 Mbit/s", 8_000_000],
    ["8Mb/s", 8_000_000],
    ["8000000", 8_000_000],
  ];
  for (const [text, bps] of cases) assert.equal(parseRate(text), bps, text);
  // Bytes are refused: nobody can tell whether MB was meant.
  for (const text of ["8MB/s", "8MBps", "8mbps", "8 megabit", "0.5bps"]) {
    assert.throws(() => parseRate(text), ConfigError, text);
  }
});

Deno.test("sizes", () => {
  const cases: [string, number][] = [
    ["1316", 1316],
    ["64kB", 64_000],
    ["64KiB", 65_536],
    ["8MiB", 8_388_608],
    ["1.5Ki", 1536],
    ["2G", 2_000_000_000],
  ];
  for (const [text, bytes] of cases) assert.equal(parseSize(text), bytes, text);
  for (const text of ["1.5", "8Mb", "8 MBit"]) {
    assert.throws(() => parseSize(text), ConfigError, text);
  }
});

Deno.test("shares", () => {
  const cases: [string, number][] = [
    ["1%", 0.01],
    ["0.01", 0.01],
    ["0.5%", 0.005],
    ["0", 0],
    ["0%", 0],
    ["100%", 1],
    ["0.07", 0.07],
  ];
  for (const [text, value] of cases) assert.equal(parseShare(text), value, text);
  assert.equal(
    messageOf(() => parseShare("1")),
    `"1" can be read in two ways; write 1% for 1 in a hundred, or 100% for all`,
  );
  assert.equal(messageOf(() => parseShare("101%")), `"101%" is more than 100%`);
  assert.match(messageOf(() => parseShare("0.00000000000001")), /finer than the least share/);
});

Deno.test("whole numbers and switches", () => {
  assert.equal(parseInteger("7", 1, 9), 7);
  const largest = Number.MAX_SAFE_INTEGER;
  assert.equal(parseInteger(`${largest}`, 0, largest), largest);
  for (const text of ["9007199254740992", "9007199254740993", "9".repeat(16), "9".repeat(17)]) {
    assert.throws(() => parseInteger(text, 0, largest), ConfigError, text);
  }
  for (const text of ["0", "10", "1.5", "-1", "0x5", "", "1e0", "9999999999999999"]) {
    assert.throws(() => parseInteger(text, 1, 9), ConfigError, text);
  }
  for (const text of ["yes", "ON", "True", "1"]) assert.equal(parseSwitch(text), true, text);
  for (const text of ["no", "off", "FALSE", "0"]) assert.equal(parseSwitch(text), false, text);
  assert.throws(() => parseSwitch("maybe"), ConfigError);
});

Deno.test("what is formatted is read back exactly", () => {
  const whole = fc.maxSafeNat();
  fc.assert(fc.property(whole, (ns) => parseDuration(formatDuration(ns)) === ns));
  fc.assert(fc.property(whole, (bps) => parseRate(formatRate(bps)) === bps));
  fc.assert(fc.property(whole, (bytes) => parseSize(formatSize(bytes)) === bytes));
  fc.assert(fc.property(fc.nat(1_000_000_000_000 - 1), (parts) => {
    const share = parts / 1_000_000_000_000;
    return parseShare(formatShare(share)) === share;
  }));
  assert.equal(formatDuration(1_500_000_000), "1.5s");
  assert.equal(formatDuration(20_000_000), "20ms");
  assert.equal(formatDuration(1_000_001), "1000.001us");
  assert.equal(formatRate(8_000_000), "8Mbps");
  assert.equal(formatRate(10_528_000), "10.528Mbps");
  assert.equal(formatSize(8_388_608), "8MiB");
  assert.equal(formatShare(0.07), "7%");
});

Deno.test("no text makes a reader throw anything but a ConfigError", () => {
  const readers = [
    (text: string) => parseDuration(text, "ms"),
    (text: string) => parseDuration(text),
    parseRate,
    parseSize,
    parseShare,
    (text: string) => parseInteger(text, 0, 65_535),
    (text: string) => Math.abs(parseClockError(text)),
    parseSwitch,
  ];
  const number = fc.stringMatching(/^\d{0,20}(\.\d{0,20})?(ns|us|ms|s|Mbps|KiB|%|)$/);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), number), (text) => {
      for (const read of readers) {
        try {
          const value = read(text);
          if (typeof value === "number") assert.ok(Number.isFinite(value) && value >= 0);
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error));
          assert.ok(!error.message.includes("\n"));
        }
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("clock errors have a sign and a unit", () => {
  const read: [string, number][] = [
    ["50ppm", 50_000],
    ["+50 ppm", 50_000],
    ["-0.001ppm", -1],
    ["-300ppb", -300],
    ["0", 0],
    ["-0", 0],
    ["0ppm", 0],
  ];
  for (const [text, ppb] of read) assert.equal(parseClockError(text), ppb, text);
  for (const text of ["", "-", "50", "--5ppm", "5%", "0.0001ppm", "ppm", "1e3ppm", "- 5ppm"]) {
    assert.throws(() => parseClockError(text), ConfigError, text);
  }
});
