/**
 * Which of the peers that no one here wrote are installed. A test whose peer is missing is skipped
 * and counted as such; with CI=true it fails instead.
 *
 * @module
 */

/** The peers, and how each prints its version. */
const versionFlags = {
  "srt-live-transmit": "-version",
  ffmpeg: "-version",
  tshark: "--version",
  dumpcap: "--version",
} as const;

/** A program of another project. */
export type Program = keyof typeof versionFlags;

const ci = Deno.env.get("CI") === "true";

async function isThere(program: Program): Promise<boolean> {
  try {
    const args = [versionFlags[program]];
    const options = { args, stdout: "null", stderr: "null" } as const;
    return (await new Deno.Command(program, options).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const names = Object.keys(versionFlags) as Program[];
const found = await Promise.all(names.map(isThere));
const absent = new Set(names.filter((_, index) => !found[index]));

/** What `Deno.test` and `t.step` take. */
interface Definition<T> {
  readonly name: string;
  readonly ignore: boolean;
  readonly fn: (context: T) => Promise<void> | void;
}

/** A test or step that needs programs: done, skipped with the reason in its name, or failed. */
export function needing<T>(
  programs: readonly Program[],
  name: string,
  fn: (context: T) => Promise<void> | void,
): Definition<T> {
  const missing = programs.filter((program) => absent.has(program));
  if (missing.length === 0) return { name, ignore: false, fn };
  const reason = `not installed: ${missing.join(", ")}`;
  if (!ci) return { name: `${name} (skipped, ${reason})`, ignore: true, fn };
  return { name, ignore: false, fn: () => Promise.reject(new Error(reason)) };
}

/** Whether all of these are installed. */
export function installed(programs: readonly Program[]): boolean {
  return !programs.some((program) => absent.has(program));
}
