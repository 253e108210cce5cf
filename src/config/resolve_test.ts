import assert from "node:assert/strict";
import type { Direction } from "./types.ts";
import { ConfigError } from "./error.ts";
import { type Network, resolveAddress, resolveEndpoint } from "./resolve.ts";
import { parseUri } from "./uri.ts";

const network: Network = {
  lookup(host): Promise<string[]> {
    const table: Record<string, string[]> = {
      "both.example": ["2001:db8::7", "192.0.2.7"],
      "six.example": ["2001:db8::6"],
    };
    const found = table[host];
    if (found !== undefined) return Promise.resolve(found);
    return Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }));
  },
  localAddresses: () => [
    { name: "lo", address: "127.0.0.1", scopeid: null },
    { name: "eth0", address: "10.0.0.2", scopeid: null },
    { name: "eth0", address: "fe80::2", scopeid: 3 },
  ],
};

async function resolved(uri: string, direction: Direction): Promise<string[]> {
  const endpoint = await resolveEndpoint(parseUri(uri, direction), network);
  return [...endpoint.options, ...endpoint.links.flat()].map(({ name, value }) =>
    `${name}=${value}`
  );
}

Deno.test("names become numbers", async () => {
  const cases: [string, Direction, string[]][] = [
    ["srt://both.example:5000", "output", ["mode=caller", "remote=192.0.2.7:5000"]],
    ["srt://six.example:5000", "output", ["mode=caller", "remote=[2001:db8::6]:5000"]],
    // The local address decides the family of the remote one, and the other way round.
    [
      "srt://both.example:5000?bind=[2001:db8::1]",
      "output",
      ["mode=caller", "remote=[2001:db8::7]:5000", "local=[2001:db8::1]:0"],
    ],
    [
      "srt://both.example:5000?port=6000",
      "output",
      ["mode=caller", "remote=192.0.2.7:5000", "local=0.0.0.0:6000"],
    ],
    [
      "srt://six.example:5000?port=6000",
      "output",
      ["mode=caller", "remote=[2001:db8::6]:5000", "local=[::]:6000"],
    ],
    ["srt://:5000", "input", ["mode=listener", "local=[::]:5000"]],
    ["srt://0.0.0.0:5000", "input", ["mode=listener", "local=0.0.0.0:5000"]],
    ["udp://[fe80::9%eth0]:5004", "output", ["remote=[fe80::9%3]:5004"]],
    ["udp://[fe80::9%7]:5004", "output", ["remote=[fe80::9%7]:5004"]],
    [
      "udp://10.9.9.9@232.1.1.1:5004",
      "input",
      ["local=232.1.1.1:5004", "group=232.1.1.1:0", "source=10.9.9.9:0"],
    ],
    [
      "udp://239.1.1.1:5004?adapter=10.0.0.2",
      "output",
      ["remote=239.1.1.1:5004", "interface=eth0"],
    ],
  ];
  for (const [uri, direction, options] of cases) {
    assert.deepEqual(await resolved(uri, direction), options, uri);
  }
});

Deno.test("what a name was resolved to is noted once", async () => {
  const endpoint = await resolveEndpoint(parseUri("udp://both.example:5004", "output"), network);
  assert.deepEqual(endpoint.notes, ["both.example is 192.0.2.7"]);
});

Deno.test("names without an address are refused", async () => {
  const cases: [string, RegExp][] = [
    ["srt://none.example:1", /^there is no address for "none.example" \(the name is unknown/],
    ["srt://six.example:1?bind=10.0.0.2", /"six.example" has no IPv4 address, which the other/],
    ["udp://239.1.1.1:5004?adapter=10.0.0.9", /no interface has the address 10.0.0.9; .*\(eth0\)/],
    ["udp://[fe80::9%eth7]:5004", /no interface "eth7" has a link-local IPv6 address/],
  ];
  for (const [uri, message] of cases) {
    await assert.rejects(resolved(uri, "output"), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("an address outside an endpoint", async () => {
  const notes: string[] = [];
  assert.equal(
    await resolveAddress({ host: "both.example", port: 5 }, "remote", notes, network),
    "192.0.2.7:5",
  );
  assert.equal(await resolveAddress({ host: "", port: 5 }, "local", notes, network), "[::]:5");
  assert.deepEqual(notes, ["both.example is 192.0.2.7"]);
});
