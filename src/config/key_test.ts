import assert from "node:assert/strict";
import { ConfigError } from "./error.ts";
import {
  addressText,
  bitRate,
  bytes,
  choice,
  integer,
  interfaceName,
  type Key,
  span,
  text,
  toggle,
} from "./key.ts";

/** A reader, what it accepts as value and normal spelling, and what it refuses. */
const readers: [string, Key["read"], [string, string, string][], string[]][] = [
  ["integer", integer(2, 9), [["2", "2", "2"], ["9", "9", "9"]], ["1", "10", "", "x"]],
  ["toggle", toggle, [["on", "true", "yes"], ["0", "false", "no"]], ["2", ""]],
  ["choice", choice("pcr", "rate"), [["PCR", "pcr", "pcr"]], ["", "asap"]],
  ["text", text(4), [["", "", ""], ["éé", "éé", "éé"]], ["ééé", "12345"]],
  [
    "span",
    span(1_000_000, 1_000_000_000, "ms"),
    [["1", "1000000", "1ms"], ["1s", "1000000000", "1s"], ["1000us", "1000000", "1ms"]],
    ["0", "1001", "999us", ""],
  ],
  ["bitRate", bitRate, [["1000", "1000", "1kbps"], ["8M", "8000000", "8Mbps"]], ["999", "101G"]],
  ["bytes", bytes(10, 2000), [["10", "10", "10B"], ["2k", "2000", "2kB"]], ["9", "2001", "1.5"]],
  [
    "interfaceName",
    interfaceName,
    [["eth0.100", "eth0.100", "eth0.100"], ["br-lan", "br-lan", "br-lan"]],
    ["", "a b", "a/b", ".", "..", "sixteencharacter", "eth0:1"],
  ],
  [
    "addressText",
    addressText,
    [
      ["192.0.2.1", "192.0.2.1", "192.0.2.1"],
      ["192.0.2.1:5", "192.0.2.1:5", "192.0.2.1:5"],
      ["[::1]", "[::1]", "[::1]"],
    ],
    ["::1", "192.0.2.1:99999"],
  ],
];

for (const [name, read, accepted, refused] of readers) {
  Deno.test(name, () => {
    for (const [written, value, shown] of accepted) {
      assert.deepEqual(read(written), { value, shown }, written);
      // The normal spelling is one that is accepted, and its own.
      assert.deepEqual(read(shown), { value, shown }, shown);
    }
    for (const written of refused) assert.throws(() => read(written), ConfigError, written);
  });
}
