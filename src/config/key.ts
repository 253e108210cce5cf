/**
 * The shape of the tables that say which keys a URI may have, and the readers of their values.
 *
 * @module
 */

import { type Address, formatAddress, parseAddress } from "./address.ts";
import { ConfigError, quote } from "./error.ts";
import {
  type DurationUnit,
  formatDuration,
  formatRate,
  formatSize,
  parseDuration,
  parseInteger,
  parseRate,
  parseSize,
  parseSwitch,
} from "./units.ts";

/** What an address option is for: it decides how a host is turned into a number. */
export type Place =
  /** An address that packets are sent to. */
  | "remote"
  /** An address of this machine, or empty for all of them. */
  | "local";

/** A value of a library option before names are resolved. */
export type OptionValue =
  | string
  | { readonly address: Address; readonly place: Place }
  /** The name of the interface that has this numeric address. */
  | { readonly interfaceOf: string };

/** A value that was read: for the library, and in its normal spelling. */
export interface Read {
  readonly value: string;
  readonly shown: string;
}

/** One key of a URI. */
export interface Key {
  /** The spelling that a normalised URI has. */
  readonly name: string;
  /** Other spellings, of other programs. */
  readonly aliases?: readonly string[];
  /** Reads the value; throws ConfigError. */
  readonly read: (text: string) => Read;
  /** The library's options that get the value; none where the URI's reader needs it itself. */
  readonly options: readonly string[];
  /** Whose options they are; the endpoint's where nothing is said. */
  readonly of?: "endpoint" | "link";
}

/** A key of another program that is understood and not accepted, or only with one meaning. */
export interface Refused {
  /** Values that say what is done anyway; the key is then left out with a note. */
  readonly harmless?: (text: string) => boolean;
  /** Why not, and what to do. */
  readonly because: string;
}

/** A whole number. */
export function integer(min: number, max: number): Key["read"] {
  return (text) => {
    const value = parseInteger(text, min, max).toString();
    return { value, shown: value };
  };
}

/** A switch. */
export function toggle(text: string): Read {
  const value = parseSwitch(text);
  return { value: value.toString(), shown: value ? "yes" : "no" };
}

/** One of a few words. */
export function choice(...words: readonly string[]): Key["read"] {
  return (text) => {
    const word = text.toLowerCase();
    if (!words.includes(word)) {
      throw new ConfigError(`${quote(text)} is none of ${words.join(", ")}`);
    }
    return { value: word, shown: word };
  };
}

/** Free text of at most `maxBytes` bytes of UTF-8. */
export function text(maxBytes: number): Key["read"] {
  return (value) => {
    const bytes = new TextEncoder().encode(value).length;
    if (bytes > maxBytes) {
      throw new ConfigError(`${quote(value)} has ${bytes} bytes; at most ${maxBytes} are accepted`);
    }
    return { value, shown: value };
  };
}

/** A duration from `minNs` to `maxNs`; `bareUnit` is the unit of a bare number. */
export function span(minNs: number, maxNs: number, bareUnit: DurationUnit): Key["read"] {
  return (value) => {
    const ns = parseDuration(value, bareUnit);
    if (ns < minNs || ns > maxNs) {
      throw new ConfigError(
        `${quote(value)} is not between ${formatDuration(minNs)} and ${formatDuration(maxNs)}`,
      );
    }
    return { value: ns.toString(), shown: formatDuration(ns) };
  };
}

/** The rate of a stream, from 1 kbps to 100 Gbps. */
export function bitRate(value: string): Read {
  const bps = parseRate(value);
  if (bps < 1000 || bps > 100_000_000_000) {
    throw new ConfigError(`${quote(value)} is not between 1kbps and 100Gbps`);
  }
  return { value: bps.toString(), shown: formatRate(bps) };
}

/** A size in bytes from `min` to `max`. */
export function bytes(min: number, max: number): Key["read"] {
  return (value) => {
    const size = parseSize(value);
    if (size < min || size > max) {
      throw new ConfigError(
        `${quote(value)} is not between ${formatSize(min)} and ${formatSize(max)}`,
      );
    }
    return { value: size.toString(), shown: formatSize(size) };
  };
}

/** The name of a network interface (at most 15 characters: IFNAMSIZ). */
export function interfaceName(value: string): Read {
  if (!/^[^\s/%:&?]{1,15}$/u.test(value) || value === "." || value === "..") {
    throw new ConfigError(`${quote(value)} is not the name of a network interface, such as eth0`);
  }
  return { value, shown: value };
}

/** An address with or without a port. */
export function addressText(value: string): Read {
  const parsed = parseAddress(value, "optional");
  const formatted = formatAddress(parsed);
  const shown = parsed.port === 0 ? formatted.slice(0, -":0".length) : formatted;
  return { value: shown, shown };
}
