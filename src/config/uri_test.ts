import assert from "node:assert/strict";
import fc from "fast-check";
import type { Direction, Endpoint } from "./endpoint.ts";
import { ConfigError } from "./error.ts";
import { fileInputKeys, fileOutputKeys } from "./file_keys.ts";
import { srtKeys, srtRefused } from "./srt_keys.ts";
import { udpInputKeys, udpInputRefused, udpOutputKeys, udpOutputRefused } from "./udp_keys.ts";
import { normalise, parseUri } from "./uri.ts";

/** Options as `name=value` words, addresses as `place:host:port`. */
function words(options: Endpoint["options"]): string[] {
  return options.map(({ name, value }) => {
    if (typeof value === "string") return `${name}=${value}`;
    if ("interfaceOf" in value) return `${name}=interface of ${value.interfaceOf}`;
    return `${name}=${value.place} ${value.address.host}:${value.address.port}`;
  });
}

function refused(text: string, direction: Direction): string {
  try {
    parseUri(text, direction);
  } catch (error) {
    assert.ok(error instanceof ConfigError, `${text}: ${error}`);
    return error.message;
  }
  assert.fail(`${text} was accepted`);
}

interface Case {
  readonly text: string;
  readonly direction: Direction;
  readonly uri: string;
  readonly options?: string[];
  readonly link?: string[];
  readonly note?: RegExp;
}

const srtCases: Case[] = [
  {
    text: "srt://:5000",
    direction: "input",
    uri: "srt://:5000?mode=listener",
    options: [],
    link: ["mode=listener", "local=local :5000"],
    note: /it names no host, so it listens/,
  },
  {
    text: "srt://192.0.2.1:5000",
    direction: "output",
    uri: "srt://192.0.2.1:5000?mode=caller",
    link: ["mode=caller", "remote=remote 192.0.2.1:5000"],
    note: /it names a host, so it calls/,
  },
  {
    text: "SRT://Host.example:5000/?mode=client",
    direction: "output",
    uri: "srt://host.example:5000?mode=caller",
    link: ["mode=caller", "remote=remote host.example:5000"],
  },
  {
    text: "srt://[::]:5000",
    direction: "input",
    uri: "srt://[::]:5000?mode=listener",
    link: ["mode=listener", "local=local :::5000"],
    note: /nobody can call ::, so it listens/,
  },
  {
    text: "srt://192.0.2.1:5000?adapter=10.0.0.2&port=6000",
    direction: "output",
    uri: "srt://192.0.2.1:5000?mode=caller&bind=10.0.0.2:6000",
    link: ["mode=caller", "remote=remote 192.0.2.1:5000", "local=local 10.0.0.2:6000"],
    note: /srt-live-transmit would take the local address as a sign of rendezvous/,
  },
  {
    text: "srt://192.0.2.1:5000?bind=10.0.0.2&mode=caller&bindtodevice=eth1&iptos=184&ttl=8",
    direction: "output",
    uri: "srt://192.0.2.1:5000?mode=caller&bind=10.0.0.2&interface=eth1&iptos=184&ipttl=8",
    link: [
      "mode=caller",
      "remote=remote 192.0.2.1:5000",
      "local=local 10.0.0.2:0",
      "interface=eth1",
      "tos=184",
      "ttl=8",
    ],
    note: /bindtodevice is read as interface=eth1/,
  },
  {
    text: "srt://?mode=server&adapter=10.0.0.2&port=5000",
    direction: "input",
    uri: "srt://10.0.0.2:5000?mode=listener",
    link: ["mode=listener", "local=local 10.0.0.2:5000"],
  },
  {
    text: "srt://:5000?latency=200",
    direction: "input",
    uri: "srt://:5000?mode=listener&latency=200ms",
    options: ["receive_latency_ns=200000000", "peer_latency_ns=200000000"],
  },
  {
    text: "srt://:5000?latency=200us",
    direction: "input",
    uri: "srt://:5000?mode=listener&latency=200us",
    options: ["receive_latency_ns=200000", "peer_latency_ns=200000"],
    note: /below 20ms/,
  },
  {
    // The order of typing does not matter: the more special key wins.
    text: "srt://:5000?rcvlatency=1s&latency=120",
    direction: "input",
    uri: "srt://:5000?mode=listener&latency=120ms&rcvlatency=1s",
    options: ["receive_latency_ns=1000000000", "peer_latency_ns=120000000"],
  },
  {
    text: "srt://h:1?maxbw=1250000&ffs=60000&pkt_size=1316&mss=1500&connect_timeout=5000",
    direction: "output",
    uri: "srt://h:1?mode=caller&maxbw=10Mbps&mss=1500&fc=60000&conntimeo=5s",
    options: [
      "max_bandwidth_bps=10000000",
      "mss=1500",
      "flow_window=60000",
      "connect_timeout_ns=5000000000",
    ],
    note: /ffs is read as fc=60000/,
  },
  {
    text: "srt://h:1?maxbw=10Mbps",
    direction: "output",
    uri: "srt://h:1?mode=caller&maxbw=10Mbps",
    options: ["max_bandwidth_bps=10000000"],
  },
  {
    text: "srt://h:1?maxbw=-1&peeridletimeo=8s&tlpktdrop=0&nakreport=true&lossmaxttl=40",
    direction: "output",
    uri:
      "srt://h:1?mode=caller&maxbw=unlimited&peeridletimeo=8s&tlpktdrop=no&nakreport=yes&lossmaxttl=40",
    options: [
      "max_bandwidth_bps=0",
      "peer_idle_timeout_ns=8000000000",
      "too_late_drop=false",
      "nak_report=true",
      "reorder_tolerance=40",
    ],
  },
  {
    text: "srt://h:1?rcvbuf=12058624&sndbuf=1000",
    direction: "output",
    uri: "srt://h:1?mode=caller&buffer=8192",
    options: ["buffer_packets=8192"],
    note: /rcvbuf and sndbuf: read as buffer=8192 packets/,
  },
  {
    text: "srt://h:1?streamid=#!::r=live/cam 1,m=publish&reconnect=no",
    direction: "output",
    uri: "srt://h:1?mode=caller&streamid=%23!::r=live/cam%201,m=publish&reconnect=no",
    options: ["stream_id=#!::r=live/cam 1,m=publish", "reconnect=false"],
  },
  {
    text: "srt://h:1?srt_streamid=a%26b%3F+c",
    direction: "output",
    uri: "srt://h:1?mode=caller&streamid=a%26b%3F+c",
    options: ["stream_id=a&b?+c"],
  },
  {
    text: "srt://h:1?transtype=live&congestion=live&messageapi=1&tsbpd=1&pbkeylen=0",
    direction: "output",
    uri: "srt://h:1?mode=caller",
    options: [],
    note: /transtype says what is done anyway and is left out/,
  },
];

