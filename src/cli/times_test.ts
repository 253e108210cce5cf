import assert from "node:assert/strict";
import { ConfigError } from "../config/mod.ts";
import { readLimit, readPeriod } from "./times.ts";

Deno.test("periods and limits", () => {
  assert.equal(readPeriod("1s"), 1000);
  assert.equal(readPeriod("24h"), 86_400_000);
  assert.equal(readLimit("1ms"), 1);
  // Not more than a timer of the runtime can hold.
  assert.ok(readLimit("576h") < 2 ** 31);
  for (const text of ["0s", "99ms", "25h", "1", ""]) {
    assert.throws(() => readPeriod(text), ConfigError, text);
  }
  for (const text of ["0s", "577h", "1", ""]) {
    assert.throws(() => readLimit(text), ConfigError, text);
  }
});
