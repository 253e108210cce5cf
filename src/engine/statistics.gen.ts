/**
 * Generated from ffi/statistics.ts by `deno task gen`; do not edit.
 *
 * @module
 */

import type { Scope, Statistic } from "../../ffi/statistics.ts";

/** What `ls_layout_hash()` must return. */
export const layoutHash = 0xd2619f7a;

/** The scopes' numbers in `enum ls_scope`. */
export const scopeNumber = {
  engine: 1,
  flow: 2,
  endpoint: 3,
  link: 4,
  relay: 5,
  simulation: 6,
} as const satisfies Record<Scope, number>;

/** Every field of every scope, in the order of the C struct; each takes eight bytes. */
export const layout = {
  engine: [
    {
      name: "wakeups",
      type: "u64",
      unit: "wake-ups",
      kind: "counter",
      aggregate: "sum",
      meaning: "times a reactor thread woke up",
      healthy: "about one for each due packet or arriving batch",
      action: "a rate far above the packet rate is a defect: send the support bundle",
    },
    {
      name: "spin_ns",
      type: "u64",
      unit: "ns",
      kind: "counter",
      aggregate: "sum",
      meaning: "time spent spinning before departures, within the spin budget",
      healthy: "below the budget",
      action: "lower the spin budget if the CPU is needed elsewhere",
    },
    {
      name: "spin_refused",
      type: "u64",
      unit: "departures",
      kind: "counter",
      aggregate: "sum",
      meaning: "departures that were not spun for because the spin budget was used up",
      healthy: "0, or a budget of 0",
      action: "raise the spin budget, or accept the lateness",
    },
    {
      name: "packets_unknown",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams on SRT ports for no link, from a stranger, or with a wrong cookie",
      healthy: "few",
      action: "another program, or an attacker, sends to this port: look at the firewall",
    },
    {
      name: "events_lost",
      type: "u64",
      unit: "events",
      kind: "counter",
      aggregate: "sum",
      meaning: "events that did not fit into the event ring because nobody read them",
      healthy: "0",
      action: "the reading process was stalled: look at the CPU load",
    },
  ],
  flow: [
    {
      name: "state",
      type: "u64",
      unit: "enum ls_flow_state",
      kind: "gauge",
      aggregate: "last",
      meaning: "1 running, 2 draining, 3 ended",
      healthy: "1 while on air",
      action: "see the flow's last event",
    },
    {
      name: "running_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "time since the flow was started",
      healthy: "grows",
      action: "none",
    },
    {
      name: "links",
      type: "u64",
      unit: "links",
      kind: "gauge",
      aggregate: "last",
      meaning: "how many links the flow has; their blocks begin at link number 65536",
      healthy: "as configured",
      action: "none",
    },
  ],
  endpoint: [
    {
      name: "packets",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "payloads taken in by an input, or handed out by an output",
      healthy: "grows at the stream's packet rate",
      action: "an input that stands still has no source: check its address and firewall",
    },
    {
      name: "bytes",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      meaning: "payload bytes of those packets",
      healthy: "grows at the stream's bit rate",
      action: "as for packets",
    },
    {
      name: "dropped_kernel",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning:
        "datagrams that the kernel dropped because the socket buffer was full; on an SRT port the socket is that of all its flows",
      healthy: "0",
      action: "raise net.core.rmem_max; check for a CPU that cannot keep up",
    },
    {
      name: "dropped_size",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "payloads too large for one packet that could not be split at 188 bytes",
      healthy: "0",
      action: "make the source send at most 1456 bytes a datagram, or whole TS packets",
    },
    {
      name: "dropped_unconnected",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "live payloads that arrived while no link was connected",
      healthy: "stands still while connected",
      action: "see the link's state",
    },
    {
      name: "dropped_full",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "payloads dropped because the buffer behind this endpoint was full",
      healthy: "0",
      action: "the rate is above maxbw or the link's window: raise maxbw or fc",
    },
    {
      name: "errors",
      type: "u64",
      unit: "errors",
      kind: "counter",
      aggregate: "sum",
      meaning: "sends, writes or reads that the system refused",
      healthy: "0",
      action: "see the event's text for the system's reason",
    },
    {
      name: "skipped_bytes",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      meaning: "bytes of a paced file that were in no transport-stream packet",
      healthy: "0; up to 187 at a cut",
      action: "the file is damaged, or no transport stream",
    },
    {
      name: "late_packets",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "packets that left more than 1 ms after their departure time",
      healthy: "0; a few under CPU load",
      action: "raise the spin budget or free a core",
    },
    {
      name: "lateness_p50_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "median time between a packet's departure time and its hand-over to the kernel",
      healthy: "below 100 µs without spinning, below 2 µs with",
      action: "raise the spin budget",
    },
    {
      name: "lateness_p99_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "99th percentile of the same",
      healthy: "below 1 ms",
      action: "free a core, allow real-time priority",
    },
    {
      name: "lateness_max_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "largest of the same since the start",
      healthy: "below the receiver's latency",
      action: "free a core, allow real-time priority",
    },
    {
      name: "check_ts_packets",
      type: "u64",
      unit: "TS packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "check output: transport-stream packets seen",
      healthy: "grows",
      action: "none",
    },
    {
      name: "check_ts_lost",
      type: "u64",
      unit: "TS packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "check output: transport-stream packets missing between two markers",
      healthy: "0",
      action: "raise the latency, or mend the link",
    },
    {
      name: "check_ts_wrong",
      type: "u64",
      unit: "stretches",
      kind: "counter",
      aggregate: "sum",
      meaning: "check output: stretches between two markers with the right length and wrong bytes",
      healthy: "0",
      action: "data was altered or reordered on the way",
    },
    {
      name: "check_latency_min_ns",
      type: "i64",
      unit: "ns",
      kind: "gauge",
      aggregate: "min",
      meaning:
        "check output: least time from the source's marker to this output; on two machines their clocks' difference is in it",
      healthy: "the configured latency plus half the round trip",
      action: "none",
    },
    {
      name: "check_latency_p50_ns",
      type: "i64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "check output: median of the same",
      healthy: "as the least, plus well under 1 ms",
      action: "none",
    },
    {
      name: "check_latency_max_ns",
      type: "i64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "check output: largest of the same",
      healthy: "as the least, plus a few ms",
      action: "free a core: playout woke up late",
    },
    {
      name: "check_jitter_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "check output: interarrival jitter of the markers as RFC 3550 §6.4.1 defines it",
      healthy: "below 200 µs",
      action: "free a core",
    },
  ],
  link: [
    {
      name: "state",
      type: "u64",
      unit: "enum ls_link_state",
      kind: "gauge",
      aggregate: "last",
      meaning: "1 connecting, 2 connected, 3 broken, 4 closed",
      healthy: "2",
      action: "see the link's last event for the reason",
    },
    {
      name: "connections",
      type: "u64",
      unit: "connections",
      kind: "counter",
      aggregate: "sum",
      meaning: "how often this link has connected",
      healthy: "1",
      action: "a growing number means that the path fails: see the events",
    },
    {
      name: "rtt_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      libsrt: "msRTT",
      libsrtPer: 1_000_000,
      meaning: "smoothed round-trip time",
      healthy: "below a quarter of the latency",
      action: "raise the latency to at least four times this",
    },
    {
      name: "rtt_var_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "smoothed variation of the round-trip time",
      healthy: "small against the round-trip time",
      action: "a busy or wireless path: raise the latency",
    },
    {
      name: "send_latency_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      libsrt: "msSndTsbPdDelay",
      libsrtPer: 1_000_000,
      meaning: "latency of the peer's receiver, as negotiated",
      healthy: "at least four times the round-trip time",
      action: "raise latency on either side",
    },
    {
      name: "receive_latency_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      libsrt: "msRcvTsbPdDelay",
      libsrtPer: 1_000_000,
      meaning: "latency of our receiver, as negotiated",
      healthy: "at least four times the round-trip time",
      action: "raise latency on either side",
    },
    {
      name: "packets_sent",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSent",
      meaning: "data packets sent, retransmissions included",
      healthy: "grows",
      action: "none",
    },
    {
      name: "packets_sent_unique",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSentUnique",
      meaning: "data packets sent for the first time",
      healthy: "grows at the stream's packet rate",
      action: "none",
    },
    {
      name: "packets_retransmitted",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRetrans",
      meaning: "data packets sent again",
      healthy: "about the loss of the path",
      action: "none while nothing is dropped",
    },
    {
      name: "packets_send_lost",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSndLoss",
      meaning: "data packets that the peer reported missing",
      healthy: "about the loss of the path",
      action: "mend the path, or raise the latency",
    },
    {
      name: "packets_send_dropped",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSndDrop",
      meaning: "data packets given up by the sender as too late",
      healthy: "0",
      action: "the path carries less than the stream: lower the rate or add a link",
    },
    {
      name: "bytes_sent",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      libsrt: "byteSent",
      meaning: "bytes of the data packets sent, 44 header bytes each included",
      healthy: "grows",
      action: "none",
    },
    {
      name: "bytes_sent_unique",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      libsrt: "byteSentUnique",
      meaning: "the same for first transmissions",
      healthy: "grows",
      action: "none",
    },
    {
      name: "bytes_retransmitted",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      libsrt: "byteRetrans",
      meaning: "the same for retransmissions",
      healthy: "about the loss of the path",
      action: "none",
    },
    {
      name: "packets_received",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRecv",
      meaning: "data packets received, duplicates included",
      healthy: "grows",
      action: "none",
    },
    {
      name: "packets_received_unique",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRecvUnique",
      meaning: "data packets received for the first time and in time",
      healthy: "grows at the stream's packet rate",
      action: "none",
    },
    {
      name: "packets_received_retransmitted",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRcvRetrans",
      meaning: "data packets received with the retransmission flag",
      healthy: "about the loss of the path",
      action: "none",
    },
    {
      name: "packets_receive_lost",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRcvLoss",
      meaning: "data packets missing in order of arrival; reordered ones count too",
      healthy: "about the loss of the path",
      action: "none while nothing is dropped",
    },
    {
      name: "packets_recovered",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "missing data packets that arrived in time after all",
      healthy: "equal to the lost ones",
      action: "if fewer: raise the latency",
    },
    {
      name: "packets_receive_dropped",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRcvDrop",
      meaning: "data packets that playout had to skip",
      healthy: "0",
      action: "raise the latency, mend the path, or add a link",
    },
    {
      name: "packets_belated",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRcvBelated",
      meaning: "data packets that arrived after their place was played out, and duplicates",
      healthy: "few",
      action: "the round trip is too long for the latency",
    },
    {
      name: "packets_no_room",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "data packets beyond the receive buffer, discarded",
      healthy: "0",
      action: "raise rcvbuf: it must hold latency times rate",
    },
    {
      name: "packets_unexpected",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning:
        "packets that the protocol does not allow here, ignored (malformed, forged, encrypted)",
      healthy: "0",
      action: "another program sends to this port, or the peer is broken",
    },
    {
      name: "answers_dropped",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "answers to acknowledgements and loss reports that did not fit between two sendings",
      healthy: "0",
      action: "the peer floods us with control packets, or the CPU cannot keep up",
    },
    {
      name: "bytes_received",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      libsrt: "byteRecv",
      meaning: "bytes of the data packets received, 44 header bytes each included",
      healthy: "grows",
      action: "none",
    },
    {
      name: "bytes_received_unique",
      type: "u64",
      unit: "bytes",
      kind: "counter",
      aggregate: "sum",
      libsrt: "byteRecvUnique",
      meaning: "the same for packets received for the first time and in time",
      healthy: "grows",
      action: "none",
    },
    {
      name: "acks_sent",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSentACK",
      meaning: "acknowledgements sent",
      healthy: "up to 100 a second",
      action: "none",
    },
    {
      name: "acks_received",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRecvACK",
      meaning: "acknowledgements received",
      healthy: "up to 100 a second while sending",
      action: "none arriving: the way back is blocked",
    },
    {
      name: "naks_sent",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktSentNAK",
      meaning: "loss reports sent",
      healthy: "about one for each loss",
      action: "none",
    },
    {
      name: "naks_received",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      libsrt: "pktRecvNAK",
      meaning: "loss reports received",
      healthy: "about one for each loss",
      action: "none",
    },
    {
      name: "flight_packets",
      type: "u64",
      unit: "packets",
      kind: "gauge",
      aggregate: "last",
      libsrt: "pktFlightSize",
      meaning: "data packets sent and not yet acknowledged",
      healthy: "about rate times round-trip time",
      action: "a full window stalls the stream: raise fc",
    },
    {
      name: "send_buffer_packets",
      type: "u64",
      unit: "packets",
      kind: "gauge",
      aggregate: "last",
      libsrt: "pktSndBuf",
      meaning: "data packets in the send buffer",
      healthy: "about rate times round-trip time",
      action: "growing: the path is slower than the stream",
    },
    {
      name: "receive_buffer_packets",
      type: "u64",
      unit: "packets",
      kind: "gauge",
      aggregate: "last",
      libsrt: "pktRcvBuf",
      meaning: "data packets waiting for their playout time",
      healthy: "about rate times latency",
      action: "none",
    },
    {
      name: "receive_buffer_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      libsrt: "msRcvBuf",
      libsrtPer: 1_000_000,
      meaning: "time from the oldest to the newest packet in the receive buffer",
      healthy: "about the latency",
      action: "none",
    },
    {
      name: "drift_ns",
      type: "i64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning:
        "receiver: correction that the clock servo has applied since the connection; a sender does not measure it",
      healthy: "changes by less than 100 µs a second",
      action: "a fast change: one of the two clocks is broken or being stepped",
    },
    {
      name: "drift_ppb",
      type: "i64",
      unit: "ppb",
      kind: "gauge",
      aggregate: "last",
      meaning: "receiver: rate of the peer's clock against ours that the servo follows",
      healthy: "within ±100 000",
      action: "beyond ±200 000: one of the two clocks is broken",
    },
  ],
  relay: [
    {
      name: "forward_packets",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams offered from the caller's side to the target",
      healthy: "grows",
      action: "none",
    },
    {
      name: "forward_lost",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost at random or in bursts",
      healthy: "the configured share",
      action: "none",
    },
    {
      name: "forward_outage",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost in an outage",
      healthy: "as configured",
      action: "none",
    },
    {
      name: "forward_overflow",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost because the queue before the rate limit was full",
      healthy: "0 unless the rate is below the stream's",
      action: "raise the rate or the queue",
    },
    {
      name: "forward_duplicated",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, delivered twice",
      healthy: "the configured share",
      action: "none",
    },
    {
      name: "forward_dropped_kernel",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams from the caller's side that the kernel dropped before the relay saw them",
      healthy: "0",
      action: "raise net.core.rmem_max; check for a CPU that cannot keep up",
    },
    {
      name: "backward_packets",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams offered from the target back to the caller's side",
      healthy: "grows",
      action: "none",
    },
    {
      name: "backward_lost",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost at random or in bursts",
      healthy: "the configured share",
      action: "none",
    },
    {
      name: "backward_outage",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost in an outage",
      healthy: "as configured",
      action: "none",
    },
    {
      name: "backward_overflow",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, lost because the queue before the rate limit was full",
      healthy: "0 unless the rate is below the stream's",
      action: "raise the rate or the queue",
    },
    {
      name: "backward_duplicated",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "of these, delivered twice",
      healthy: "the configured share",
      action: "none",
    },
    {
      name: "backward_dropped_kernel",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams from the target that the kernel dropped before the relay saw them",
      healthy: "0",
      action: "raise net.core.rmem_max; check for a CPU that cannot keep up",
    },
    {
      name: "refused_clients",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "datagrams from more sources than the relay serves at once",
      healthy: "0",
      action: "run a second relay",
    },
    {
      name: "lateness_p50_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "median time between the model's delivery time and the hand-over to the kernel",
      healthy: "below 100 µs",
      action: "free a core",
    },
    {
      name: "lateness_p99_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "99th percentile of the same",
      healthy: "below 1 ms",
      action: "free a core",
    },
    {
      name: "lateness_max_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "largest of the same since the start",
      healthy: "below 10 ms",
      action: "free a core",
    },
  ],
  simulation: [
    {
      name: "virtual_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "true time that the simulation has run through",
      healthy: "grows",
      action: "none",
    },
    {
      name: "sent",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "packets that the source has handed to the sender",
      healthy: "grows",
      action: "none",
    },
    {
      name: "refused",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "packets that the sender did not take because its buffer was full",
      healthy: "0",
      action: "the links carry less than the source: lower the rate",
    },
    {
      name: "delivered",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "packets that the viewer got",
      healthy: "equal to sent, less what is under way",
      action: "none",
    },
    {
      name: "lost",
      type: "u64",
      unit: "packets",
      kind: "counter",
      aggregate: "sum",
      meaning: "packets that the viewer never got",
      healthy: "0",
      action: "raise the latency, or add a link",
    },
    {
      name: "expected_loss",
      type: "f64",
      unit: "share",
      kind: "gauge",
      aggregate: "last",
      meaning: "share of packets that a viewer should lose on one link, in closed form",
      healthy: "below what the viewer tolerates",
      action: "raise the latency, or add a link",
    },
    {
      name: "latency_first_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "time from source to viewer of the first packet",
      healthy: "the latency plus half the round trip",
      action: "none",
    },
    {
      name: "latency_min_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "min",
      meaning: "least time from source to viewer",
      healthy: "within 1 ms of the first",
      action: "none",
    },
    {
      name: "latency_max_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "max",
      meaning: "largest time from source to viewer",
      healthy: "within 1 ms of the first",
      action: "none",
    },
    {
      name: "latency_off_p50_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "median distance of the latency from that of the first packet",
      healthy: "below 1 ms",
      action: "none",
    },
    {
      name: "latency_off_p99_ns",
      type: "u64",
      unit: "ns",
      kind: "gauge",
      aggregate: "last",
      meaning: "99th percentile of the same",
      healthy: "below 1 ms",
      action: "none",
    },
    {
      name: "violated",
      type: "u64",
      unit: "0 or 1",
      kind: "gauge",
      aggregate: "max",
      meaning: "1 when a rule was broken; the simulation stands still then",
      healthy: "0",
      action: "repeat it with its seed, and report it",
    },
  ],
} as const satisfies Record<Scope, readonly Statistic[]>;

