/**
 * The keys of an srt:// URI, under the names of libsrt, srt-live-transmit, srt-xtransmit and ffmpeg.
 *
 * @module
 */

import { ConfigError, quote } from "./error.ts";
import {
  addressText,
  integer,
  interfaceName,
  type Key,
  type Read,
  type Refused,
  span,
  text,
  toggle,
} from "./key.ts";
import { formatDuration, formatRate, parseDuration, parseInteger, parseRate } from "./units.ts";

const ms = 1_000_000;

/** Largest latency: the handshake carries it in 16 bits of ms (draft-sharabayko-srt §3.2.1.1). */
const maxLatencyMs = 65_535;

const maxBandwidthBps = 100_000_000_000;

/** Reads a latency. People paste URIs written for ffmpeg and OBS, which count microseconds. */
function latency(value: string): Read {
  const bare = /^\d+$/.test(value.trim());
  const ns = parseDuration(value, "ms");
  if (ns <= maxLatencyMs * ms) return { value: ns.toString(), shown: formatDuration(ns) };
  if (!bare) {
    throw new ConfigError(`${quote(value)} is too long; the most is ${maxLatencyMs}ms`);
  }
  const asMicroseconds = formatDuration(Math.min(ns / 1000, maxLatencyMs * ms));
  throw new ConfigError(
    `${quote(value)} would be ${formatDuration(ns)}, and the most is ${maxLatencyMs} ms; ` +
      `ffmpeg and OBS write microseconds, here it is milliseconds: write ${asMicroseconds}`,
  );
}

/** Reads maxbw: a bare number is bytes per second, as in libsrt; with a unit it is bits. */
function maxBandwidth(value: string): Read {
  if (value === "-1" || value === "unlimited") return { value: "0", shown: "unlimited" };
  if (/^0+$/.test(value)) {
    throw new ConfigError(
      `"0" (relative to the input rate) is not built yet; write a rate such as 10Mbps, or unlimited`,
    );
  }
  const bare = /^\d+$/.test(value);
  const bps = bare ? 8 * parseInteger(value, 1, maxBandwidthBps / 8) : parseRate(value);
  if (bps === 0 || bps > maxBandwidthBps) {
    throw new ConfigError(`${quote(value)} is not a rate above 0 and up to 100Gbps`);
  }
  return { value: bps.toString(), shown: formatRate(bps) };
}

/** Reads a mode, also under the names of srt-live-transmit; "default" asks to infer it. */
function mode(value: string): Read {
  const word = value.toLowerCase();
  switch (word) {
    case "caller":
    case "client":
      return { value: "caller", shown: "caller" };
    case "listener":
    case "server":
      return { value: "listener", shown: "listener" };
    case "default":
      return { value: "", shown: "" };
    case "rendezvous":
      throw new ConfigError(
        `rendezvous is not built yet; write mode=listener on one side and mode=caller on the other`,
      );
    default:
      throw new ConfigError(`${quote(value)} is none of caller, listener`);
  }
}

/** Every key, in the order of a normalised URI. */
export const srtKeys: readonly Key[] = [
  { name: "mode", read: mode, options: [] },
  {
    name: "bind",
    aliases: ["source"],
    read: addressText,
    options: [],
  },
  { name: "adapter", aliases: ["localaddr"], read: addressText, options: [] },
  { name: "port", aliases: ["localport"], read: integer(1, 65_535), options: [] },
  {
    name: "interface",
    aliases: ["bindtodevice", "iface"],
    read: interfaceName,
    options: ["interface"],
    of: "link",
  },
  {
    name: "latency",
    aliases: ["tsbpddelay"],
    read: latency,
    options: ["receive_latency_ns", "peer_latency_ns"],
  },
  { name: "rcvlatency", read: latency, options: ["receive_latency_ns"] },
  { name: "peerlatency", read: latency, options: ["peer_latency_ns"] },
  { name: "streamid", aliases: ["srt_streamid"], read: text(512), options: ["stream_id"] },
  { name: "maxbw", read: maxBandwidth, options: ["max_bandwidth_bps"] },
  { name: "mss", read: integer(76, 1500), options: ["mss"] },
  { name: "fc", aliases: ["ffs"], read: integer(32, 65_536), options: ["flow_window"] },
  { name: "buffer", read: integer(256, 65_536), options: ["buffer_packets"] },
  {
    name: "conntimeo",
    aliases: ["connect_timeout"],
    read: span(ms, 3_600_000 * ms, "ms"),
    options: ["connect_timeout_ns"],
  },
  {
    name: "peeridletimeo",
    read: span(100 * ms, 3_600_000 * ms, "ms"),
    options: ["peer_idle_timeout_ns"],
  },
  { name: "tlpktdrop", read: toggle, options: ["too_late_drop"] },
  { name: "nakreport", read: toggle, options: ["nak_report"] },
  { name: "lossmaxttl", read: integer(0, 10_000), options: ["reorder_tolerance"] },
  {
    name: "snddropdelay",
    read: span(0, maxLatencyMs * ms, "ms"),
    options: ["send_drop_delay_ns"],
  },
  { name: "reconnect", read: toggle, options: ["reconnect"] },
  { name: "iptos", aliases: ["tos"], read: integer(0, 255), options: ["tos"], of: "link" },
  { name: "ipttl", aliases: ["ttl"], read: integer(1, 255), options: ["ttl"], of: "link" },
];

