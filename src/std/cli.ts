/**
 * `parseArgs` with the shape of `parseArgs` of Deno's `@std/cli`, over `node:util`. It is the part
 * of it that this project uses; every value is text (as with `string: ["_"]` there), and only
 * declared options take a value.
 *
 * @module
 */

import { parseArgs as tokenise } from "node:util";

/** What the arguments may be. */
export interface ParseOptions<B extends string, S extends string, C extends string> {
  /** Options without a value: `--name`; `--name=false` is false. */
  readonly boolean?: readonly B[];
  /** Options with a value: `--name value`, `--name=value`; without one the value is "". */
  readonly string?: readonly S[];
  /** The `string` options that may be given more than once: their values in order. */
  readonly collect?: readonly C[];
  /** Another name, or other names, of an option; one letter makes a short option `-v`. */
  readonly alias?: Readonly<Record<string, string | readonly string[]>>;
  /** Values of options that were not given. */
  readonly default?: Readonly<Partial<Record<NoInfer<B>, boolean> & Record<NoInfer<S>, string>>>;
  /** The `boolean` options that `--no-name` makes false. */
  readonly negatable?: readonly NoInfer<B>[];
  /** Whether all arguments from the first positional one on are positional. */
  readonly stopEarly?: boolean;
  /**
   * Called with each argument that is not a declared option: (argument) for a positional one,
   * (argument, name, value) for an option. If it returns false, the argument is left out.
   */
  readonly unknown?: (argument: string, name?: string, value?: unknown) => unknown;
}

/** The arguments by name, positional ones in `_`. */
export type Args<B extends string, S extends string, C extends string> =
  & { [name: string]: unknown; _: string[] }
  & { [name in B]: boolean }
  & { [name in Exclude<S, C>]: string | undefined }
  & { [name in C]: string[] };

/**
 * Parses arguments, as `parseArgs` of `@std/cli` does.
 *
 * @example
 * ```ts
 * import { parseArgs } from "@std/cli";
 * import assert from "node:assert/strict";
 *
 * const args = parseArgs(["route", "--to", "a", "--to=b", "-q"], {
 *   boolean: ["quiet"],
 *   string: ["to"],
 *   collect: ["to"],
 *   alias: { quiet: "q" },
 * });
 * assert.deepEqual(args._, ["route"]);
 * assert.deepEqual(args.to, ["a", "b"]);
 * assert.equal(args.quiet, true);
 * ```
 */
export function parseArgs<
  const B extends string = never,
  const S extends string = never,
  const C extends S = never,
>(args: readonly string[], options: ParseOptions<B, S, C> = {}): Args<B, S, C> {
  const names = new Names(options);
  const tokens = names.tokens(args, options.stopEarly ?? false);
  const result: Record<string, unknown> & { _: string[] } = { _: [] };
  for (const token of tokens) {
    if (token.kind === "positional") {
      if (options.unknown?.(token.value) !== false) result._.push(token.value);
    } else if (token.kind === "option") {
      const { rawName, value } = token;
      const { name, negated } = names.resolve(token.name);
      if (name === undefined) {
        const argument = token.inlineValue ? `${rawName}=${value}` : rawName;
        const given = value ?? true;
        if (options.unknown?.(argument, token.name, given) !== false) result[token.name] = given;
      } else if (names.booleans.has(name)) {
        names.assign(result, name, value === undefined ? !negated : value !== "false");
      } else if (names.collected.has(name)) {
        const before = result[name];
        names.assign(result, name, [...Array.isArray(before) ? before : [], value ?? ""]);
      } else names.assign(result, name, value ?? "");
    }
  }
  for (const [name, value] of names.defaults(options.default ?? {})) {
    if (!Object.hasOwn(result, name)) names.assign(result, name, value);
  }
  return result as Args<B, S, C>;
}

type Tokens = NonNullable<ReturnType<typeof tokenise>["tokens"]>;