const udpCases: Case[] = [
  {
    text: "udp://:5004",
    direction: "input",
    uri: "udp://:5004",
    options: ["local=local :5004"],
  },
  {
    text: "udp://@:5004",
    direction: "input",
    uri: "udp://:5004",
    options: ["local=local :5004"],
  },
  {
    text: "udp://:5004?adapter=10.0.0.2&buffer_size=4000000",
    direction: "input",
    uri: "udp://10.0.0.2:5004?rcvbuf=4MB",
    options: ["local=local 10.0.0.2:5004", "receive_buffer=4000000"],
    note: /buffer_size is read as rcvbuf=4MB/,
  },
  {
    text: "udp://@239.1.1.1:5004?localaddr=10.0.0.2",
    direction: "input",
    uri: "udp://239.1.1.1:5004?adapter=10.0.0.2",
    options: [
      "local=local 239.1.1.1:5004",
      "group=remote 239.1.1.1:0",
      "interface=interface of 10.0.0.2",
    ],
  },
  {
    text: "udp://10.9.9.9@239.1.1.1:5004?iface=eth1",
    direction: "input",
    uri: "udp://239.1.1.1:5004?interface=eth1&source=10.9.9.9",
    options: [
      "local=local 239.1.1.1:5004",
      "group=remote 239.1.1.1:0",
      "source=remote 10.9.9.9:0",
      "interface=eth1",
    ],
  },
  {
    text: "udp://[ff3e::1]:5004",
    direction: "input",
    uri: "udp://[ff3e::1]:5004",
    options: ["local=local ff3e::1:5004", "group=remote ff3e::1:0"],
  },
  {
    text: "udp://239.1.1.1:5004?ttl=8&adapter=10.0.0.2&tos=184&pace=playout",
    direction: "output",
    uri: "udp://239.1.1.1:5004?adapter=10.0.0.2&ttl=8&tos=184&pace=playout",
    options: [
      "remote=remote 239.1.1.1:5004",
      "interface=interface of 10.0.0.2",
      "ttl=8",
      "tos=184",
      "pace=playout",
    ],
  },
  {
    text: "udp://192.0.2.1:5004?localaddr=10.0.0.2&localport=6000&sndbuf=1MiB",
    direction: "output",
    uri: "udp://192.0.2.1:5004?adapter=10.0.0.2&localport=6000&sndbuf=1MiB",
    options: [
      "remote=remote 192.0.2.1:5004",
      "local=local 10.0.0.2:6000",
      "send_buffer=1048576",
    ],
  },
];