/** One block of the scope "engine", read at one moment. */
export interface EngineStatistics {
  /** times a reactor thread woke up [wake-ups] */
  readonly wakeups: number;
  /** time spent spinning before departures, within the spin budget [ns] */
  readonly spin_ns: number;
  /** departures that were not spun for because the spin budget was used up [departures] */
  readonly spin_refused: number;
  /** datagrams on SRT ports for no link, from a stranger, or with a wrong cookie [packets] */
  readonly packets_unknown: number;
  /** events that did not fit into the event ring because nobody read them [events] */
  readonly events_lost: number;
}

/** One block of the scope "flow", read at one moment. */
export interface FlowStatistics {
  /** 1 running, 2 draining, 3 ended [enum ls_flow_state] */
  readonly state: number;
  /** time since the flow was started [ns] */
  readonly running_ns: number;
  /** how many links the flow has; their blocks begin at link number 65536 [links] */
  readonly links: number;
}

/** One block of the scope "endpoint", read at one moment. */
export interface EndpointStatistics {
  /** payloads taken in by an input, or handed out by an output [packets] */
  readonly packets: number;
  /** payload bytes of those packets [bytes] */
  readonly bytes: number;
  /**
   * datagrams that the kernel dropped because the socket buffer was full; on an SRT port the
   * socket is that of all its flows [packets]
   */
  readonly dropped_kernel: number;
  /** payloads too large for one packet that could not be split at 188 bytes [packets] */
  readonly dropped_size: number;
  /** live payloads that arrived while no link was connected [packets] */
  readonly dropped_unconnected: number;
  /** payloads dropped because the buffer behind this endpoint was full [packets] */
  readonly dropped_full: number;
  /** sends, writes or reads that the system refused [errors] */
  readonly errors: number;
  /** bytes of a paced file that were in no transport-stream packet [bytes] */
  readonly skipped_bytes: number;
  /** packets that left more than 1 ms after their departure time [packets] */
  readonly late_packets: number;
  /** median time between a packet's departure time and its hand-over to the kernel [ns] */
  readonly lateness_p50_ns: number;
  /** 99th percentile of the same [ns] */
  readonly lateness_p99_ns: number;
  /** largest of the same since the start [ns] */
  readonly lateness_max_ns: number;
  /** check output: transport-stream packets seen [TS packets] */
  readonly check_ts_packets: number;
  /** check output: transport-stream packets missing between two markers [TS packets] */
  readonly check_ts_lost: number;
  /**
   * check output: stretches between two markers with the right length and wrong bytes
   * [stretches]
   */
  readonly check_ts_wrong: number;
  /**
   * check output: least time from the source's marker to this output; on two machines their
   * clocks' difference is in it [ns]
   */
  readonly check_latency_min_ns: number;
  /** check output: median of the same [ns] */
  readonly check_latency_p50_ns: number;
  /** check output: largest of the same [ns] */
  readonly check_latency_max_ns: number;
  /** check output: interarrival jitter of the markers as RFC 3550 §6.4.1 defines it [ns] */
  readonly check_jitter_ns: number;
}

