import assert from "node:assert/strict";
import fc from "fast-check";
import { family, formatAddress, isMulticast, isWildcard, parseAddress } from "./address.ts";
import { ConfigError } from "./error.ts";

Deno.test("hosts and ports", () => {
  const cases: [string, string, number][] = [
    ["127.0.0.1:4200", "127.0.0.1", 4200],
    [":4200", "", 4200],
    ["*:4200", "", 4200],
    ["[::1]:4200", "::1", 4200],
    ["[2001:DB8:0:0::1]:1", "2001:db8::1", 1],
    ["[fe80::1%eth0]:65535", "fe80::1%eth0", 65535],
    ["Encoder-7.Example.net:5000", "encoder-7.example.net", 5000],
    ["a_b:5000", "a_b", 5000],
  ];
  for (const [text, host, port] of cases) {
    assert.deepEqual(parseAddress(text, "required"), { host, port }, text);
  }
  assert.deepEqual(parseAddress("192.0.2.7", "optional"), { host: "192.0.2.7", port: 0 });
  assert.deepEqual(parseAddress("[::1]", "optional"), { host: "::1", port: 0 });
});

Deno.test("what is no address is refused", () => {
  const bad = [
    "",
    "host",
    "host:",
    "host:0",
    "host:65536",
    "host:99999999",
    "host:5x",
    "::1:5000",
    "[::1]5000",
    "[::1",
    "[1.2.3.4]:5000",
    "[::1%]:5000",
    "[::1%a b]:5000",
    "256.1.1.1:5000",
    "1.2.3:5000",
    "-host:5000",
    "ho st:5000",
    "höst:5000",
    `${"a".repeat(254)}:5000`,
  ];
  for (const text of bad) {
    assert.throws(() => parseAddress(text, "required"), ConfigError, text);
  }
  assert.throws(() => parseAddress("host", "required"), {
    message: `"host" has no port; write host:5000`,
  });
  assert.throws(() => parseAddress("::1:5000", "required"), /stands in brackets/);
});

Deno.test("kinds of addresses", () => {
  assert.equal(family("192.0.2.7"), 4);
  assert.equal(family("fe80::1%eth0"), 6);
  assert.equal(family("host"), 0);
  for (const host of ["", "0.0.0.0", "::"]) assert.equal(isWildcard(host), true, host);
  assert.equal(isWildcard("127.0.0.1"), false);
  for (const host of ["224.0.0.1", "239.255.255.255", "ff02::1", "FF3E::1"]) {
    assert.equal(isMulticast(host), true, host);
  }
  for (const host of ["223.1.1.1", "240.0.0.1", "fe80::1", "ff.example", "239.example"]) {
    assert.equal(isMulticast(host), false, host);
  }
});

Deno.test("what is formatted is read back", () => {
  const host = fc.oneof(fc.ipV4(), fc.ipV6().map((text) => `[${text}]`), fc.domain());
  fc.assert(fc.property(host, fc.integer({ min: 1, max: 65_535 }), (name, port) => {
    const address = parseAddress(`${name}:${port}`, "required");
    assert.deepEqual(parseAddress(formatAddress(address), "required"), address);
  }));
});