const encryption: Refused = {
  because: "encryption is not built yet; nothing was started, so nothing went out in clear",
};
const groups: Refused = {
  because: "groups of several links are not built yet; use one link for each output",
};
const rateControl: Refused = {
  because: "a bandwidth limit relative to the input is not built yet; write maxbw=10Mbps",
};

/** Whether a text is one of these words, in any case. */
function says(...words: readonly string[]): (text: string) => boolean {
  return (value) => words.includes(value.toLowerCase());
}

const on = says("1", "yes", "on", "true");
const off = says("0", "no", "off", "false");

/** A payload has the size that the input gave it, which is at most 1316 unless told otherwise. */
const payloadSize: Refused = {
  because: "payloads keep the size that the input gives them; write payloadsize there",
  harmless: says("1316", "1456"),
};

/** Keys that people bring from other programs and that are not accepted, each with its reason. */
export const srtRefused: Readonly<Record<string, Refused>> = {
  passphrase: encryption,
  pbkeylen: { ...encryption, harmless: says("0") },
  cryptomode: { ...encryption, harmless: says("0") },
  enforcedencryption: encryption,
  enforced_encryption: encryption,
  kmrefreshrate: encryption,
  kmpreannounce: encryption,
  grouptype: groups,
  weight: groups,
  groupconnect: { ...groups, harmless: off },
  groupminstabletimeo: groups,
  groupstabtimeo: groups,
  nodes: groups,
  type: groups,
  link: { because: "links by name are not built yet; write interface=eth0" },
  packetfilter: {
    because: "forward error correction is left out on purpose; raise latency instead",
  },
  transtype: { because: "only live transmission is built", harmless: says("live") },
  congestion: { because: "only live congestion control is built", harmless: says("live") },
  smoother: { because: "only live congestion control is built", harmless: says("live") },
  messageapi: { because: "only live mode, one message a packet, is built", harmless: on },
  tsbpdmode: { because: "delivery by time stamp is always on; write latency=0", harmless: on },
  tsbpd: { because: "delivery by time stamp is always on; write latency=0", harmless: on },
  drifttracer: { because: "following the peer's clock is always on", harmless: on },
  payloadsize: payloadSize,
  payload_size: payloadSize,
  pkt_size: payloadSize,
  inputbw: { ...rateControl, harmless: says("0") },
  mininputbw: { ...rateControl, harmless: says("0") },
  oheadbw: rateControl,
  maxrexmitbw: {
    because: "a limit for retransmissions alone is not built yet; write maxbw=10Mbps",
    harmless: says("-1"),
  },
  retransmitalgo: {
    because: "only retransmission at most once a round trip is built",
    harmless: says("1"),
  },
  minversion: { because: "refusing peers by their version is not built yet; leave it out" },
  ipv6only: { because: "write an address: [::] takes IPv6 and IPv4, 0.0.0.0 takes IPv4 only" },
  linger: { because: "a stop always delivers what is buffered; leave it out" },
  blocking: { because: "it has no meaning here; leave it out" },
  timeout: { because: "programs differ in its meaning; write conntimeo or peeridletimeo" },
  listen_timeout: { because: "a listener waits until it is stopped; leave it out" },
  send_buffer_size: { because: "the socket's own buffer is set by the program; write buffer" },
  recv_buffer_size: { because: "the socket's own buffer is set by the program; write buffer" },
};
