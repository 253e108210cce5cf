/**
 * A host and a port, as they stand in a URI or on the command line. Nothing is looked up here.
 *
 * @module
 */

import { isIP } from "node:net";
import { ConfigError, quote } from "./error.ts";

/** A host (name, numeric address, or empty for every local address) and a port (0: any). */
export interface Address {
  /** Without brackets; an IPv6 zone stays attached (`fe80::1%eth0`). */
  readonly host: string;
  readonly port: number;
}

/** What may follow a host where a port is not given. */
export type PortRule = "required" | "optional";

/** Longest host name of the DNS, in characters (RFC 1035 §2.3.4). */
const maxHost = 253;
/** Length of an interface name (IFNAMSIZ less its NUL). */
const maxZone = 15;

/** The address family of a numeric host: 4, 6, or 0 for a name. */
export function family(host: string): 0 | 4 | 6 {
  const found = isIP(host.replace(/%.*$/s, ""));
  return found === 4 || found === 6 ? found : 0;
}

/** Whether a host stands for every local address. */
export function isWildcard(host: string): boolean {
  return host === "" || host === "0.0.0.0" || host === "::";
}

/** Whether a numeric host is a multicast address (RFC 5771: 224/4; RFC 4291 §2.7: ff00::/8). */
export function isMulticast(host: string): boolean {
  if (family(host) === 6) return /^ff/i.test(host);
  const first = Number(host.split(".")[0]);
  return family(host) === 4 && first >= 224 && first <= 239;
}

/** An IPv6 address in its one canonical spelling (RFC 5952), zone kept. */
function canonicalIpv6(host: string): string {
  const [address = "", zone] = host.split("%");
  const spelled = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  return zone === undefined ? spelled : `${spelled}%${zone}`;
}

function readHost(host: string, bracketed: boolean): string {
  if (bracketed) {
    const zone = /%(.*)$/s.exec(host)?.[1];
    if (family(host) !== 6 || (zone !== undefined && !isZone(zone))) {
      throw new ConfigError(`${quote(`[${host}]`)} is not an IPv6 address`);
    }
    return canonicalIpv6(host);
  }
  if (host === "*") return "";
  if (host.includes(":")) {
    throw new ConfigError(
      `${quote(host)} is not a host; an IPv6 address stands in brackets: [2001:db8::1]:5000`,
    );
  }
  const numeric = /^[\d.]+$/.test(host);
  const name = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i.test(host);
  if (host !== "" && (numeric ? family(host) !== 4 : !name || host.length > maxHost)) {
    throw new ConfigError(`${quote(host)} is not a host name or address`);
  }
  return host.toLowerCase();
}

function isZone(zone: string): boolean {
  return zone !== "" && zone.length <= maxZone && /^[\w.:@-]+$/.test(zone);
}

/**
 * Reads `host:port`, `[v6]:port`, `:port`, and without a port where `rule` allows it (0 then).
 *
 * @throws {ConfigError} not an address; no port where one is required.
 *
 * @example
 * ```ts
 * import { parseAddress } from "./address.ts";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseAddress("[::1]:4200", "required"), { host: "::1", port: 4200 });
 * assert.deepEqual(parseAddress(":4200", "required"), { host: "", port: 4200 });
 * ```
 */
export function parseAddress(text: string, rule: PortRule): Address {
  const match = /^(?:\[([^\]]*)\]|(.*?))(?::(\d*))?$/su.exec(text);
  const bracketed = match?.[1];
  const host = readHost(bracketed ?? match?.[2] ?? text, bracketed !== undefined);
  const digits = match?.[3] ?? "";
  if (digits === "") {
    if (rule === "optional") return { host, port: 0 };
    throw new ConfigError(
      `${quote(text)} has no port; write ${host === "" ? ":5000" : `${showHost(host)}:5000`}`,
    );
  }
  const port = Number(digits);
  if (digits.length > 5 || port > 65535 || (port === 0 && rule === "required")) {
    throw new ConfigError(`${quote(digits)} is not a port; ports are 1 to 65535`);
  }
  return { host, port };
}

function showHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** `host:port`, an IPv6 host in brackets; what `parseAddress` reads back. */
export function formatAddress(address: Address): string {
  return `${showHost(address.host)}:${address.port}`;
}
