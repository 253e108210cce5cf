/**
 * The command line: finds the verb, runs it, and turns what went wrong into one line and an exit
 * code.
 *
 * @module
 */

import { getLogger } from "@std/log";
import { ConfigError, quote, suggest } from "../config/mod.ts";
import { LibraryError, LockstepError } from "../engine/mod.ts";
import { demo } from "./demo.ts";
import { generalHelp, verbHelp } from "./help.ts";
import { impair } from "./impair.ts";
import { openStreams, standardOutput } from "./output.ts";
import { route } from "./route.ts";
import { simulate } from "./simulate.ts";
import { type ExitCode, exitCodes, readInvocation, UsageError, type Verb } from "./verb.ts";

/** The version of Lockstep. */
export const version = "0.1.0";

/** Every verb, in the order of the help. */
export const verbs: readonly Verb[] = [route, impair, demo, simulate];

/** Runs a command line; what the process ends with. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  openStreams();
  try {
    return await dispatch(args);
  } catch (error) {
    return report(error);
  }
}

async function dispatch(args: readonly string[]): Promise<ExitCode> {
  const [first, ...rest] = args;
  if (first === undefined) throw new UsageError(`a verb is missing; ${verbList()}`);
  if (first === "--version") return print(`lockstep ${version}`);
  if (first === "--help" || first === "-h") return print(generalHelp(verbs));
  if (first === "help") return help(rest);
  const verb = findVerb(first);
  const invocation = readInvocation(verb, rest);
  if (invocation.on("help")) return print(verbHelp(verb));
  return await verb.run(invocation);
}

function help(args: readonly string[]): ExitCode {
  const [name, ...more] = args;
  if (more.length > 0) throw new UsageError("help takes one verb: lockstep help route");
  return print(name === undefined ? generalHelp(verbs) : verbHelp(findVerb(name)));
}

function print(text: string): ExitCode {
  const out = standardOutput();
  out.line(text);
  return out.failed ? exitCodes.failed : exitCodes.ok;
}

function verbList(): string {
  return `accepted: ${[...verbs.map(({ name }) => name), "help"].join(", ")}`;
}

function findVerb(name: string): Verb {
  const found = verbs.find((verb) => verb.name === name);
  if (found !== undefined) return found;
  const names = [...verbs.map((verb) => verb.name), "help"];
  const what = name.startsWith("-") ? "option" : "verb";
  throw new UsageError(`unknown ${what} ${quote(name)}; ${suggest(name, names)}`);
}

/** One line on standard error for what a person can mend; a defect keeps its stack. */
function report(error: unknown): ExitCode {
  const log = getLogger();
  if (error instanceof ConfigError) {
    log.error(`${error.message} (more: lockstep help)`);
    return exitCodes.usage;
  }
  if (error instanceof LockstepError || error instanceof LibraryError) {
    log.error(error.message);
    return exitCodes.failed;
  }
  log.critical(error instanceof Error ? error.stack ?? error.message : String(error));
  return exitCodes.failed;
}
