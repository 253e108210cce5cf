/**
 * Scenarios of the simulator: YAML in, the library's options out (docs/reference/scenario.md).
 *
 * @module
 */

import { z } from "zod";
import { ConfigError, quote } from "./error.ts";
import { impairments } from "./impairment.ts";
import { integer, type Read, span } from "./key.ts";
import type { NumericOption } from "./resolve.ts";
import { formatRate, parseClockError, parseDuration, parseInteger, parseRate } from "./units.ts";
import { maxYamlBytes, readYaml } from "./yaml.ts";

/** A link of a scenario. */
export interface ScenarioLink {
  readonly name: string;
  readonly options: readonly NumericOption[];
}

/** What a scenario asks for. */
export interface Scenario {
  /** Options of the simulation itself, but for its seed. */
  readonly options: readonly NumericOption[];
  readonly links: readonly ScenarioLink[];
  readonly durationNs: number;
  /** Undefined where none is written. */
  readonly seed: number | undefined;
}

const us = 1_000;
const second = 1_000_000_000;
const hour = 3600 * second;

/** The longest run: 2^53 ns are 104 days. */
export const maxDurationNs = 90 * 24 * hour;

/** The longest text. */
export const maxScenarioBytes = maxYamlBytes;

const maxLinks = 8;

/** A reader of text as zod knows it: what the reader says becomes an issue. */
function as<T>(read: (text: string) => T): z.ZodType<T, string> {
  return z.string({ error: "is a list, a map or nothing where a value is expected" })
    .transform((text, context) => {
      try {
        return read(text);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        context.issues.push({ code: "custom", message: error.message, input: text });
        return z.NEVER;
      }
    });
}

/** A key that sets one option of the library. */
function option(name: string, read: (text: string) => Read): z.ZodType<NumericOption[], string> {
  return as((text) => [{ name, value: read(text).value }]);
}

/** A map with these keys and no others, none of which must be there. */
function section<S extends z.core.$ZodShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `accepted: ${Object.keys(shape).join(", ")}`
        : "is not a map of keys and values",
  });
}

function whole(min: number, max: number): (text: string) => number {
  return (text) => parseInteger(text, min, max);
}

function rate(minBps: number, maxBps: number): (text: string) => Read {
  return (text) => {
    const bps = parseRate(text);
    if (bps < minBps || bps > maxBps) {
      throw new ConfigError(
        `${quote(text)} is not between ${formatRate(minBps)} and ${formatRate(maxBps)}`,
      );
    }
    return { value: bps.toString(), shown: formatRate(bps) };
  };
}

/** An error of a clock's rate, within 1000 ppm either way. */
function clockError(minPpb: number): (text: string) => Read {
  return (text) => {
    const ppb = parseClockError(text);
    if (ppb < minPpb || ppb > 1_000_000) {
      throw new ConfigError(`${quote(text)} is not between ${minPpb / 1000}ppm and 1000ppm`);
    }
    return { value: ppb.toString(), shown: text };
  };
}

/** Stamps of SRT are 32 bits of µs (draft-sharabayko-srt §3). */
function stamp(text: string): Read {
  const ns = parseDuration(text);
  if (ns % us !== 0 || ns / us > 0xffff_ffff) {
    throw new ConfigError(`${quote(text)} is not a whole number of us up to 4294967295us`);
  }
  return { value: (ns / us).toString(), shown: text };
}

function isn(text: string): Read {
  const value = text === "random" ? "-1" : parseInteger(text, 0, 0x7fff_fffe).toString();
  return { value, shown: text };
}

function lossRule(text: string): Read {
  if (text !== "allowed" && text !== "forbidden") {
    throw new ConfigError(`${quote(text)} is neither allowed nor forbidden`);
  }
  return { value: text === "allowed" ? "true" : "false", shown: text };
}

function duration(text: string): number {
  const ns = parseDuration(text);
  if (ns < second || ns > maxDurationNs) {
    throw new ConfigError(`${quote(text)} is not between 1s and 2160h`);
  }
  return ns;
}

function linkName(text: string): string {
  if (!/^[\w.-]{1,32}$/.test(text)) {
    throw new ConfigError(`${quote(text)} is not a name of 1 to 32 letters, digits and . _ -`);
  }
  return text;
}

/** `outage: { every: 30s, for: 5s }`, or the text that `impair` takes. */
function outage(read: (text: string) => NumericOption[]): z.ZodType<NumericOption[]> {
  const part = z.string({ error: "is not a duration" });
  const map = z.strictObject({ every: part, for: part }, {
    error: "is not an outage; write { every: 30s, for: 5s }",
  });
  return z.union([
    as(read),
    map.transform((given, context) => {
      const result = as(read).safeParse(`every=${given.every},for=${given.for}`);
      if (result.success) return result.data;
      for (const { message } of result.error.issues) {
        context.issues.push({ code: "custom", message, input: given });
      }
      return z.NEVER;
    }),
  ], { error: "is not an outage; write { every: 30s, for: 5s }" });
}

/** What a link does, for both directions or with `forward_` or `backward_` for one. */
function impairmentKeys(prefix: "" | "forward_" | "backward_"): Record<string, z.ZodType> {
  return Object.fromEntries(impairments.map(({ name, read }) => {
    const options = (text: string): NumericOption[] => {
      // Elsewhere no limit is told by leaving the flag out; a file shows all its lines.
      if (name === "rate" && text === "0") return [];
      return read(text).options.map((one) => ({ ...one, name: `${prefix}${one.name}` }));
    };
    return [name, (name === "outage" ? outage(options) : as(options)).optional()];
  }));
}

