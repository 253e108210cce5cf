/**
 * udp:// URIs.
 *
 * @module
 */

import {
  type Address,
  family,
  formatAddress,
  isMulticast,
  isWildcard,
  parseAddress,
} from "./address.ts";
import type { Direction, Endpoint } from "./types.ts";
import { ConfigError } from "./error.ts";
import {
  addressText,
  bytes,
  choice,
  integer,
  interfaceName,
  type Key,
  type Read,
  type Refused,
} from "./key.ts";
import { type Option, optionsOf, readQuery, splitQuery, writeQuery } from "./query.ts";

const mebibyte = 1_048_576;

const network: readonly Key[] = [
  { name: "adapter", aliases: ["localaddr", "bind"], read: addressText, options: [] },
  {
    name: "interface",
    aliases: ["iface", "bindtodevice"],
    read: interfaceName,
    options: ["interface"],
  },
];

/** Keys of a UDP input, in the order of a normalised URI. */
export const udpInputKeys: readonly Key[] = [
  ...network,
  { name: "source", aliases: ["sources"], read: addressText, options: [] },
  {
    name: "rcvbuf",
    aliases: ["buffer_size"],
    read: bytes(4096, 1024 * mebibyte),
    options: ["receive_buffer"],
  },
  {
    name: "payloadsize",
    aliases: ["payload_size", "pkt_size"],
    read: integer(188, 1456),
    options: ["payload_size"],
  },
];

/** Keys of a UDP output, in the order of a normalised URI. */
export const udpOutputKeys: readonly Key[] = [
  ...network,
  { name: "localport", read: integer(1, 65_535), options: [] },
  { name: "ttl", aliases: ["ipttl"], read: integer(1, 255), options: ["ttl"] },
  { name: "tos", aliases: ["iptos"], read: integer(0, 255), options: ["tos"] },
  {
    name: "sndbuf",
    aliases: ["buffer_size"],
    read: bytes(4096, 1024 * mebibyte),
    options: ["send_buffer"],
  },
  { name: "pace", read: choice("asap", "playout"), options: ["pace"] },
];

const inner: Refused = {
  because: "it tunes the inside of ffmpeg and has no meaning here; leave it out",
};
const sharing: Refused = {
  because: "several programs on one UDP port are not supported; leave it out",
};
const pacing: Refused = { because: "write pace=playout, or pace on a file input" };

/** Keys that people bring from other programs and that are not accepted, each with its reason. */
export const udpRefused: Readonly<Record<string, Refused>> = {
  fifo_size: inner,
  overrun_nonfatal: inner,
  timeout: { because: "an input waits for its source until it is stopped; leave it out" },
  connect: inner,
  block: { because: "refusing single sources is not built yet; write source for the one wanted" },
  reuse: sharing,
  reuse_socket: sharing,
  mcloop: { because: "it is left as the system has it; leave it out" },
  bitrate: pacing,
  burst_bits: pacing,
  dscp: { because: "write tos, which is four times the DSCP" },
};

/** Keys that only the other direction has, with what to do. */
export const udpInputRefused: Readonly<Record<string, Refused>> = {
  ...udpRefused,
  ttl: { because: "it belongs to an output" },
  tos: { because: "it belongs to an output" },
  sndbuf: { because: "it belongs to an output; write rcvbuf" },
  pace: { because: "a UDP input takes packets as they come; pace belongs to an output" },
  localport: { because: "the port of an input stands after its host: udp://:5004" },
};

/** Keys that only the other direction has, with what to do. */
export const udpOutputRefused: Readonly<Record<string, Refused>> = {
  ...udpRefused,
  source: { because: "it belongs to an input; an output has adapter" },
  rcvbuf: { because: "it belongs to an input; write sndbuf" },
  payloadsize: { because: "an output keeps the packets of its input; write it on the input" },
  pkt_size: { because: "an output keeps the packets of its input; write payloadsize on the input" },
};

/** Reads a udp:// URI from what stands between `udp://` and `?`, and behind the `?`. */
export function parseUdp(authority: string, query: string, direction: Direction): Endpoint {
  return direction === "input" ? readInput(authority, query) : readOutput(authority, query);
}

