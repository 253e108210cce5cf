/**
 * Numbers with units, as people type them, to whole numbers of a base unit and back. Reading is
 * exact decimal arithmetic: a value that the base unit cannot hold is refused, never rounded.
 *
 * @module
 */

import { ConfigError, quote } from "./error.ts";

/** One way of writing a quantity: its units in base units, and the words for a message. */
interface Quantity {
  readonly what: string;
  readonly units: Readonly<Record<string, bigint>>;
  readonly examples: string;
}

const duration: Quantity = {
  what: "duration",
  units: {
    ns: 1n,
    us: 1_000n,
    "µs": 1_000n, // U+00B5, what keyboards have
    "μs": 1_000n, // U+03BC, what text editors turn it into
    ms: 1_000_000n,
    s: 1_000_000_000n,
    min: 60_000_000_000n,
    h: 3_600_000_000_000n,
  },
  examples: "20ms, 1.5s, 250us, 10ns or 2min",
};

type Factor = readonly [prefix: string, factor: bigint];

const thousands: readonly Factor[] = [
  ["", 1n],
  ["k", 1_000n],
  ["K", 1_000n],
  ["M", 1_000_000n],
  ["G", 1_000_000_000n],
];

const binary: readonly Factor[] = [["Ki", 1_024n], ["Mi", 1_048_576n], ["Gi", 1_073_741_824n]];

/** Every prefix before every spelling of the unit. */
function spell(prefixes: readonly Factor[], units: readonly string[]): Record<string, bigint> {
  return Object.fromEntries(
    prefixes.flatMap(([prefix, factor]) =>
      units.map((unit): [string, bigint] => [`${prefix}${unit}`, factor])
    ),
  );
}

const rate: Quantity = {
  what: "rate",
  units: spell(thousands, ["", "bps", "b/s", "bit/s", "bit"]),
  examples: "8Mbps, 500kbps, 1.2Gbps or 8000000 (bit/s)",
};

const offset: Quantity = {
  what: "clock error",
  units: { ppb: 1n, ppm: 1_000n },
  examples: "50ppm, -12.5ppm or 300ppb",
};

const size: Quantity = {
  what: "size",
  units: spell([...thousands, ...binary], ["", "B"]),
  examples: "1316, 64kB, 8MB or 8MiB",
};

/** Shares are held in millionths of a millionth, so that 0.5% and 0.005 are the same number. */
const shareScale = 1_000_000_000_000;

const share: Quantity = {
  what: "share",
  units: { "": BigInt(shareScale), "%": BigInt(shareScale / 100) },
  examples: "1%, 0.5% or 0.01",
};

/** More digits than any quantity here can need; keeps hostile text from making huge numbers. */
const maxDigits = 32;

function refuse(text: string, quantity: Quantity, more = ""): never {
  throw new ConfigError(
    `${quote(text)} is not a ${quantity.what}; write for example ${quantity.examples}${more}`,
  );
}

function read(text: string, quantity: Quantity, bareUnit: string | undefined): bigint {
  const match = /^(\d+)(?:\.(\d+))?\s?([^\d\s.]*)$/u.exec(text.trim());
  const bareText = bareUnit ? `; a bare number means ${bareUnit}` : "";
  if (match === null || text.length > maxDigits) refuse(text, quantity, bareText);
  const [, whole = "", decimals = "", written = ""] = match;
  if (written === "" && bareUnit === undefined) {
    throw new ConfigError(
      `${quote(text)} has no unit; write for example ${quantity.examples}`,
    );
  }
  const unit = written === "" ? bareUnit ?? "" : written;
  const factor = Object.hasOwn(quantity.units, unit) ? quantity.units[unit] : undefined;
  if (factor === undefined) refuse(text, quantity, bareText);
  const scaled = BigInt(whole + decimals) * factor;
  const divisor = 10n ** BigInt(decimals.length);
  if (scaled % divisor !== 0n) {
    throw new ConfigError(`${quote(text)} is finer than the least ${quantity.what}`);
  }
  const value = scaled / divisor;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new ConfigError(`${quote(text)} is larger than any ${quantity.what} can be`);
  }
  return value;
}

/** The shortest exact text: the largest unit in which `value` is at least 1 with ≤ 3 decimals. */
function write(value: number, units: readonly (readonly [string, number])[]): string {
  for (const [unit, factor] of units) {
    if (value >= factor && (value % factor) * 1000 % factor === 0) {
      const decimals = ((value % factor) * 1000 / factor).toString().padStart(3, "0");
      const tail = decimals.replace(/0+$/, "");
      return `${Math.floor(value / factor)}${tail === "" ? "" : `.${tail}`}${unit}`;
    }
  }
  return `${value}${units.at(-1)?.[0] ?? ""}`;
}

/** Units of a duration that may stand for a bare number. */
export type DurationUnit = "ns" | "us" | "ms" | "s" | "min" | "h";