const fileCases: Case[] = [
  { text: "-", direction: "input", uri: "-", options: ["fd=0"] },
  { text: "-", direction: "output", uri: "-", options: ["fd=1"] },
  { text: "file://con", direction: "output", uri: "-", options: ["fd=1"] },
  { text: "file://con/", direction: "input", uri: "-", options: ["fd=0"] },
  {
    text: "clips/a b.ts",
    direction: "input",
    uri: "file:clips/a%20b.ts",
    options: ["path=clips/a b.ts"],
  },
  {
    text: "file:///tmp/50%25.ts",
    direction: "input",
    uri: "file:///tmp/50%25.ts",
    options: ["path=/tmp/50%.ts"],
  },
  { text: "file://./x.ts", direction: "input", uri: "file:./x.ts", options: ["path=./x.ts"] },
  { text: "file:x.ts", direction: "input", uri: "file:x.ts", options: ["path=x.ts"] },
  {
    text: "file://localhost/x.ts",
    direction: "input",
    uri: "file:///x.ts",
    options: ["path=/x.ts"],
  },
  {
    text: "/media/clip.ts?loop",
    direction: "input",
    uri: "file:///media/clip.ts?pace=pcr&loop=yes",
    options: ["path=/media/clip.ts", "pace=pcr", "loop=true"],
    note: /pace=pcr, because a loop is paced by its PCR/,
  },
  {
    text: "/media/clip.ts?loop=1&rate=8M&marker=on",
    direction: "input",
    uri: "file:///media/clip.ts?pace=pcr&rate=8Mbps&loop=yes&marker=yes",
    options: ["path=/media/clip.ts", "pace=pcr", "rate_bps=8000000", "loop=true", "marker=true"],
  },
  {
    text: "-?bitrate=8000000",
    direction: "input",
    uri: "-?pace=rate&rate=8Mbps",
    options: ["fd=0", "pace=rate", "rate_bps=8000000"],
    note: /pace=rate, because a rate is given/,
  },
  {
    text: "out.ts?append=yes",
    direction: "output",
    uri: "file:out.ts?append=yes",
    options: ["path=out.ts", "append=true"],
  },
  { text: "check:", direction: "output", uri: "check:", options: [] },
  { text: "check://", direction: "output", uri: "check:", options: [] },
];

for (
  const { text, direction, uri, options, link, note } of [...srtCases, ...udpCases, ...fileCases]
) {
  Deno.test(`${direction} ${text}`, () => {
    const endpoint = parseUri(text, direction);
    assert.equal(endpoint.uri, uri);
    if (options !== undefined) assert.deepEqual(words(endpoint.options), options);
    if (link !== undefined) assert.deepEqual(endpoint.links.map(words), [link]);
    if (note !== undefined) assert.match(endpoint.notes.join("\n"), note);
    assert.equal(normalise(uri, direction), uri);
    assert.equal(endpoint.standardStream, uri === "-" || uri.startsWith("-?"));
  });
}

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

Deno.test("unknown keys name the nearest ones", () => {
  assert.equal(
    refused("srt://h:1?latancy=20", "output"),
    `unknown key "latancy"; did you mean latency?`,
  );
  assert.match(refused("udp://:5004?zzzzzz=1", "input"), /accepted: adapter, interface, source/);
  assert.match(refused("x.ts?constructor=1", "input"), /unknown key "constructor"/);
});