/** The declared options and their other names. */
class Names {
  readonly booleans: ReadonlySet<string>;
  readonly strings: ReadonlySet<string>;
  readonly collected: ReadonlySet<string>;
  readonly #negatable: ReadonlySet<string>;
  /** From any name to the declared one. */
  readonly #declared = new Map<string, string>();
  /** From a declared name to all the others. */
  readonly #others = new Map<string, string[]>();

  constructor(options: ParseOptions<string, string, string>) {
    this.booleans = new Set(options.boolean);
    this.strings = new Set(options.string);
    this.collected = new Set(options.collect);
    this.#negatable = new Set(options.negatable);
    for (const name of [...this.booleans, ...this.strings]) this.#declared.set(name, name);
    for (const [key, values] of Object.entries(options.alias ?? {})) {
      const group = [key, ...typeof values === "string" ? [values] : values];
      const name = group.find((one) => this.#declared.get(one) === one);
      if (name === undefined) continue;
      const others = group.filter((one) => one !== name);
      this.#others.set(name, [...this.#others.get(name) ?? [], ...others]);
      for (const other of others) this.#declared.set(other, name);
    }
  }

  /** The declared name that is meant, if any. */
  resolve(name: string): { name: string | undefined; negated: boolean } {
    const declared = this.#declared.get(name);
    if (declared !== undefined || !name.startsWith("no-")) {
      return { name: declared, negated: false };
    }
    const positive = this.#declared.get(name.slice("no-".length));
    const negated = positive !== undefined && this.#negatable.has(positive);
    return { name: negated ? positive : undefined, negated };
  }

  /** Sets a value under all names of an option. */
  assign(result: Record<string, unknown>, name: string, value: unknown): void {
    for (const one of [name, ...this.#others.get(name) ?? []]) result[one] = value;
  }

  /** The value of every option that has one without being given. */
  defaults(given: Readonly<Record<string, unknown>>): [string, unknown][] {
    const own = Object.entries(given).map((
      [name, value],
    ): [string, unknown] => [name, this.collected.has(name) ? [value] : value]);
    const booleans = [...this.booleans].map((name): [string, unknown] => [name, false]);
    const collected = [...this.collected].map((name): [string, unknown] => [name, []]);
    return [...own, ...booleans, ...collected];
  }

  tokens(args: readonly string[], stopEarly: boolean): Tokens {
    const given = this.#tokenise(this.#withEmptyValues(args));
    if (!stopEarly) return given;
    const first = given.findIndex((token) => token.kind === "positional");
    const from = given[first];
    if (from === undefined) return given;
    const rest = args.slice(from.index).filter((argument, at) => at > 0 || argument !== "--");
    return [
      ...given.slice(0, first),
      ...rest.map((value, at) => ({ kind: "positional" as const, index: from.index + at, value })),
    ];
  }

  #tokenise(args: readonly string[]): Tokens {
    const options: Record<string, { type: "boolean" | "string"; short?: string }> = {};
    for (const [name, declared] of this.#declared) {
      const type = this.strings.has(declared) ? "string" : "boolean";
      if (name.length === 1) options[name] = { type, short: name };
      else options[name] = { type };
    }
    return tokenise({ args: [...args], options, strict: false, tokens: true }).tokens;
  }

  /** An option that is followed by another one, or by nothing, has the value "". */
  #withEmptyValues(args: readonly string[]): string[] {
    const end = args.indexOf("--");
    return args.map((argument, at) => {
      const name = /^(?:--([^=]+)|-(.))$/.exec(argument);
      const declared = this.#declared.get(name?.[1] ?? name?.[2] ?? "");
      if (declared === undefined || !this.strings.has(declared)) return argument;
      if (end >= 0 && at > end) return argument;
      const next = args[at + 1];
      const valued = next !== undefined && (next === "-" || !next.startsWith("-"));
      return valued ? argument : `--${declared}=`;
    });
  }
}