/**
 * A duration in nanoseconds. A bare number is accepted only where its unit is passed in.
 *
 * @throws {ConfigError} not a duration; no unit and `bareUnit` not given; finer than 1 ns.
 *
 * @example
 * ```ts
 * import { parseDuration } from "./units.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseDuration("1.5s"), 1_500_000_000);
 * assert.equal(parseDuration("200", "ms"), 200_000_000);
 * assert.throws(() => parseDuration("200"), { name: "ConfigError" });
 * ```
 */
export function parseDuration(text: string, bareUnit?: DurationUnit): number {
  return Number(read(text, duration, bareUnit));
}

/** The exact text of a duration in nanoseconds, such as `1.5s`; `parseDuration` reads it back. */
export function formatDuration(ns: number): string {
  if (ns === 0) return "0s";
  return write(ns, [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]]);
}

/**
 * A rate in bits per second; a bare number is bit/s.
 *
 * @throws {ConfigError} not a rate; bytes (`B`), which a rate is never written in here.
 *
 * @example
 * ```ts
 * import { parseRate } from "./units.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseRate("1.2Gbps"), 1_200_000_000);
 * assert.equal(parseRate("10M"), 10_000_000);
 * ```
 */
export function parseRate(text: string): number {
  return Number(read(text, rate, ""));
}

/** The exact text of a rate in bit/s, such as `1.2Gbps`; `parseRate` reads it back. */
export function formatRate(bps: number): string {
  return write(bps, [["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3], ["bps", 1]]);
}

/**
 * A size in bytes; `k` is 1000, `Ki` is 1024, a bare number is bytes.
 *
 * @throws {ConfigError} not a size.
 *
 * @example
 * ```ts
 * import { parseSize } from "./units.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseSize("8MiB"), 8_388_608);
 * assert.equal(parseSize("64k"), 64_000);
 * ```
 */
export function parseSize(text: string): number {
  return Number(read(text, size, ""));
}

/** The exact text of a size in bytes, such as `8MiB`; `parseSize` reads it back. */
export function formatSize(bytes: number): string {
  const units: readonly (readonly [string, number])[] = [
    ["GiB", 1_073_741_824],
    ["GB", 1e9],
    ["MiB", 1_048_576],
    ["MB", 1e6],
    ["KiB", 1_024],
    ["kB", 1e3],
  ];
  const unit = units.find(([, factor]) => bytes >= factor && bytes % factor === 0);
  return unit === undefined ? `${bytes}B` : `${bytes / unit[1]}${unit[0]}`;
}

/**
 * A share from 0 to 1, written as a percentage or as a number below 1. A bare 1 or more is refused:
 * some mean 1 %, some mean all.
 *
 * @throws {ConfigError} not a share; a bare number of 1 or more; above 100%.
 *
 * @example
 * ```ts
 * import { parseShare } from "./units.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseShare("1%"), 0.01);
 * assert.equal(parseShare("0.01"), 0.01);
 * assert.throws(() => parseShare("1"), { name: "ConfigError" });
 * ```
 */
export function parseShare(text: string): number {
  const value = Number(read(text, share, ""));
  if (!text.trim().endsWith("%") && value >= shareScale) {
    const number = text.trim();
    throw new ConfigError(
      `${
        quote(text)
      } can be read in two ways; write ${number}% for ${number} in a hundred, or 100% for all`,
    );
  }
  if (value > shareScale) throw new ConfigError(`${quote(text)} is more than 100%`);
  return value / shareScale;
}

/** The exact text of a share, such as `0.5%`; `parseShare` reads it back. */
export function formatShare(value: number): string {
  const scaled = Math.round(value * shareScale);
  const percent = shareScale / 100;
  const decimals = (scaled % percent).toString().padStart(10, "0").replace(/0+$/, "");
  return `${Math.floor(scaled / percent)}${decimals === "" ? "" : `.${decimals}`}%`;
}

/**
 * By how much a clock goes wrong, in parts per 10^9; only 0 needs no unit.
 *
 * @throws {ConfigError} anything else.
 *
 * @example
 * ```ts
 * import { parseClockError } from "./units.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseClockError("-12.5ppm"), -12_500);
 * assert.equal(parseClockError("300 ppb"), 300);
 * ```
 */
export function parseClockError(text: string): number {
  const [, sign = "", amount = ""] = /^\s*([+-]?)(.*)$/s.exec(text) ?? [];
  if (!/^\d/.test(amount)) refuse(text, offset);
  const size = amount.trim() === "0" ? 0 : Number(read(amount, offset, undefined));
  return sign === "-" && size > 0 ? -size : size;
}

/**
 * A whole number from `min` to `max`, which is at most `Number.MAX_SAFE_INTEGER`.
 *
 * @throws {ConfigError} anything else.
 */
export function parseInteger(text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ConfigError(`${quote(text)} is not a whole number from ${min} to ${max}`);
  }
  return value;
}

/**
 * A switch: yes/no, on/off, true/false, 1/0, in any case.
 *
 * @throws {ConfigError} anything else.
 */
export function parseSwitch(text: string): boolean {
  switch (text.toLowerCase()) {
    case "yes":
    case "on":
    case "true":
    case "1":
      return true;
    case "no":
    case "off":
    case "false":
    case "0":
      return false;
    default:
      throw new ConfigError(`${quote(text)} is neither yes nor no`);
  }
}
