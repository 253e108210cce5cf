/**
 * The settings of the impairment relay, as they are typed: text in, the library's options out.
 *
 * @module
 */

import { type Address, parseAddress } from "./address.ts";
import { ConfigError, quote, within } from "./error.ts";
import { bytes, type Read, span } from "./key.ts";
import { suggest } from "./nearest.ts";
import type { NumericOption } from "./resolve.ts";
import {
  formatDuration,
  formatRate,
  formatShare,
  parseDuration,
  parseRate,
  parseShare,
} from "./units.ts";

/** Which way a setting holds. */
export type ImpairedDirection = "both" | "forward" | "backward";

/** One thing that the relay does to packets. */
export interface Impairment {
  /** Name of the flag, without direction. */
  readonly name: string;
  /** The value's place holder in help. */
  readonly value: string;
  /** What it does, for help. */
  readonly help: string;
  /** The library's options that it sets, and the normal spelling. */
  readonly read: (text: string) => { options: readonly NumericOption[]; shown: string };
}

const second = 1_000_000_000;

function one(option: string, read: (text: string) => Read): Impairment["read"] {
  return (text) => {
    const { value, shown } = read(text);
    return { options: [{ name: option, value }], shown };
  };
}

function share(text: string): Read {
  const value = parseShare(text);
  return { value: value.toFixed(12).replace(/\.?0+$/, ""), shown: formatShare(value) };
}

/** A mean number of packets, at least 1. */
function burst(text: string): Read {
  const value = /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= 1_000_000)) {
    throw new ConfigError(`${quote(text)} is not a mean number of packets from 1 to 1000000`);
  }
  return { value: value.toString(), shown: value.toString() };
}

function rate(text: string): Read {
  const value = parseRate(text);
  if (value < 1000 || value > 1_000_000_000_000) {
    throw new ConfigError(`${quote(text)} is not between 1kbps and 1000Gbps`);
  }
  return { value: value.toString(), shown: formatRate(value) };
}

/** `every=30s,for=5s`, in any order. */
function outage(text: string): { options: NumericOption[]; shown: string } {
  const found = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, key = "", value = ""] = /^\s*(every|for)\s*=(.*)$/.exec(part) ?? [];
    if (key === "" || found.has(key)) {
      throw new ConfigError(`${quote(text)} is not an outage; write every=30s,for=5s`);
    }
    found.set(key, within(key, () => parseDuration(value)));
  }
  const every = found.get("every");
  const lasting = found.get("for");
  if (every === undefined || lasting === undefined) {
    throw new ConfigError(`${quote(text)} is not an outage; write every=30s,for=5s`);
  }
  if (lasting === 0 || lasting >= every || every > 86_400 * second) {
    throw new ConfigError(
      "the outage must be longer than 0, shorter than its period, within a day",
    );
  }
  return {
    options: [
      { name: "outage_every_ns", value: every.toString() },
      { name: "outage_for_ns", value: lasting.toString() },
    ],
    shown: `every=${formatDuration(every)},for=${formatDuration(lasting)}`,
  };
}

/** Everything that the relay does, in the order in which it is shown. */
export const impairments: readonly Impairment[] = [
  {
    name: "delay",
    value: "20ms",
    help: "delay of each packet, one way",
    read: one("delay_ns", span(0, 60 * second, "ms")),
  },
  {
    name: "jitter",
    value: "2ms",
    help: "standard deviation of the delay",
    read: one("jitter_ns", span(0, 60 * second, "ms")),
  },
  { name: "loss", value: "1%", help: "share of packets lost", read: one("loss", share) },
  {
    name: "burst",
    value: "3",
    help: "mean length of a loss, in packets; 1 is independent",
    read: one("burst_packets", burst),
  },
  {
    name: "outage",
    value: "every=30s,for=5s",
    help: "nothing passes at the end of each period",
    read: outage,
  },
  {
    name: "reorder",
    value: "0.5%",
    help: "share of packets held back 1 to 5 ms, and overtaken",
    read: one("reorder", share),
  },
  {
    name: "duplicate",
    value: "0.1%",
    help: "share of packets delivered twice",
    read: one("duplicate", share),
  },
  {
    name: "rate",
    value: "20Mbps",
    help: "bit rate of the line",
    read: one("rate_bps", rate),
  },
  {
    name: "queue",
    value: "512KiB",
    help: "what may wait for the line; 250 ms of it unless given",
    read: one("queue_bytes", bytes(1, 1_073_741_824)),
  },
];

/** What was asked for: the library's options, and the settings in words. */
export interface ImpairmentSettings {
  readonly options: readonly NumericOption[];
  /** In normal spelling, `delay=20ms loss=1% forward-rate=20Mbps`. */
  readonly shown: string;
}

/** Flag names in the order in which they are applied: a direction's own value comes last and wins. */
export function impairmentFlags(): {
  flag: string;
  direction: ImpairedDirection;
  of: Impairment;
}[] {
  return (["both", "forward", "backward"] as const).flatMap((direction) =>
    impairments.map((of) => ({
      flag: direction === "both" ? of.name : `${direction}-${of.name}`,
      direction,
      of,
    }))
  );
}

/**
 * Reads the flags that were given, by name without dashes.
 *
 * @throws {ConfigError} an unknown flag, a value that is not accepted, settings that contradict.
 *
 * @example
 * ```ts
 * import { readImpairments } from "./impairment.ts";
 * import assert from "node:assert/strict";
 *
 * const { options, shown } = readImpairments({ loss: "1%", "forward-delay": "20ms" });
 * assert.deepEqual(options, [
 *   { name: "loss", value: "0.01" },
 *   { name: "forward_delay_ns", value: "20000000" },
 * ]);
 * assert.equal(shown, "loss=1% forward-delay=20ms");
 * ```
 */
export function readImpairments(given: Readonly<Record<string, string>>): ImpairmentSettings {
  const flags = impairmentFlags();
  for (const name of Object.keys(given)) {
    const names = flags.map(({ flag }) => flag);
    if (!names.includes(name)) {
      throw new ConfigError(`unknown impairment ${quote(name)}; ${suggest(name, names)}`);
    }
  }
  const options: NumericOption[] = [];
  const shown: string[] = [];
  for (const { flag, direction, of } of flags) {
    const text = Object.hasOwn(given, flag) ? given[flag] : undefined;
    if (text === undefined) continue;
    const read = within(`--${flag}`, () => of.read(text));
    const prefix = direction === "both" ? "" : `${direction}_`;
    options.push(...read.options.map(({ name, value }) => ({ name: `${prefix}${name}`, value })));
    shown.push(`${flag}=${read.shown}`);
  }
  return { options, shown: shown.join(" ") };
}

/**
 * Reads an address of the relay: `host:port`, `:port`, or the same with `udp://` in front.
 *
 * @throws {ConfigError} not such an address; no host where one is needed.
 */
export function readRelayAddress(text: string, hostNeeded: boolean): Address {
  const bare = text.replace(/^udp:\/\//i, "").replace(/\/$/, "");
  if (/[/?]/.test(bare)) {
    throw new ConfigError(`${quote(text)} is more than an address; write host:port`);
  }
  const address = parseAddress(bare, "required");
  if (hostNeeded && address.host === "") {
    throw new ConfigError(`${quote(text)} has no host; write 127.0.0.1:${address.port}`);
  }
  return address;
}