Deno.test("what is not built yet is refused with a sentence that says so", () => {
  const cases: [string, RegExp][] = [
    ["passphrase=correcthorse", /^passphrase: encryption is not built yet; nothing was started/],
    ["pbkeylen=16", /^pbkeylen: encryption is not built yet/],
    ["mode=rendezvous", /^mode: rendezvous is not built yet; write mode=listener on one side/],
    ["grouptype=broadcast", /^grouptype: groups of several links are not built yet/],
    ["weight=10", /^weight: groups of several links are not built yet/],
    ["packetfilter=fec,cols:10", /^packetfilter: forward error correction is not built yet/],
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

Deno.test("other errors", () => {
  const cases: [string, Direction, RegExp][] = [
    ["", "input", /^an empty input; accepted are udp:/],
    ["srt:h:1", "input", /^srt is written srt:\/\/host:port/],
    ["srt://h", "output", /"h" has no port; write h:5000/],
    ["srt://h:1/live", "output", /"\/live": srt has no path; a stream is named by streamid=/],
    ["srt://:1?mode=caller", "output", /^a caller needs the host of its peer/],
    ["srt://", "input", /^a listener needs a port/],
    ["srt://?mode=listener", "input", /^a listener needs a port/],
    ["srt://h:1?latency=1&latency=2", "output", /^latency stands twice; keep one/],
    ["srt://h:1?fc=40&ffs=50", "output", /^fc and ffs mean the same; keep one/],
    ["srt://h:1?buffer=300&rcvbuf=1M", "output", /^buffer and rcvbuf mean the same; keep one/],
    ["srt://h:1?rcvbuf=1M&rcvbuf=2M", "output", /^rcvbuf stands twice; keep one/],
    ["srt://h:1?rcvbuf=1G", "output", /^rcvbuf: 1000000000 bytes are too much/],
    ["srt://h:1?bind=1.1.1.1&adapter=2.2.2.2", "output", /^bind and adapter both give/],
    ["srt://h:1?bind=1.1.1.1:5&port=6", "output", /^port=6 and the port 5 .* differ/],
    [
      "srt://1.1.1.1:1?mode=listener&bind=2.2.2.2",
      "input",
      /^the host and the local address differ/,
    ],
    ["srt://:1?port=2", "input", /^the ports 1 and 2 differ/],
    ["srt://h:1?mss=75", "output", /^mss: "75" is not a whole number from 76 to 1500/],
    ["srt://h:1?streamid=%zz", "output", /has a stray %; a percent sign is written %25/],
    ["srt://h:1?streamid=a%00b", "output", /has a control character/],
    [`srt://h:1?streamid=${"x".repeat(513)}`, "output", /513 bytes; at most 512 are accepted/],
    ["srt://h:1?payloadsize=1000", "output", /^payloadsize: payloads keep the size that the input/],
    ["srt://h:1?mode=both", "output", /^mode: "both" is none of caller, listener/],
    ["srt://h:1?interface=no/such", "output", /is not the name of a network interface/],
    ["udp://5004", "input", /"5004" is not a host name or address/],
    ["udp://:5004", "output", /^an output needs a host/],
    ["udp://a@h:5004", "output", /^an output has no user or source before @/],
    [
      "udp://10.0.0.1:5004?source=10.0.0.9",
      "input",
      /^source: only a multicast group has a source/,
    ],
    ["udp://10.0.0.1:5004?adapter=10.0.0.2", "input", /^adapter: it differs from the host/],
    ["udp://239.1.1.1:5004?adapter=10.0.0.2&interface=eth0", "input", /keep interface/],
    ["udp://239.1.1.1:5004?adapter=host", "output", /^adapter: write one numeric address/],
    ["udp://:5004?ttl=3", "input", /^ttl: it belongs to an output/],
    ["udp://h:5004?pkt_size=1316", "output", /^pkt_size: an output keeps the packets of its input/],
    ["udp://:5004?fifo_size=1000", "input", /^fifo_size: it tunes the inside of ffmpeg/],
    ["rtp://h:5004", "output", /^"rtp:" is not built; accepted are udp:\/\/, srt:\/\//],
    ["c:clip.ts", "input", /^"c:" is not built/],
    ["127.0.0.1:5004", "input", /could be anything; write udp:\/\/127.0.0.1:5004/],
    ["file://nas/clip.ts", "input", /names the host "nas"/],
    ["file:", "input", /^the path of the file is empty/],
    ["clip.ts?pace=rate", "input", /^pace: pace=rate needs a rate/],
    ["clip.ts?pace=asap&rate=1M", "input", /^pace: asap has no rate/],
    ["clip.ts?pace=pcr&rate=1M", "input", /^rate: with pace=pcr a rate needs loop=yes/],
    ["clip.ts?rate=0", "input", /^rate: "0" is not between 1kbps and 100Gbps/],
    ["-?loop=1", "input", /^loop: standard input cannot be read twice/],
    ["-?append=1", "output", /^append: it belongs to a file/],
    ["clip.ts?loop=1", "output", /^loop: it belongs to a file input/],
    ["check:", "input", /^check: verifies a stream; it is an output only/],
    ["check:?a=1", "output", /^check: has neither an address nor options/],
    ["a\nb", "input", /^the URI has a control character/],
    ["x".repeat(8193), "input", /^a URI has at most 8192 characters/],
  ];
  for (const [text, direction, message] of cases) {
    assert.match(refused(text, direction), message, text);
  }
});

Deno.test("no key of a table is also refused, and no spelling means two keys", () => {
  const tables: [string, readonly { name: string; aliases?: readonly string[] }[], object][] = [
    ["srt", srtKeys, srtRefused],
    ["udp input", udpInputKeys, udpInputRefused],
    ["udp output", udpOutputKeys, udpOutputRefused],
    ["file input", fileInputKeys, {}],
    ["file output", fileOutputKeys, {}],
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
