/**
 * UDP ports of this machine: free ones, and those that a program has opened.
 *
 * @module
 */

import { freePort as nextPort } from "../../src/engine/udp_testing.ts";

/** The runtime itself may not read these files; `cat` may. */
const tables = ["/proc/net/udp", "/proc/net/udp6"];

/**
 * The local ports in the text of `/proc/net/udp`: the second column is the address and the port in
 * hexadecimal.
 *
 * @example
 * ```ts
 * import { portsIn } from "./ports.ts";
 * import assert from "node:assert/strict";
 *
 * const table = "  sl  local_address rem_address st\n  12: 0100007F:1F90 00000000:0000 07\n";
 * assert.deepEqual(portsIn(table), [8080]);
 * ```
 */
export function portsIn(table: string): number[] {
  return [...table.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) /gm)]
    .map(([, port = ""]) => Number.parseInt(port, 16));
}

/** The ports on which a UDP socket is open now. */
export async function openPorts(): Promise<ReadonlySet<number>> {
  const { stdout } = await new Deno.Command("cat", { args: tables, stderr: "null" }).output();
  return new Set(portsIn(new TextDecoder().decode(stdout)));
}

/** A UDP port that is free now and that no other test is given. */
export async function freePort(): Promise<number> {
  const open = await openPorts();
  for (;;) {
    const port = nextPort();
    if (!open.has(port)) return port;
  }
}
