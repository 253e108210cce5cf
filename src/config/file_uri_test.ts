import { type Case, testCases, testRefusals } from "./uri_testing.ts";

const cases: Case[] = [
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
    text: "/media/clip.ts?rate=1.5Mbps&loop",
    direction: "input",
    uri: "file:///media/clip.ts?pace=pcr&rate=1.5Mbps&loop=yes",
    options: ["path=/media/clip.ts", "pace=pcr", "rate_bps=1500000", "loop=true"],
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

testCases(cases);

testRefusals([
  ["file://nas/clip.ts", "input", /names the host "nas"/],
  ["file:", "input", /^the path of the file is empty/],
  ["clip.ts?pace=rate", "input", /^pace: pace=rate needs a rate/],
  ["clip.ts?pace=asap&rate=1M", "input", /^rate: it needs pace=rate, or a loop/],
  ["clip.ts?pace=pcr&rate=1M", "input", /^rate: it needs pace=rate, or a loop/],
  ["clip.ts?loop", "input", /^loop: a loop goes by its PCR and is filled up to a constant rate/],
  ["clip.ts?loop&rate=1M&pace=rate", "input", /^loop: a loop goes by its PCR/],
  ["clip.ts?marker&rate=1M", "input", /^marker: the measuring payload is put into a loop/],
  ["clip.ts?rate=0", "input", /^rate: "0" is not between 1kbps and 100Gbps/],
  ["-?loop=1&rate=1M", "input", /^loop: standard input cannot be read twice/],
  ["-?append=1", "output", /^append: it belongs to a file/],
  ["clip.ts?loop=1", "output", /^loop: it belongs to a file input/],
]);
