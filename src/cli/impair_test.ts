import assert from "node:assert/strict";
import { impairmentFlags } from "../config/mod.ts";
import type { RelayStatistics } from "../engine/mod.ts";
import { layout } from "../engine/statistics.gen.ts";
import { impair, relayLine } from "./impair.ts";
import { readInvocation } from "./verb.ts";

Deno.test("every impairment is an option, for both directions and for each", () => {
  for (const { flag } of impairmentFlags()) {
    const invocation = readInvocation(impair, [":4200", "h:5000", `--${flag}`, "1"]);
    assert.equal(invocation.text(flag), "1");
  }
  assert.equal(impairmentFlags().length, 27);
});

Deno.test("a line for both directions", () => {
  const zeros = Object.fromEntries(layout.relay.map(({ name }) => [name, 0]));
  const statistics: RelayStatistics = {
    ...(zeros as unknown as RelayStatistics),
    forward_packets: 2000,
    forward_lost: 20,
    backward_packets: 100,
    backward_outage: 7,
    backward_overflow: 1,
    backward_duplicated: 2,
    lateness_p99_ns: 250_000,
  };
  assert.equal(
    relayLine(statistics, 61e9),
    "0:01:01; forward 2 000 packets: lost 20 (1.00 %), outage 0, overflow 0, twice 0; " +
      "backward 100 packets: lost 0 (0 %), outage 7, overflow 1, twice 2; late p99 250 µs",
  );
});
