/**
 * URIs of endpoints, as people type them in srt-live-transmit, srt-xtransmit, ffmpeg and VLC: read,
 * checked and brought to one normal spelling. Nothing is looked up and nothing is opened here.
 *
 * @module
 */

import type { Direction, Endpoint } from "./types.ts";
import { ConfigError, quote } from "./error.ts";
import { parseFile, pathOfFileUri } from "./file_uri.ts";
import { parseSrt } from "./srt_uri.ts";
import { parseUdp } from "./udp_uri.ts";

/** Longest URI that is read, in characters. */
const maxUri = 8192;

const accepted = "accepted are udp://, srt://, file://, check:, - and plain paths";

/**
 * Reads the URI of an input or an output.
 *
 * @throws {ConfigError} with one sentence that says what is wrong and what is accepted. A value is
 * repeated in it only where it cannot be a secret.
 *
 * @example
 * ```ts
 * import { parseUri } from "./uri.ts";
 * import assert from "node:assert/strict";
 *
 * const endpoint = parseUri("srt://:5000?latency=200", "input");
 * assert.equal(endpoint.uri, "srt://:5000?mode=listener&latency=200ms");
 * assert.deepEqual(endpoint.options, [
 *   { name: "receive_latency_ns", value: "200000000" },
 *   { name: "peer_latency_ns", value: "200000000" },
 * ]);
 * ```
 */
export function parseUri(text: string, direction: Direction): Endpoint {
  if (text.length > maxUri) throw new ConfigError(`a URI has at most ${maxUri} characters`);
  if (/\p{Cc}|\p{Cs}/u.test(text)) throw new ConfigError("the URI has a control character");
  const [head = "", query = ""] = splitAt(text, "?");
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(head) ?? [];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return readPath(head, query, direction);
    case "udp":
      return parseUdp(authorityOf("udp", rest), query, direction);
    case "srt":
      refuseGroup(text);
      return parseSrt(authorityOf("srt", rest), query, direction);
    case "file":
      return parseFile(pathOfFileUri(rest), query, direction);
    case "check":
      return readCheck(rest, query, direction);
    default:
      return refuseScheme(scheme ?? "", rest);
  }
}

/** The normal spelling of a URI. Normalising twice changes nothing. */
export function normalise(text: string, direction: Direction): string {
  return parseUri(text, direction).uri;
}

/** srt-xtransmit and the configuration file join the links of a group by blanks. */
function refuseGroup(text: string): void {
  if (/\s+srt:\/\//i.test(text)) {
    throw new ConfigError(
      "a blank joins the links of a group, and groups of several links are not built yet; " +
        "use one link for each output",
    );
  }
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function authorityOf(scheme: string, rest: string): string {
  if (!rest.startsWith("//")) {
    throw new ConfigError(`${scheme} is written ${scheme}://host:port`);
  }
  const [authority, path] = splitAt(rest.slice(2), "/");
  if (path !== "") {
    const hint = scheme === "srt" ? "; a stream is named by streamid=" : "";
    throw new ConfigError(`${quote(`/${path}`)}: ${scheme} has no path${hint}`);
  }
  return authority;
}

function readPath(head: string, query: string, direction: Direction): Endpoint {
  if (head === "") throw new ConfigError(`an empty ${direction}; ${accepted}`);
  if (/^(\[.*\]|[\w.-]*):\d+$/.test(head)) {
    throw new ConfigError(
      `${quote(head)} could be anything; write udp://${head}, srt://${head} or file:./${head}`,
    );
  }
  return parseFile(head === "-" ? undefined : head, query, direction);
}

function readCheck(rest: string, query: string, direction: Direction): Endpoint {
  if (direction === "input") {
    throw new ConfigError("check: verifies a stream; it is an output only");
  }
  if ((rest !== "" && rest !== "//") || query !== "") {
    throw new ConfigError("check: has neither an address nor options; write check: alone");
  }
  return {
    kind: "check",
    direction,
    options: [],
    links: [],
    uri: "check:",
    notes: [],
    standardStream: false,
  };
}

function refuseScheme(scheme: string, rest: string): never {
  const tail = rest.startsWith("//") ? "" : "; a path with a colon is written file:./…";
  throw new ConfigError(`${quote(`${scheme}:`)} is not built; ${accepted}${tail}`);
}
