import assert from "node:assert/strict";
import { parseUri } from "./uri.ts";
import { refused } from "./uri_testing.ts";

Deno.test("a latency in ffmpeg's microseconds is refused with the value that was meant", () => {
  assert.equal(
    refused("srt://h:1?latency=200000", "output"),
    `latency: "200000" would be 200s, and the most is 65535 ms; ` +
      "ffmpeg and OBS write microseconds, here it is milliseconds: write 200ms",
  );
  assert.equal(
    refused("srt://h:1?latency=66s", "output"),
    `latency: "66s" is too long; the most is 65535ms`,
  );
  assert.equal(
    parseUri("srt://h:1?latency=65535", "output").uri,
    "srt://h:1?mode=caller&latency=65.535s",
  );
});

Deno.test("what is not built yet is refused with a sentence that says so", () => {
  const cases: [string, RegExp][] = [
    ["passphrase=correcthorse", /^passphrase: encryption is not built yet; nothing was started/],
    ["pbkeylen=16", /^pbkeylen: encryption is not built yet/],
    ["mode=rendezvous", /^mode: rendezvous is not built yet; write mode=listener on one side/],
    ["grouptype=broadcast", /^grouptype: groups of several links are not built yet/],
    ["weight=10", /^weight: groups of several links are not built yet/],
    ["packetfilter=fec,cols:10", /^packetfilter: forward error correction is left out on purpose/],
    ["transtype=file", /^transtype: only live transmission is built/],
    ["congestion=file", /^congestion: only live congestion control is built/],
    ["messageapi=0", /^messageapi: only live mode/],
    ["tsbpdmode=0", /^tsbpdmode: delivery by time stamp is always on/],
    ["maxbw=0", /^maxbw: "0" \(relative to the input rate\) is not built yet/],
    ["link=fibre", /^link: links by name are not built yet; write interface=eth0/],
  ];
  for (const [query, message] of cases) {
    assert.match(refused(`srt://h:1?${query}`, "output"), message, query);
  }
  assert.match(
    refused("srt://a:1?latency=200 srt://b:1", "output"),
    /a blank joins the links of a group, and groups of several links are not built yet/,
  );
});

Deno.test("a secret is never repeated", () => {
  for (const uri of ["srt://h:1?passphrase=correcthorse", "srt://h:1?Passphrase=correcthorse"]) {
    assert.ok(!refused(uri, "output").includes("correcthorse"));
  }
});