/** One block of the scope "link", read at one moment. */
export interface LinkStatistics {
  /** 1 connecting, 2 connected, 3 broken, 4 closed [enum ls_link_state] */
  readonly state: number;
  /** how often this link has connected [connections] */
  readonly connections: number;
  /** smoothed round-trip time [ns] */
  readonly rtt_ns: number;
  /** smoothed variation of the round-trip time [ns] */
  readonly rtt_var_ns: number;
  /** latency of the peer's receiver, as negotiated [ns] */
  readonly send_latency_ns: number;
  /** latency of our receiver, as negotiated [ns] */
  readonly receive_latency_ns: number;
  /** data packets sent, retransmissions included [packets] */
  readonly packets_sent: number;
  /** data packets sent for the first time [packets] */
  readonly packets_sent_unique: number;
  /** data packets sent again [packets] */
  readonly packets_retransmitted: number;
  /** data packets that the peer reported missing [packets] */
  readonly packets_send_lost: number;
  /** data packets given up by the sender as too late [packets] */
  readonly packets_send_dropped: number;
  /** bytes of the data packets sent, 44 header bytes each included [bytes] */
  readonly bytes_sent: number;
  /** the same for first transmissions [bytes] */
  readonly bytes_sent_unique: number;
  /** the same for retransmissions [bytes] */
  readonly bytes_retransmitted: number;
  /** data packets received, duplicates included [packets] */
  readonly packets_received: number;
  /** data packets received for the first time and in time [packets] */
  readonly packets_received_unique: number;
  /** data packets received with the retransmission flag [packets] */
  readonly packets_received_retransmitted: number;
  /** data packets missing in order of arrival; reordered ones count too [packets] */
  readonly packets_receive_lost: number;
  /** missing data packets that arrived in time after all [packets] */
  readonly packets_recovered: number;
  /** data packets that playout had to skip [packets] */
  readonly packets_receive_dropped: number;
  /** data packets that arrived after their place was played out, and duplicates [packets] */
  readonly packets_belated: number;
  /** data packets beyond the receive buffer, discarded [packets] */
  readonly packets_no_room: number;
  /**
   * packets that the protocol does not allow here, ignored (malformed, forged, encrypted)
   * [packets]
   */
  readonly packets_unexpected: number;
  /**
   * answers to acknowledgements and loss reports that did not fit between two sendings
   * [packets]
   */
  readonly answers_dropped: number;
  /** bytes of the data packets received, 44 header bytes each included [bytes] */
  readonly bytes_received: number;
  /** the same for packets received for the first time and in time [bytes] */
  readonly bytes_received_unique: number;
  /** acknowledgements sent [packets] */
  readonly acks_sent: number;
  /** acknowledgements received [packets] */
  readonly acks_received: number;
  /** loss reports sent [packets] */
  readonly naks_sent: number;
  /** loss reports received [packets] */
  readonly naks_received: number;
  /** data packets sent and not yet acknowledged [packets] */
  readonly flight_packets: number;
  /** data packets in the send buffer [packets] */
  readonly send_buffer_packets: number;
  /** data packets waiting for their playout time [packets] */
  readonly receive_buffer_packets: number;
  /** time from the oldest to the newest packet in the receive buffer [ns] */
  readonly receive_buffer_ns: number;
  /**
   * receiver: correction that the clock servo has applied since the connection; a sender does
   * not measure it [ns]
   */
  readonly drift_ns: number;
  /** receiver: rate of the peer's clock against ours that the servo follows [ppb] */
  readonly drift_ppb: number;
}

