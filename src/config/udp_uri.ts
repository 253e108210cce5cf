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
import type { Direction, Endpoint } from "./endpoint.ts";
import { ConfigError } from "./error.ts";
import type { Read } from "./key.ts";
import { type Option, optionsOf, readQuery, splitQuery, writeQuery } from "./query.ts";
import { udpInputKeys, udpInputRefused, udpOutputKeys, udpOutputRefused } from "./udp_keys.ts";

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
