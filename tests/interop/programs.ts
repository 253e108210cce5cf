/**
 * Which of the peers that no one here wrote are installed and serve. A test whose peer is missing is skipped
 * and counted as such; with CI=true it fails instead.
 *
 * @module
 */

/** The peers, and with which arguments each shows that it serves: dumpcap may not capture. */
const probes = {
  "srt-live-transmit": ["-version"],
  ffmpeg: ["-version"],
  tshark: ["--version"],
  dumpcap: ["-L", "-i", "lo"],
} as const;

/** A program of another project. */
export type Program = keyof typeof probes;

const ci = Deno.env.get("CI") === "true";

async function serves(program: Program): Promise<boolean> {
  try {
    const args = [...probes[program]];
    const command = new Deno.Command(program, { args, stdout: "null", stderr: "null" });
    return (await command.output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const names = Object.keys(probes) as Program[];
const found = await Promise.all(names.map(serves));
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
  const reason = `not installed, or not allowed: ${missing.join(", ")}`;
  if (!ci) return { name: `${name} (skipped, ${reason})`, ignore: true, fn };
  return { name, ignore: false, fn: () => Promise.reject(new Error(reason)) };
}

/** Whether all of these are installed. */
export function installed(programs: readonly Program[]): boolean {
  return !programs.some((program) => absent.has(program));
}