/** One block of the scope "relay", read at one moment. */
export interface RelayStatistics {
  /** datagrams offered from the caller's side to the target [packets] */
  readonly forward_packets: number;
  /** of these, lost at random or in bursts [packets] */
  readonly forward_lost: number;
  /** of these, lost in an outage [packets] */
  readonly forward_outage: number;
  /** of these, lost because the queue before the rate limit was full [packets] */
  readonly forward_overflow: number;
  /** of these, delivered twice [packets] */
  readonly forward_duplicated: number;
  /**
   * datagrams from the caller's side that the kernel dropped before the relay saw them
   * [packets]
   */
  readonly forward_dropped_kernel: number;
  /** datagrams offered from the target back to the caller's side [packets] */
  readonly backward_packets: number;
  /** of these, lost at random or in bursts [packets] */
  readonly backward_lost: number;
  /** of these, lost in an outage [packets] */
  readonly backward_outage: number;
  /** of these, lost because the queue before the rate limit was full [packets] */
  readonly backward_overflow: number;
  /** of these, delivered twice [packets] */
  readonly backward_duplicated: number;
  /** datagrams from the target that the kernel dropped before the relay saw them [packets] */
  readonly backward_dropped_kernel: number;
  /** datagrams from more sources than the relay serves at once [packets] */
  readonly refused_clients: number;
  /** median time between the model's delivery time and the hand-over to the kernel [ns] */
  readonly lateness_p50_ns: number;
  /** 99th percentile of the same [ns] */
  readonly lateness_p99_ns: number;
  /** largest of the same since the start [ns] */
  readonly lateness_max_ns: number;
}

