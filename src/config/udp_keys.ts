/**
 * The keys of a udp:// URI, under the names of srt-live-transmit, srt-xtransmit, ffmpeg and VLC.
 *
 * @module
 */

import { address, bytes, choice, integer, interfaceName, type Key, type Refused } from "./key.ts";

const mebibyte = 1_048_576;

const network: readonly Key[] = [
  { name: "adapter", aliases: ["localaddr", "bind"], read: address, options: [] },
  {
    name: "interface",
    aliases: ["iface", "bindtodevice"],
    read: interfaceName,
    options: ["interface"],
  },
];

/** Keys of a UDP input, in the order of a normalised URI. */
export const udpInputKeys: readonly Key[] = [
  ...network,
  { name: "source", aliases: ["sources"], read: address, options: [] },
  {
    name: "rcvbuf",
    aliases: ["buffer_size"],
    read: bytes(4096, 1024 * mebibyte),
    options: ["receive_buffer"],
  },
  {
    name: "payloadsize",
    aliases: ["payload_size", "pkt_size"],
    read: integer(188, 1456),
    options: ["payload_size"],
  },
];

/** Keys of a UDP output, in the order of a normalised URI. */
export const udpOutputKeys: readonly Key[] = [
  ...network,
  { name: "localport", read: integer(1, 65_535), options: [] },
  { name: "ttl", aliases: ["ipttl"], read: integer(1, 255), options: ["ttl"] },
  { name: "tos", aliases: ["iptos"], read: integer(0, 255), options: ["tos"] },
  {
    name: "sndbuf",
    aliases: ["buffer_size"],
    read: bytes(4096, 1024 * mebibyte),
    options: ["send_buffer"],
  },
  { name: "pace", read: choice("asap", "playout"), options: ["pace"] },
];

const inner: Refused = {
  because: "it tunes the inside of ffmpeg and has no meaning here; leave it out",
};
const sharing: Refused = {
  because: "several programs on one UDP port are not supported; leave it out",
};
const pacing: Refused = { because: "write pace=playout, or pace on a file input" };

/** Keys that people bring from other programs and that are not accepted, each with its reason. */
export const udpRefused: Readonly<Record<string, Refused>> = {
  fifo_size: inner,
  overrun_nonfatal: inner,
  timeout: { because: "an input waits for its source until it is stopped; leave it out" },
  connect: inner,
  block: { because: "refusing single sources is not built yet; write source for the one wanted" },
  reuse: sharing,
  reuse_socket: sharing,
  mcloop: { because: "it is left as the system has it; leave it out" },
  bitrate: pacing,
  burst_bits: pacing,
  dscp: { because: "write tos, which is four times the DSCP" },
};

/** Keys that only the other direction has, with what to do. */
export const udpInputRefused: Readonly<Record<string, Refused>> = {
  ...udpRefused,
  ttl: { because: "it belongs to an output" },
  tos: { because: "it belongs to an output" },
  sndbuf: { because: "it belongs to an output; write rcvbuf" },
  pace: { because: "a UDP input takes packets as they come; pace belongs to an output" },
  localport: { because: "the port of an input stands after its host: udp://:5004" },
};

/** Keys that only the other direction has, with what to do. */
export const udpOutputRefused: Readonly<Record<string, Refused>> = {
  ...udpRefused,
  source: { because: "it belongs to an input; an output has adapter" },
  rcvbuf: { because: "it belongs to an input; write sndbuf" },
  payloadsize: { because: "an output keeps the packets of its input; write it on the input" },
  pkt_size: { because: "an output keeps the packets of its input; write payloadsize on the input" },
};
