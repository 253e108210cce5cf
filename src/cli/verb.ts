/**
 * How a verb describes itself: one description makes the parser, the help and the reference page.
 *
 * @module
 */

import { parseArgs } from "@std/cli";
import { ConfigError, quote, suggest } from "../config/mod.ts";

/** What a process ends with. */
export const exitCodes = {
  /** It did what it was asked to. */
  ok: 0,
  /** It failed, or something was lost. */
  failed: 1,
  /** The command line is not accepted; nothing was started. */
  usage: 2,
} as const;

/** One of `exitCodes`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command line that is not accepted. The message is one line. */
export class UsageError extends ConfigError {}

/** One option of a verb. */
export interface OptionDescription {
  /** Without dashes. */
  readonly name: string;
  /** Place holder of the value; without one the option is a switch. */
  readonly value?: string;
  /** One letter, for `-q`. */
  readonly short?: string;
  readonly help: string;
  /** Left out of the help, where another line stands for it. */
  readonly hidden?: boolean;
}

/** One verb. */
export interface Verb {
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** The positional arguments, as in `IN OUT…`. */
  readonly usage: string;
  /** Least and greatest number of positional arguments. */
  readonly positionals: readonly [min: number, max: number];
  /** What it does, a paragraph each. */
  readonly about: readonly string[];
  readonly options: readonly OptionDescription[];
  /** What is to be said about the options as a whole, a paragraph each. */
  readonly notes?: readonly string[];
  readonly examples: readonly { readonly command: string; readonly text: string }[];
  readonly run: (invocation: Invocation) => Promise<ExitCode>;
}

/** Options that every verb has. */
export const commonOptions: readonly OptionDescription[] = [
  { name: "help", short: "h", help: "print this help" },
];

/** A command line that was read by a verb's description. */
export class Invocation {
  readonly positional: readonly string[];
  readonly #texts: ReadonlyMap<string, string>;
  readonly #switches: ReadonlySet<string>;

  constructor(
    positional: readonly string[],
    texts: ReadonlyMap<string, string>,
    switches: ReadonlySet<string>,
  ) {
    this.positional = positional;
    this.#texts = texts;
    this.#switches = switches;
  }

  /** The value of an option, or undefined. */
  text(name: string): string | undefined {
    return this.#texts.get(name);
  }

  /** Whether a switch is given. */
  on(name: string): boolean {
    return this.#switches.has(name);
  }

  /**
   * The value of an option, read; `otherwise` where it is not given.
   *
   * @throws {ConfigError} from `read`, with the option's name in front.
   */
  read<T, D>(name: string, otherwise: D, read: (text: string) => T): T | D {
    const text = this.#texts.get(name);
    if (text === undefined) return otherwise;
    try {
      return read(text);
    } catch (error) {
      throw error instanceof ConfigError ? error.of(`--${name}`) : error;
    }
  }
}

/**
 * Reads the arguments after a verb.
 *
 * @throws {UsageError} an unknown option, one without its value, one twice, too few or too many
 * arguments.
 */
export function readInvocation(verb: Verb, args: readonly string[]): Invocation {
  const options = [...verb.options, ...commonOptions];
  const valued = options.filter(({ value }) => value !== undefined).map(({ name }) => name);
  const switches = options.filter(({ value }) => value === undefined).map(({ name }) => name);
  const parsed = parseArgs(args, {
    string: valued,
    collect: valued,
    boolean: switches,
    alias: Object.fromEntries(
      options.flatMap(({ name, short }) => short === undefined ? [] : [[name, short]]),
    ),
    unknown: (argument, name) => {
      if (name === undefined) return true;
      if (/^-[\d.]/.test(argument)) {
        throw new UsageError(`no option takes a negative value such as ${argument}…`);
      }
      const words = options.map((option) => option.name);
      throw new UsageError(
        `${verb.name} has no option ${quote(argument)}; ${suggestOption(name, words)}`,
      );
    },
  });
  const texts = new Map<string, string>();
  for (const { name, value } of options) {
    const given = value === undefined ? [] : parsed[name];
    if (!Array.isArray(given) || given.length === 0) continue;
    if (given.length > 1) throw new UsageError(`--${name} is given twice; keep one`);
    if (given[0] === "") throw new UsageError(`--${name} needs a value: --${name} ${value}`);
    texts.set(name, String(given[0]));
  }
  const on = new Set(switches.filter((name) => parsed[name] === true));
  if (!on.has("help")) checkCount(verb, parsed._);
  return new Invocation(parsed._, texts, on);
}

function suggestOption(name: string, words: readonly string[]): string {
  return suggest(name, words).replaceAll(
    /\b(?:[a-z]+-)*[a-z]+\b/g,
    (word) => words.includes(word) ? `--${word}` : word,
  );
}

function checkCount(verb: Verb, positional: readonly string[]): void {
  const [min, max] = verb.positionals;
  if (positional.length < min) {
    throw new UsageError(`an argument is missing: lockstep ${verb.name} ${verb.usage}`);
  }
  if (positional.length > max) {
    throw new UsageError(
      `${quote(positional[max] ?? "")} is one argument too many: ` +
        `lockstep ${verb.name} ${verb.usage}`,
    );
  }
}