/** VLC writes source@group, and @group without one. */
function splitSource(authority: string): { source: string; place: string } {
  const at = authority.lastIndexOf("@");
  return { source: authority.slice(0, Math.max(at, 0)), place: authority.slice(at + 1) };
}

function readInput(authority: string, query: string): Endpoint {
  const { source, place } = splitSource(authority);
  const pairs = splitQuery(query);
  if (source !== "") pairs.push(["source", source]);
  const read = readQuery(pairs, udpInputKeys, udpInputRefused);
  const values = new Map(read.values);
  let address = parseAddress(place, "required");
  const group = isMulticast(address.host);
  const options: Option[] = [];
  const adapter = hostOf(values, "adapter");
  const from = hostOf(values, "source");
  if (from !== undefined && !group) {
    throw new ConfigError("source: only a multicast group has a source; write the group as host");
  }
  if (adapter !== undefined && !group) {
    if (!isWildcard(address.host) && address.host !== adapter) {
      throw new ConfigError("adapter: it differs from the host; an input has one local address");
    }
    address = { host: adapter, port: address.port };
    values.delete("adapter");
  }
  options.push({ name: "local", value: { address, place: "local" } });
  if (group) {
    options.push(hostOption("group", address.host));
    if (from !== undefined) options.push(hostOption("source", from));
    if (adapter !== undefined) options.push(interfaceOption(values, adapter));
  }
  return {
    kind: "udp",
    direction: "input",
    options: [...options, ...optionsOf(read, udpInputKeys, "endpoint")],
    links: [],
    uri: `udp://${formatAddress(address)}${writeQuery(values, udpInputKeys)}`,
    notes: read.notes,
    standardStream: false,
  };
}

function readOutput(authority: string, query: string): Endpoint {
  const { source, place } = splitSource(authority);
  if (source !== "") {
    throw new ConfigError("an output has no user or source before @; write udp://host:port");
  }
  const read = readQuery(splitQuery(query), udpOutputKeys, udpOutputRefused);
  const remote = parseAddress(place, "required");
  if (isWildcard(remote.host)) {
    throw new ConfigError("an output needs a host: udp://192.0.2.1:5004 or udp://239.1.1.1:5004");
  }
  const options: Option[] = [{ name: "remote", value: { address: remote, place: "remote" } }];
  const adapter = hostOf(read.values, "adapter");
  const port = Number(read.values.get("localport")?.value ?? 0);
  const multicast = isMulticast(remote.host);
  if (adapter !== undefined && multicast) options.push(interfaceOption(read.values, adapter));
  if (port !== 0 || (adapter !== undefined && !multicast)) {
    const address: Address = { host: adapter ?? "", port };
    options.push({ name: "local", value: { address, place: "local" } });
  }
  return {
    kind: "udp",
    direction: "output",
    options: [...options, ...optionsOf(read, udpOutputKeys, "endpoint")],
    links: [],
    uri: `udp://${formatAddress(remote)}${writeQuery(read.values, udpOutputKeys)}`,
    notes: read.notes,
    standardStream: false,
  };
}

/** The numeric host of a key that is an address without a port. */
function hostOf(values: ReadonlyMap<string, Read>, key: string): string | undefined {
  const text = values.get(key)?.value;
  if (text === undefined) return undefined;
  const { host, port } = parseAddress(text, "optional");
  if (port !== 0 || family(host) === 0 || isWildcard(host)) {
    throw new ConfigError(`${key}: write one numeric address without a port, such as 192.0.2.7`);
  }
  return host;
}

/** An address without a port; the library takes it with port 0. */
function hostOption(name: string, host: string): Option {
  return { name, value: { address: { host, port: 0 }, place: "remote" } };
}

/** Multicast leaves and enters by an interface; people name it by one of its addresses. */
function interfaceOption(values: ReadonlyMap<string, Read>, adapter: string): Option {
  if (values.has("interface")) {
    throw new ConfigError("adapter and interface both choose the interface; keep interface");
  }
  return { name: "interface", value: { interfaceOf: adapter } };
}
