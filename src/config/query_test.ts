import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError } from "./error.ts";
import { integer, type Key, text, toggle } from "./key.ts";
import { decode, encode, optionsOf, readQuery, splitQuery, writeQuery } from "./query.ts";

const keys: readonly Key[] = [
  { name: "latency", aliases: ["delay"], read: integer(0, 99), options: ["receive", "send"] },
  { name: "rcvlatency", read: integer(0, 99), options: ["receive"] },
  { name: "ttl", read: integer(1, 9), options: ["ttl"], of: "link" },
  { name: "name", read: text(99), options: ["name"] },
  { name: "loop", read: toggle, options: [] },
];

Deno.test("queries are split and decoded", () => {
  assert.deepEqual(splitQuery("a=1&b=&&loop&c=x=y%26z+"), [
    ["a", "1"],
    ["b", ""],
    ["loop", "yes"],
    ["c", "x=y&z+"],
  ]);
  assert.deepEqual(splitQuery(""), []);
  assert.throws(() => splitQuery("a=100%"), ConfigError);
  assert.throws(() => splitQuery("a=%ff"), ConfigError);
  assert.throws(() => splitQuery("a=%0a"), ConfigError);
});

Deno.test("what is encoded is decoded, and ends no value", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (value) => {
    fc.pre(!/\p{Cc}/u.test(value));
    assert.equal(decode(encode(value)), value);
    assert.ok(!/[&#?\s]/.test(encode(value)));
  }));
});

Deno.test("a query becomes options, the more special key last", () => {
  const query = readQuery([["rcvlatency", "7"], ["delay", "5"], ["ttl", "3"]], keys, {});
  assert.deepEqual(optionsOf(query, keys, "endpoint"), [
    { name: "receive", value: "7" },
    { name: "send", value: "5" },
  ]);
  assert.deepEqual(optionsOf(query, keys, "link"), [{ name: "ttl", value: "3" }]);
  assert.deepEqual(query.notes, ["delay is read as latency=5"]);
  assert.equal(writeQuery(query.values, keys), "?latency=5&rcvlatency=7&ttl=3");
  assert.equal(writeQuery(new Map(), keys), "");
});

Deno.test("refused keys, but where they say what is done anyway", () => {
  const refused = {
    mode: { because: "only live is built", harmless: (v: string) => v === "live" },
  };
  assert.deepEqual(readQuery([["mode", "live"]], keys, refused).notes, [
    "mode says what is done anyway and is left out",
  ]);
  assert.throws(() => readQuery([["mode", "file"]], keys, refused), {
    message: "mode: only live is built",
  });
  assert.throws(() => readQuery([["toString", "1"]], keys, refused), /unknown key "toString"/);
  assert.throws(() => readQuery([["delay", "1"], ["latency", "1"]], keys, {}), /mean the same/);
  assert.throws(() => readQuery([["delay", "100"]], keys, {}), { message: /^delay: "100"/ });
});
