import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import { fileInputKeys, fileInputRefused, fileOutputKeys, fileOutputRefused } from "./file_uri.ts";
import { srtKeys, srtRefused } from "./srt_keys.ts";
import type { Direction, Endpoint } from "./types.ts";
import { udpInputKeys, udpInputRefused, udpOutputKeys, udpOutputRefused } from "./udp_uri.ts";
import { parseUri } from "./uri.ts";
import { refused, testRefusals } from "./uri_testing.ts";

Deno.test("unknown keys name the nearest ones", () => {
  assert.equal(
    refused("srt://h:1?latancy=20", "output"),
    `unknown key "latancy"; did you mean latency?`,
  );
  assert.match(refused("udp://:5004?zzzzzz=1", "input"), /accepted: adapter, interface, source/);
  assert.match(refused("x.ts?constructor=1", "input"), /unknown key "constructor"/);
});

testRefusals([
  ["", "input", /^an empty input; accepted are udp:/],
  ["rtp://h:5004", "output", /^"rtp:" is not built; accepted are udp:\/\/, srt:\/\//],
  ["c:clip.ts", "input", /^"c:" is not built/],
  ["127.0.0.1:5004", "input", /could be anything; write udp:\/\/127.0.0.1:5004/],
  ["check:", "input", /^check: verifies a stream; it is an output only/],
  ["check:?a=1", "output", /^check: has neither an address nor options/],
  ["a\nb", "input", /^the URI has a control character/],
  ["x".repeat(8193), "input", /^a URI has at most 8192 characters/],
]);

Deno.test("no key of a table is also refused, and no spelling means two keys", () => {
  const tables: [string, readonly { name: string; aliases?: readonly string[] }[], object][] = [
    ["srt", srtKeys, srtRefused],
    ["udp input", udpInputKeys, udpInputRefused],
    ["udp output", udpOutputKeys, udpOutputRefused],
    ["file input", fileInputKeys, fileInputRefused],
    ["file output", fileOutputKeys, fileOutputRefused],
  ];
  for (const [what, keys, refusals] of tables) {
    const spellings = keys.flatMap(({ name, aliases }) => [name, ...aliases ?? []]);
    assert.equal(new Set(spellings).size, spellings.length, what);
    for (const spelling of spellings) assert.ok(!Object.hasOwn(refusals, spelling), spelling);
  }
});

const directions: Direction[] = ["input", "output"];

/** Texts that look like URIs: known pieces in any order, with noise between them. */
function uriLike(): fc.Arbitrary<string> {
  const spellings = [...srtKeys, ...udpInputKeys, ...udpOutputKeys, ...fileInputKeys]
    .flatMap(({ name, aliases }) => [name, ...aliases ?? []]);
  const noise = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 6 }));
  const value = fc.oneof(
    fc.constantFrom("1", "0", "-1", "yes", "200ms", "8Mbps", "caller", "listener", "10.0.0.2"),
    fc.constantFrom("eth0", "65536", "1316", "300", "pcr", "rate", "asap", "playout", "%41", "::1"),
    fc.nat().map(String),
    noise,
    noise.map(encodeURIComponent),
  );
  const pair = fc.tuple(fc.oneof(fc.constantFrom(...spellings, "passphrase"), noise), value)
    .map(([key, text]) => `${key}=${text}`);
  const host = fc.oneof(
    fc.constantFrom(
      "",
      "h",
      "0.0.0.0",
      "[::]",
      "[fe80::1%eth0]",
      "239.1.1.1",
      "@",
      "1.1.1.1@232.1.1.1",
    ),
    fc.ipV4(),
    fc.ipV6().map((text) => `[${text}]`),
    fc.domain(),
    noise,
  );
  const port = fc.oneof(fc.integer({ min: 0, max: 70_000 }).map((n) => `:${n}`), fc.constant(""));
  const scheme = fc.constantFrom(
    "srt://",
    "udp://",
    "file://",
    "file:",
    "check:",
    "",
    "-",
    "RTP://",
  );
  return fc.tuple(scheme, host, port, fc.array(pair, { maxLength: 4 })).map(([a, b, c, pairs]) =>
    `${a}${b}${c}${pairs.length > 0 ? `?${pairs.join("&")}` : ""}`
  );
}

Deno.test("any text gives an endpoint or a ConfigError of one line; normalising is idempotent", () => {
  let endpoints = 0;
  const text = fc.oneof({ weight: 8, arbitrary: uriLike() }, fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(text, fc.constantFrom(...directions), (uri, direction) => {
      let endpoint: Endpoint;
      try {
        endpoint = parseUri(uri, direction);
      } catch (error) {
        assert.ok(error instanceof ConfigError, `${JSON.stringify(uri)}: ${error}`);
        assert.ok(!/[\n\r\0]/.test(error.message));
        return;
      }
      endpoints++;
      const again = parseUri(endpoint.uri, direction);
      assert.equal(again.uri, endpoint.uri);
      assert.deepEqual(again.options, endpoint.options);
      assert.deepEqual(again.links, endpoint.links);
      // The library takes NUL-terminated text.
      assert.ok(!JSON.stringify(endpoint.options).includes("\\u0000"));
    }),
    { numRuns: 5000 },
  );
  assert.ok(endpoints > 200, `only ${endpoints} texts were accepted: the property saw too little`);
});