const streamShape = {
  rate: option("rate_bps", rate(1_000, 10_000_000_000)).optional(),
  payload: option("payload_bytes", integer(32, 1456)).optional(),
  latency: option("latency_ns", span(0, 65_535_000_000, "ms")).optional(),
  max_bandwidth: option("max_bandwidth_bps", rate(0, 100_000_000_000)).optional(),
  buffer: option("buffer_packets", integer(256, 65_536)).optional(),
  reorder_tolerance: option("reorder_tolerance", integer(0, 10_000)).optional(),
};

const clocksShape = {
  sender: option("sender_ppb", clockError(-1_000_000)).optional(),
  receiver: option("receiver_ppb", clockError(-1_000_000)).optional(),
  sender_wander: option("sender_wander_ppb", clockError(0)).optional(),
  receiver_wander: option("receiver_wander_ppb", clockError(0)).optional(),
};

const startShape = {
  isn: option("isn", isn).optional(),
  stamp: option("stamp_us", stamp).optional(),
};

const rulesShape = {
  latency_tolerance: option("latency_tolerance_ns", span(us, 24 * hour, "ms")).optional(),
  loss: option("loss_allowed", lossRule).optional(),
};

const linkShape = {
  name: as(linkName).optional(),
  ...impairmentKeys(""),
  forward: section(impairmentKeys("forward_")).optional(),
  backward: section(impairmentKeys("backward_")).optional(),
};

const linksShape = z.array(section(linkShape), { error: "is not a list of links" })
  .min(1, { error: "has no link; a stream needs at least one" })
  .max(maxLinks, { error: `has more than ${maxLinks} links` });

/** The whole; a test holds its keys against docs/reference/scenario.md. */
const scenarioShape = {
  stream: section(streamShape).optional(),
  clocks: section(clocksShape).optional(),
  start: section(startShape).optional(),
  rules: section(rulesShape).optional(),
  duration: as(duration).optional(),
  seed: as(whole(0, Number.MAX_SAFE_INTEGER)).optional(),
  links: linksShape,
};

const scenarioSchema = section(scenarioShape);

/** The keys of each part, for the reference page. */
export const scenarioKeys: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(scenarioShape),
  stream: Object.keys(streamShape),
  clocks: Object.keys(clocksShape),
  start: Object.keys(startShape),
  rules: Object.keys(rulesShape),
  links: Object.keys(linkShape),
};

/** How long a run is where nothing is said. */
const defaultDurationNs = hour;

/**
 * Reads a scenario.
 *
 * @throws {ConfigError} a line for each thing that is not accepted, with its line and column.
 */
export function readScenario(text: string): Scenario {
  const { content, at, atKey } = readYaml(text);
  const parsed = scenarioSchema.safeParse(content);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.flatMap((issue) => complaints(issue, at, atKey)).join("\n"),
    );
  }
  const { stream, clocks, start, rules, duration: durationNs, seed, links } = parsed.data;
  return {
    options: [stream, clocks, start, rules].flatMap((part) => optionsOf(part ?? {})),
    links: named(links, at),
    durationNs: durationNs ?? defaultDurationNs,
    seed,
  };
}

type Where = ReturnType<typeof readYaml>;

/** What is wrong, a line each: where, which key, what is accepted. */
function complaints(issue: z.core.$ZodIssue, at: Where["at"], atKey: Where["atKey"]): string[] {
  const path = issue.path.map((part) => typeof part === "number" ? part : String(part));
  const name = path.map((part, index) =>
    typeof part === "number" ? `[${part + 1}]` : `${index > 0 ? "." : ""}${part}`
  ).join("");
  if (issue.code === "unrecognized_keys") {
    const of = name === "" ? "" : `${name}: `;
    return issue.keys.map((key) =>
      `${atKey(path, key)}${of}unknown key ${quote(key)}; ${issue.message}`
    );
  }
  if (issue.code === "invalid_union") {
    // The way of writing that was chosen says more than that none fits.
    const told = issue.errors.find((errors) => errors.every(({ code }) => code === "custom"));
    if (told !== undefined) {
      return told.flatMap((one) => complaints({ ...one, path: [...path, ...one.path] }, at, atKey));
    }
  }
  const missing = name === "links" && issue.code === "invalid_type" && issue.input === undefined;
  return [`${at(path)}${name === "" ? "" : `${name}: `}${missing ? "is missing" : issue.message}`];
}

/** All options in a part: those of a direction come last and win. */
function optionsOf(part: object): NumericOption[] {
  return Object.entries(part).flatMap(([key, value]) =>
    key === "name" ? [] : Array.isArray(value) ? value : optionsOf(value ?? {})
  );
}

function named(
  links: z.output<typeof linksShape>,
  at: Where["at"],
): ScenarioLink[] {
  const names = links.map(({ name }, index) => name ?? String.fromCharCode(65 + index));
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice >= 0) {
    throw new ConfigError(
      `${at(["links", twice, "name"])}two links have the name ${quote(names[twice] ?? "")}`,
    );
  }
  return links.map((link, index) => ({ name: names[index] ?? "", options: optionsOf(link) }));
}
