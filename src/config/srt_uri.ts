/**
 * srt:// URIs.
 *
 * @module
 */

import { type Address, formatAddress, isWildcard, parseAddress } from "./address.ts";
import type { Direction, Endpoint } from "./types.ts";
import { ConfigError, within } from "./error.ts";
import { type Option, optionsOf, readQuery, splitQuery, writeQuery } from "./query.ts";
import type { Read } from "./key.ts";
import { srtKeys, srtRefused } from "./srt_keys.ts";
import { parseSize } from "./units.ts";

/** libsrt counts its buffers in packets of MSS less the IP and UDP headers: 1500 - 28. */
const bufferPacketBytes = 1472;
const minBufferPackets = 256;
const maxBufferPackets = 65_536;

/** Below this, one retransmission does not fit on any path outside a building. */
const shortLatencyNs = 20_000_000;

/** Where a link goes to and where it comes from. */
interface Link {
  readonly mode: "caller" | "listener";
  /** The peer of a caller, the place of a listener. */
  readonly main: Address;
  /** The address that a caller is bound to. */
  readonly bind: Address | undefined;
  readonly notes: readonly string[];
}

/** Reads an srt:// URI from what stands between `srt://` and `?`, and behind the `?`. */
export function parseSrt(authority: string, query: string, direction: Direction): Endpoint {
  const { pairs, notes: bufferNotes } = joinBuffers(splitQuery(query));
  const read = readQuery(pairs, srtKeys, srtRefused);
  const link = readLink(authority, read.values);
  const values = new Map(read.values);
  for (const key of ["adapter", "port", "bind"]) values.delete(key);
  values.set("mode", { value: link.mode, shown: link.mode });
  if (link.bind !== undefined) {
    const shown = link.bind.port === 0
      ? formatAddress(link.bind).slice(0, -":0".length)
      : formatAddress(link.bind);
    values.set("bind", { value: shown, shown });
  }
  return {
    kind: "srt",
    direction,
    options: optionsOf(read, srtKeys, "endpoint"),
    links: [[...addressOptions(link), ...optionsOf(read, srtKeys, "link")]],
    uri: `srt://${formatAddress(link.main)}${writeQuery(values, srtKeys)}`,
    notes: [...read.notes, ...bufferNotes, ...link.notes, ...latencyNotes(values)],
    standardStream: false,
  };
}

function addressOptions(link: Link): Option[] {
  const options: Option[] = [{ name: "mode", value: link.mode }];
  if (link.mode === "listener") {
    options.push({ name: "local", value: { address: link.main, place: "local" } });
    return options;
  }
  options.push({ name: "remote", value: { address: link.main, place: "remote" } });
  if (link.bind !== undefined) {
    options.push({ name: "local", value: { address: link.bind, place: "local" } });
  }
  return options;
}

/** libsrt has two buffers in bytes; here is one in packets, as large as the larger of the two. */
function joinBuffers(
  pairs: readonly [string, string][],
): { pairs: [string, string][]; notes: string[] } {
  const kept = pairs.filter(([key]) => key !== "rcvbuf" && key !== "sndbuf");
  const sizes = pairs.filter(([key]) => key === "rcvbuf" || key === "sndbuf");
  if (sizes.length === 0) return { pairs: kept, notes: [] };
  const names = sizes.map(([key]) => key);
  if (new Set(names).size < names.length) {
    throw new ConfigError(`${names[0]} stands twice; keep one`);
  }
  if (kept.some(([key]) => key === "buffer")) {
    throw new ConfigError(`buffer and ${names[0]} mean the same; keep one`);
  }
  const bytes = Math.max(...sizes.map(([key, text]) => within(key, () => parseSize(text))));
  const packets = Math.max(Math.ceil(bytes / bufferPacketBytes), minBufferPackets);
  if (packets > maxBufferPackets) {
    throw new ConfigError(
      `${names.join(" and ")}: ${bytes} bytes are too much; ` +
        `the most is ${maxBufferPackets * bufferPacketBytes}`,
    );
  }
  return {
    pairs: [...kept, ["buffer", packets.toString()]],
    notes: [`${names.join(" and ")}: read as buffer=${packets} packets, for both directions`],
  };
}

/** The mode as written, else as libsrt's programs guess it, and the addresses that go with it. */
function readLink(authority: string, values: ReadonlyMap<string, Read>): Link {
  const local = readLocal(values);
  const bare = parseAddress(authority, "optional");
  const written = values.get("mode")?.value ?? "";
  const notes: string[] = [];
  let mode = written;
  if (mode === "") {
    mode = isWildcard(bare.host) ? "listener" : "caller";
    notes.push(guess(bare, mode, values.has("adapter") || values.has("bind")));
  }
  if (mode === "listener") return { mode, main: listenAt(bare, local), bind: undefined, notes };
  if (isWildcard(bare.host)) {
    throw new ConfigError(
      `a caller needs the host of its peer: srt://host:5000?mode=caller; ` +
        `to wait for a caller write mode=listener`,
    );
  }
  const main = parseAddress(authority, "required");
  return { mode: "caller", main, bind: local, notes };
}

function guess(bare: Address, mode: string, hasLocal: boolean): string {
  if (mode === "listener") {
    return bare.host === ""
      ? "it names no host, so it listens (mode=listener)"
      : `nobody can call ${bare.host}, so it listens (mode=listener)`;
  }
  return hasLocal
    ? "it names a host, so it calls (mode=caller); srt-live-transmit would take the local address " +
      "as a sign of rendezvous"
    : "it names a host, so it calls (mode=caller)";
}

/** The local address from bind=, or from adapter= and port=. */
function readLocal(values: ReadonlyMap<string, Read>): Address | undefined {
  const bind = values.get("bind")?.value;
  const adapter = values.get("adapter")?.value;
  const port = values.get("port")?.value;
  if (bind !== undefined && adapter !== undefined) {
    throw new ConfigError("bind and adapter both give the local address; keep bind");
  }
  const text = bind ?? adapter;
  if (text === undefined && port === undefined) return undefined;
  const address = parseAddress(text ?? "", "optional");
  if (port === undefined) return address;
  if (address.port !== 0 && address.port !== Number(port)) {
    throw new ConfigError(`port=${port} and the port ${address.port} of the local address differ`);
  }
  return { host: address.host, port: Number(port) };
}

/** A listener's address: from before the `?`, completed by bind=, adapter= and port=. */
function listenAt(bare: Address, local: Address | undefined): Address {
  const host = isWildcard(bare.host) && local !== undefined && local.host !== ""
    ? local.host
    : bare.host;
  if (local !== undefined && local.host !== "" && local.host !== host) {
    throw new ConfigError(
      `the host and the local address differ; a listener has one: srt://${
        formatAddress({ host: local.host, port: bare.port || 5000 })
      }?mode=listener`,
    );
  }
  if (bare.port !== 0 && local !== undefined && local.port !== 0 && local.port !== bare.port) {
    throw new ConfigError(`the ports ${bare.port} and ${local.port} differ; a listener has one`);
  }
  const port = bare.port !== 0 ? bare.port : local?.port ?? 0;
  if (port === 0) throw new ConfigError("a listener needs a port: srt://:5000?mode=listener");
  return { host, port };
}

function latencyNotes(values: ReadonlyMap<string, Read>): string[] {
  return ["latency", "rcvlatency", "peerlatency"].flatMap((key) => {
    const ns = Number(values.get(key)?.value ?? shortLatencyNs);
    return ns < shortLatencyNs
      ? [`${key} is below 20ms: a lost packet can be asked for again only on a very short path`]
      : [];
  });
}
