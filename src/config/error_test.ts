import assert from "node:assert/strict";
import { ConfigError, quote, within } from "./error.ts";

Deno.test("the name of what is wrong stands in front", () => {
  const read = (): never => {
    throw new ConfigError("not a rate");
  };
  assert.throws(() => within("input", () => within("maxbw", read)), {
    name: "ConfigError",
    message: "input: maxbw: not a rate",
  });
  assert.equal(within("input", () => 5), 5);
});

Deno.test("other errors pass as they are", () => {
  const defect = new TypeError("x");
  assert.throws(() =>
    within("input", () => {
      throw defect;
    }), (error) => error === defect);
});

Deno.test("quoted text is short and cannot move a cursor", () => {
  assert.equal(quote("plain"), `"plain"`);
  assert.equal(quote("a\x1b[2Jb\nc\u202e"), `"a?[2Jb?c?"`);
  assert.equal(quote("x".repeat(100)), `"${"x".repeat(60)}…"`);
});
