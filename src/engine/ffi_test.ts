import assert from "node:assert/strict";
import { LibraryError } from "./errors.ts";
import { libraryPaths, load, loadFrom } from "./ffi.ts";

// Loaded here, since a test may not leave a library behind.
const library = load();

/** A real shared library that is not ours. */
const foreign = `/lib/${Deno.build.arch}-linux-gnu/libc.so.6`;

function failure(paths: string[]): LibraryError {
  try {
    loadFrom(paths);
  } catch (error) {
    assert.ok(error instanceof LibraryError, String(error));
    return error;
  }
  assert.fail("it was loaded");
}

Deno.test("paths are absolute, the built library first", () => {
  const paths = libraryPaths();
  assert.equal(paths.length, 2);
  assert.match(paths[0] ?? "", /^\/.*\/build\/release\/liblockstep\.so$/);
  assert.equal(paths[1], "/usr/lib/liblockstep.so");
});

Deno.test("an error names every path and the way out", () => {
  const error = failure(["/nonexistent/a.so", "/nonexistent/b.so", foreign]);
  assert.equal(
    error.message.replace(/ls_\w+/, "ls_…"),
    "cannot load liblockstep: tried /nonexistent/a.so (no such file), " +
      `/nonexistent/b.so (no such file), ${foreign} (incomplete: ls_… is missing); ` +
      "build it with: deno task build, or name another library in LOCKSTEP_LIB",
  );
  assert.equal(error.attempts.length, 3);
  assert.ok(error.cause instanceof Error);
});

Deno.test("the library fits, and is loaded once", () => {
  assert.equal(load(), library);
  assert.equal(library.ls_abi_version(), 1);
});
