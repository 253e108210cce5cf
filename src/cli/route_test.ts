import assert from "node:assert/strict";
import { parseUri } from "../config/mod.ts";
import { paceFile } from "./route.ts";

const udp = parseUri("udp://127.0.0.1:5004", "output");
const file = parseUri("copy.ts", "output");

Deno.test("a transport stream from a file to a network goes by its own clock", () => {
  const paced = paceFile(parseUri("clip.ts?payloadsize=188", "input"), [file, udp]);
  assert.equal(paced.uri, "file:clip.ts?pace=pcr&payloadsize=188");
  assert.match(paced.notes.join(), /pace=pcr, because it is a transport stream/);
  assert.equal(paceFile(parseUri("CLIP.M2T", "input"), [udp]).uri, "file:CLIP.M2T?pace=pcr");
});

Deno.test("everything else keeps its pace", () => {
  const kept: [string, boolean][] = [
    ["clip.ts?pace=asap", false],
    ["clip.ts?rate=8M", false],
    ["clip.ts?loop&rate=8M", false],
    ["-", false],
    ["udp://:5004", false],
    ["clip.bin", true],
  ];
  for (const [uri, noted] of kept) {
    const input = parseUri(uri, "input");
    const paced = paceFile(input, [udp]);
    assert.equal(paced.uri, input.uri);
    assert.equal(paced.notes.some((note) => note.includes("as fast as it can be read")), noted);
  }
  const input = parseUri("clip.ts", "input");
  assert.equal(paceFile(input, [file]), input);
});
