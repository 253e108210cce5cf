import assert from "node:assert/strict";
import fc from "fast-check";
import { layout } from "./statistics.gen.ts";
import { blockSize, decodeStatistics } from "./statistics.ts";

Deno.test("every field of every scope is at its place", () => {
  for (const scope of ["engine", "flow", "endpoint", "link", "relay", "simulation"] as const) {
    const fields: readonly { name: string; type: string }[] = layout[scope];
    const view = new DataView(new ArrayBuffer(blockSize(scope)));
    fields.forEach(({ type }, index) => {
      if (type === "f64") view.setFloat64(8 * index, index + 0.5, true);
      else view.setBigInt64(8 * index, BigInt(type === "i64" ? -index - 1 : index + 1), true);
    });
    const record = decodeStatistics(scope, view) as unknown as Record<string, number>;
    assert.deepEqual(Object.keys(record), fields.map(({ name }) => name));
    fields.forEach(({ name, type }, index) => {
      const expected = type === "f64" ? index + 0.5 : type === "i64" ? -index - 1 : index + 1;
      assert.equal(record[name], expected, `${scope}/${name}`);
    });
  }
});

Deno.test("whole numbers are exact as far as a number can be", () => {
  const signed = layout.link.findIndex(({ name }) => name === "drift_ns");
  const counter = layout.link.findIndex(({ name }) => name === "bytes_received");
  fc.assert(fc.property(fc.maxSafeInteger(), fc.maxSafeNat(), (drift, bytes) => {
    const view = new DataView(new ArrayBuffer(blockSize("link")));
    view.setBigInt64(8 * signed, BigInt(drift), true);
    view.setBigUint64(8 * counter, BigInt(bytes), true);
    const record = decodeStatistics("link", view);
    assert.equal(record.drift_ns, drift);
    assert.equal(record.bytes_received, bytes);
  }));
});
