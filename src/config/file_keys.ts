/**
 * The keys of a file, standard input or standard output.
 *
 * @module
 */

import { bitRate, choice, integer, type Key, type Refused, toggle } from "./key.ts";

/** Keys of a file input, in the order of a normalised URI. */
export const fileInputKeys: readonly Key[] = [
  { name: "pace", read: choice("asap", "pcr", "rate"), options: ["pace"] },
  { name: "rate", aliases: ["bitrate"], read: bitRate, options: ["rate_bps"] },
  { name: "loop", read: toggle, options: ["loop"] },
  { name: "marker", read: toggle, options: ["marker"] },
  {
    name: "payloadsize",
    aliases: ["payload_size", "pkt_size"],
    read: integer(188, 1456),
    options: ["payload_size"],
  },
];

/** Keys of a file output. */
export const fileOutputKeys: readonly Key[] = [
  { name: "append", read: toggle, options: ["append"] },
];

const belongsToInput: Refused = { because: "it belongs to a file input" };

/** Keys that a file input does not have. */
export const fileInputRefused: Readonly<Record<string, Refused>> = {
  append: { because: "it belongs to a file output" },
};

/** Keys that a file output does not have. */
export const fileOutputRefused: Readonly<Record<string, Refused>> = {
  pace: belongsToInput,
  rate: belongsToInput,
  loop: belongsToInput,
  marker: belongsToInput,
  payloadsize: belongsToInput,
};
