/**
 * Names to numbers: hosts to addresses, addresses to interfaces, interfaces to their index. The
 * library takes numbers only.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import { type Address, family, formatAddress } from "./address.ts";
import type { Direction, Endpoint, EndpointKind } from "./types.ts";
import { ConfigError, quote } from "./error.ts";
import type { OptionValue, Place } from "./key.ts";
import type { Option } from "./query.ts";

/** An option of the library with its value as text. */
export interface NumericOption {
  readonly name: string;
  readonly value: string;
}

/** An endpoint that the library can be given. */
export interface ResolvedEndpoint {
  readonly kind: EndpointKind;
  readonly direction: Direction;
  readonly options: readonly NumericOption[];
  readonly links: readonly (readonly NumericOption[])[];
  readonly uri: string;
  readonly standardStream: boolean;
  /** The endpoint's notes, and what was found for each name. */
  readonly notes: readonly string[];
}

/** An address of an interface of this machine. */
export interface LocalAddress {
  readonly name: string;
  readonly address: string;
  /** Index of the interface, for an IPv6 address with a scope; else 0 or null. */
  readonly scopeid: number | null;
}

/** Where names are looked up. */
export interface Network {
  /** All addresses of a host name; rejects when there is none. */
  lookup(host: string): Promise<readonly string[]>;
  /** The addresses of this machine. */
  localAddresses(): readonly LocalAddress[];
}

/** The system's resolver and interfaces (permissions: net; sys=networkInterfaces where needed). */
export const systemNetwork: Network = {
  async lookup(host): Promise<string[]> {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  },
  localAddresses(): LocalAddress[] {
    return Deno.networkInterfaces();
  },
};

/**
 * Looks up every name of an endpoint.
 *
 * @throws {ConfigError} a name without an address, an address that no interface has.
 */
export async function resolveEndpoint(
  endpoint: Endpoint,
  network: Network = systemNetwork,
): Promise<ResolvedEndpoint> {
  const notes = [...endpoint.notes];
  const options = await resolveOptions(endpoint.options, network, notes);
  const links: (readonly NumericOption[])[] = [];
  for (const link of endpoint.links) links.push(await resolveOptions(link, network, notes));
  const { kind, direction, uri, standardStream } = endpoint;
  return { kind, direction, options, links, uri, standardStream, notes };
}

/**
 * Looks up the names of options that belong together: one family is chosen for all of them.
 *
 * @throws {ConfigError} as `resolveEndpoint`.
 */
export async function resolveOptions(
  options: readonly Option[],
  network: Network,
  notes: string[],
): Promise<NumericOption[]> {
  const resolver = new Resolver(network, notes, familyOf(options));
  // A remote address decides the family of the local one, so it is looked up first.
  const remotes = options.filter(({ value }) => placeOf(value) === "remote");
  for (const { value } of remotes) await resolver.text(value);
  const resolved: NumericOption[] = [];
  for (const { name, value } of options) {
    resolved.push({ name, value: await resolver.text(value) });
  }
  return resolved;
}

function placeOf(value: OptionValue): Place | undefined {
  return typeof value === "object" && "place" in value ? value.place : undefined;
}

/** The family that a numeric address among the options demands; 0 when none does. */
function familyOf(options: readonly Option[]): 0 | 4 | 6 {
  for (const { value } of options) {
    if (typeof value === "object" && "address" in value && family(value.address.host) !== 0) {
      return family(value.address.host);
    }
  }
  return 0;
}

class Resolver {
  readonly #network: Network;
  readonly #notes: string[];
  #family: 0 | 4 | 6;
  readonly #found = new Map<string, string>();

  constructor(network: Network, notes: string[], wanted: 0 | 4 | 6) {
    this.#network = network;
    this.#notes = notes;
    this.#family = wanted;
  }

  /** The numeric text of a value. */
  async text(value: OptionValue): Promise<string> {
    if (typeof value === "string") return value;
    if ("interfaceOf" in value) return this.#interfaceOf(value.interfaceOf);
    const { host, port } = value.address;
    if (host === "") return this.#anyAddress(port);
    const numeric = family(host) === 0 ? await this.#lookup(host) : host;
    return formatAddress({ host: this.#withIndex(numeric), port });
  }

  /** Every local address, of the remote address's family where there is one. */
  #anyAddress(port: number): string {
    return this.#family === 4 ? `0.0.0.0:${port}` : formatAddress({ host: "::", port });
  }

  async #lookup(host: string): Promise<string> {
    const before = this.#found.get(host);
    if (before !== undefined) return before;
    let all: readonly string[];
    try {
      all = await this.#network.lookup(host);
    } catch (error) {
      throw new ConfigError(`there is no address for ${quote(host)} (${reasonOf(error)})`);
    }
    // IPv4 first, as the peers do: many resolve a name to IPv4 only.
    const order = this.#family === 0 ? [4, 6] : [this.#family];
    const address = order.flatMap((wanted) => all.filter((one) => family(one) === wanted))[0];
    if (address === undefined) {
      throw new ConfigError(
        `${quote(host)} has no IPv${this.#family} address, which the other address demands`,
      );
    }
    this.#family = family(address);
    this.#found.set(host, address);
    this.#notes.push(`${host} is ${address}`);
    return address;
  }

  #interfaceOf(address: string): string {
    const all = this.#network.localAddresses();
    const found = all.find((local) => local.address === address);
    if (found === undefined) {
      throw new ConfigError(
        `no interface has the address ${address}; this machine has ` +
          all.map(({ name, address }) => `${address} (${name})`).join(", "),
      );
    }
    return found.name;
  }

  /** A zone by name (`fe80::1%eth0`) with the interface's index, which the library takes. */
  #withIndex(host: string): string {
    const [address = "", zone] = host.split("%");
    if (zone === undefined || /^\d+$/.test(zone)) return host;
    const found = this.#network.localAddresses().find(({ name, scopeid }) =>
      name === zone && scopeid !== null && scopeid !== 0
    );
    if (found === undefined) {
      throw new ConfigError(
        `no interface ${quote(zone)} has a link-local IPv6 address; ` +
          `write the index of the interface: ${address}%2`,
      );
    }
    return `${address}%${found.scopeid}`;
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOTFOUND":
      return "the name is unknown; check its spelling and the name server";
    case "EAI_AGAIN":
    case "EAI_AGAIN_TRY":
      return "the name server does not answer";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** An address as `host:port` with the host looked up, for options outside an endpoint. */
export async function resolveAddress(
  address: Address,
  place: Place,
  notes: string[],
  network: Network = systemNetwork,
): Promise<string> {
  const options = [{ name: "address", value: { address, place } }];
  const [resolved] = await resolveOptions(options, network, notes);
  return resolved?.value ?? formatAddress(address);
}
