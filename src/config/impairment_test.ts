import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import { impairmentFlags, readImpairments, readRelayAddress } from "./impairment.ts";

Deno.test("flags become the library's options, the special direction last", () => {
  const { options, shown } = readImpairments({
    "backward-loss": "0",
    delay: "20",
    jitter: "2ms",
    loss: "1%",
    burst: "3",
    outage: "for=5s,every=30s",
    reorder: "0.5%",
    duplicate: "0.001",
    rate: "20Mbps",
    queue: "64KiB",
    "forward-delay": "80ms",
  });
  assert.deepEqual(options.map(({ name, value }) => `${name}=${value}`), [
    "delay_ns=20000000",
    "jitter_ns=2000000",
    "loss=0.01",
    "burst_packets=3",
    "outage_every_ns=30000000000",
    "outage_for_ns=5000000000",
    "reorder=0.005",
    "duplicate=0.001",
    "rate_bps=20000000",
    "queue_bytes=65536",
    "forward_delay_ns=80000000",
    "backward_loss=0",
  ]);
  assert.equal(
    shown,
    "delay=20ms jitter=2ms loss=1% burst=3 outage=every=30s,for=5s reorder=0.5% " +
      "duplicate=0.1% rate=20Mbps queue=64KiB forward-delay=80ms backward-loss=0%",
  );
});

Deno.test("what is not accepted", () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ los: "1%" }, /^unknown impairment "los"; did you mean loss\?/],
    [{ loss: "1" }, /^--loss: "1" can be read in two ways; write 1%/],
    [{ loss: "" }, /^--loss: "" is not a share/],
    [{ delay: "2min" }, /^--delay: "2min" is not between 0s and 60s/],
    [{ burst: "0.5" }, /^--burst: "0.5" is not a mean number of packets from 1 to 1000000/],
    [{ outage: "30s" }, /^--outage: "30s" is not an outage; write every=30s,for=5s/],
    [{ outage: "every=30s" }, /write every=30s,for=5s/],
    [{ outage: "every=30s,every=30s" }, /write every=30s,for=5s/],
    [{ outage: "every=5s,for=5s" }, /shorter than its period/],
    [{ outage: "every=5s,for=0s" }, /longer than 0/],
    [{ outage: "every=5,for=1s" }, /^--outage: every: "5" has no unit/],
    [{ "forward-rate": "10bps" }, /^--forward-rate: "10bps" is not between 1kbps and 1000Gbps/],
    [{ queue: "2GiB" }, /^--queue: "2GiB" is not between/],
  ];
  for (const [given, message] of cases) {
    assert.throws(() => readImpairments(given), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("addresses of the relay", () => {
  assert.deepEqual(readRelayAddress(":4200", false), { host: "", port: 4200 });
  assert.deepEqual(readRelayAddress("udp://127.0.0.1:4200", true), {
    host: "127.0.0.1",
    port: 4200,
  });
  assert.throws(() => readRelayAddress(":4200", true), /has no host; write 127.0.0.1:4200/);
  assert.throws(() => readRelayAddress("srt://h:1", true), /is more than an address/);
  assert.throws(() => readRelayAddress("udp://h:1?a=b", true), /is more than an address/);
});

Deno.test("no values make it throw anything but a ConfigError", () => {
  const flags = impairmentFlags().map(({ flag }) => flag);
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^\d{1,8}(\.\d{1,8})?(%|ms|s|Mbps|KiB|)$/),
    fc.stringMatching(/^every=\d{1,5}(s|ms),for=\d{1,5}(s|ms)$/),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...flags), value), (given) => {
      try {
        for (const { value } of readImpairments(given).options) {
          assert.match(value, /^\d+(\.\d+)?$/);
        }
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
