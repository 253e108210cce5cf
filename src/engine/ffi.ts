/**
 * Finds and loads the library. Nothing else in the project opens one.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { type Attempt, LibraryError } from "./errors.ts";
import { layoutHash } from "./statistics.gen.ts";
import { abiVersion, type Library, symbols } from "./symbols.ts";

/** Names another library; only that one is tried then. */
export const libraryVariable = "LOCKSTEP_LIB";

const built = fileURLToPath(new URL("../../build/release/liblockstep.so", import.meta.url));
const installed = "/usr/lib/liblockstep.so";

/**
 * Where the library is looked for, in this order. The paths are absolute, because the permission
 * (`--allow-ffi=PATH`) is compared with the path.
 */
export function libraryPaths(): readonly string[] {
  const named = environment(libraryVariable);
  return named === undefined || named === "" ? [built, installed] : [named];
}

/** A variable, where reading it is permitted. */
function environment(variable: string): string | undefined {
  const permission = Deno.permissions.querySync({ name: "env", variable });
  return permission.state === "granted" ? Deno.env.get(variable) : undefined;
}

let loaded: Library | undefined;

/**
 * The library, loaded once and never unloaded: a call into an unloaded library is a crash.
 *
 * @throws {LibraryError} not found, not permitted, or built from other sources than this app.
 */
export function load(): Library {
  loaded ??= loadFrom(libraryPaths());
  return loaded;
}

/**
 * Loads the first of these paths that can be opened, and checks that it fits this app.
 *
 * @throws {LibraryError} as `load`.
 */
export function loadFrom(paths: readonly string[]): Library {
  const attempts: Attempt[] = [];
  let cause: unknown;
  for (const path of paths) {
    let library: Library;
    try {
      library = Deno.dlopen(path, symbols).symbols;
    } catch (error) {
      attempts.push({ path, reason: reasonOf(error, path) });
      cause ??= error;
      continue;
    }
    const misfit = misfitOf(library);
    if (misfit === undefined) return library;
    throw new LibraryError([...attempts, { path, reason: misfit }], rebuild);
  }
  throw new LibraryError(
    attempts,
    `${rebuild}, or name another library in ${libraryVariable}`,
    { cause },
  );
}

const rebuild = "build it with: deno task build";

function misfitOf(library: Library): string | undefined {
  const version = library.ls_abi_version();
  if (version !== abiVersion) return `its interface has version ${version}, not ${abiVersion}`;
  return library.ls_layout_hash() === layoutHash
    ? undefined
    : "its statistics are laid out differently";
}

/** Deno tells a missing file and a missing symbol only by the text of a plain Error. */
function reasonOf(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotCapable) return `not permitted: run with --allow-ffi=${path}`;
  const text = error instanceof Error ? error.message : String(error);
  // A library that it needs may also be missing, and then that one is named.
  if (text.includes(`${path}: cannot open shared object file: No such file`)) return "no such file";
  const missing = /undefined symbol: (\w+)/.exec(text)?.[1];
  return missing === undefined ? text.replaceAll(/\s+/g, " ") : `incomplete: ${missing} is missing`;
}
