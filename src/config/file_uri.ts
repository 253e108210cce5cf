/**
 * Files, standard input and standard output.
 *
 * @module
 */

import type { Direction, Endpoint } from "./types.ts";
import { ConfigError, quote } from "./error.ts";
import { bitRate, choice, integer, type Key, type Read, type Refused, toggle } from "./key.ts";
import {
  decode,
  encode,
  type Option,
  optionsOf,
  readQuery,
  splitQuery,
  writeQuery,
} from "./query.ts";

/** Keys of a file input, in the order of a normalised URI. */
export const fileInputKeys: readonly Key[] = [
  { name: "pace", read: choice("asap", "pcr", "rate"), options: ["pace"] },
  { name: "rate", aliases: ["bitrate"], read: bitRate, options: ["rate_bps"] },
  { name: "loop", read: toggle, options: ["loop"] },
  { name: "marker", read: toggle, options: ["marker"] },
  {
    name: "payloadsize",
    aliases: ["payload_size", "pkt_size"],
    read: integer(188, 1456),
    options: ["payload_size"],
  },
];

/** Keys of a file output. */
export const fileOutputKeys: readonly Key[] = [
  { name: "append", read: toggle, options: ["append"] },
];

const belongsToInput: Refused = { because: "it belongs to a file input" };

/** Keys that a file input does not have. */
export const fileInputRefused: Readonly<Record<string, Refused>> = {
  append: { because: "it belongs to a file output" },
};

/** Keys that a file output does not have. */
export const fileOutputRefused: Readonly<Record<string, Refused>> = {
  pace: belongsToInput,
  rate: belongsToInput,
  loop: belongsToInput,
  marker: belongsToInput,
  payloadsize: belongsToInput,
};

/** Longest path that the library takes, in bytes. */
const maxPathBytes = 1023;

/** The path of a file: URI from what stands between `file:` and `?`; undefined for the streams. */
export function pathOfFileUri(rest: string): string | undefined {
  if (!rest.startsWith("//")) return decode(rest);
  const [, host = "", path = ""] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? [];
  if (host === "con" && (path === "" || path === "/")) return undefined;
  if (host === "" || host === "localhost") return decode(path);
  if (host === "." || host === "..") return decode(`${host}${path}`);
  throw new ConfigError(
    `${quote(`file:${rest}`)} names the host ${quote(host)}; ` +
      `a path without a leading / is written file:${host}${path}`,
  );
}

/** Reads a file, or the standard stream of the direction where `path` is undefined. */
export function parseFile(
  path: string | undefined,
  query: string,
  direction: Direction,
): Endpoint {
  const input = direction === "input";
  const keys = input ? fileInputKeys : fileOutputKeys;
  const read = readQuery(splitQuery(query), keys, input ? fileInputRefused : fileOutputRefused);
  const { values, notes } = input ? inferPace(read.values) : { values: read.values, notes: [] };
  if (path === undefined && values.has("loop")) {
    throw new ConfigError("loop: standard input cannot be read twice; loop needs a file");
  }
  if (path === undefined && values.has("append")) {
    throw new ConfigError("append: it belongs to a file, not to standard output");
  }
  const place: Option = path === undefined
    ? { name: "fd", value: input ? "0" : "1" }
    : { name: "path", value: checkPath(path) };
  return {
    kind: "file",
    direction,
    options: [place, ...optionsOf({ values, notes }, keys, "endpoint")],
    links: [],
    uri: `${path === undefined ? "-" : fileUri(path)}${writeQuery(values, keys)}`,
    notes: [...read.notes, ...notes],
    standardStream: path === undefined,
  };
}

function checkPath(path: string): string {
  if (path === "") throw new ConfigError("the path of the file is empty");
  if (new TextEncoder().encode(path).length > maxPathBytes) {
    throw new ConfigError(`the path of the file is longer than ${maxPathBytes} bytes`);
  }
  return path;
}

function fileUri(path: string): string {
  return `file:${path.startsWith("/") ? "//" : ""}${encode(path)}`;
}

/** The pace that a rate or a loop implies, and the combinations that mean nothing. */
function inferPace(
  values: ReadonlyMap<string, Read>,
): { values: ReadonlyMap<string, Read>; notes: string[] } {
  const loops = values.get("loop")?.value === "true";
  const implied = loops ? "pcr" : values.has("rate") ? "rate" : undefined;
  const pace = values.get("pace")?.value ?? implied;
  if (loops && (pace !== "pcr" || !values.has("rate"))) {
    throw new ConfigError(
      "loop: a loop goes by its PCR and is filled up to a constant rate: loop&rate=8Mbps",
    );
  }
  if (values.get("marker")?.value === "true" && !loops) {
    throw new ConfigError(
      "marker: the measuring payload is put into a loop: loop&marker&rate=8Mbps",
    );
  }
  if (pace === "rate" && !values.has("rate")) {
    throw new ConfigError("pace: pace=rate needs a rate: pace=rate&rate=8Mbps");
  }
  if (!loops && pace !== "rate" && values.has("rate")) {
    throw new ConfigError("rate: it needs pace=rate, or a loop");
  }
  if (implied === undefined || values.has("pace")) return { values, notes: [] };
  const because = loops ? "a loop is paced by its PCR" : "a rate is given";
  return {
    values: new Map([["pace", { value: implied, shown: implied }], ...values]),
    notes: [`pace=${implied}, because ${because}`],
  };
}
