import assert from "node:assert/strict";
import { LibraryError, LockstepError } from "./errors.ts";

Deno.test("the library's errors carry name and code", () => {
  const error = new LockstepError("LS_EINVAL", -1, "mss: '7' is not a whole number");
  assert.equal(String(error), "LS_EINVAL: mss: '7' is not a whole number");
  assert.equal(error.code, -1);
  assert.ok(error instanceof Error);
});

Deno.test("a library that cannot be loaded names every place", () => {
  const cause = new Error("dlopen");
  const attempts = [{ path: "/a.so", reason: "no such file" }, { path: "/b.so", reason: "old" }];
  const error = new LibraryError(attempts, "build it", { cause });
  assert.equal(
    error.message,
    "cannot load liblockstep: tried /a.so (no such file), /b.so (old); build it",
  );
  assert.equal(error.cause, cause);
  assert.deepEqual(error.attempts, attempts);
});