/** One block of the scope "simulation", read at one moment. */
export interface SimulationStatistics {
  /** true time that the simulation has run through [ns] */
  readonly virtual_ns: number;
  /** packets that the source has handed to the sender [packets] */
  readonly sent: number;
  /** packets that the sender did not take because its buffer was full [packets] */
  readonly refused: number;
  /** packets that the viewer got [packets] */
  readonly delivered: number;
  /** packets that the viewer never got [packets] */
  readonly lost: number;
  /** share of packets that a viewer should lose on one link, in closed form [share] */
  readonly expected_loss: number;
  /** time from source to viewer of the first packet [ns] */
  readonly latency_first_ns: number;
  /** least time from source to viewer [ns] */
  readonly latency_min_ns: number;
  /** largest time from source to viewer [ns] */
  readonly latency_max_ns: number;
  /** median distance of the latency from that of the first packet [ns] */
  readonly latency_off_p50_ns: number;
  /** 99th percentile of the same [ns] */
  readonly latency_off_p99_ns: number;
  /** 1 when a rule was broken; the simulation stands still then [0 or 1] */
  readonly violated: number;
}

/** The record of each scope. */
export interface StatisticsOf {
  readonly engine: EngineStatistics;
  readonly flow: FlowStatistics;
  readonly endpoint: EndpointStatistics;
  readonly link: LinkStatistics;
  readonly relay: RelayStatistics;
  readonly simulation: SimulationStatistics;
}
