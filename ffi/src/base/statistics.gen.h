/* Generated from ffi/statistics.ts by `deno task gen`; do not edit. */
#ifndef LS__BASE_STATISTICS_GEN_H
#define LS__BASE_STATISTICS_GEN_H

#include "lockstep.h"

#include <stdint.h>

/* FNV-1a over scope, name and type of every field: ls_layout_hash(). */
#define LS__STATS_LAYOUT_HASH 0xD2619F7Au

#define LS__STATS_ENGINE_COUNT 5

struct ls__stats_engine {
  /* times a reactor thread woke up [wake-ups] */
  uint64_t wakeups;
  /* time spent spinning before departures, within the spin budget [ns] */
  uint64_t spin_ns;
  /* departures that were not spun for because the spin budget was used up [departures] */
  uint64_t spin_refused;
  /* datagrams on SRT ports for no link, from a stranger, or with a wrong cookie [packets] */
  uint64_t packets_unknown;
  /* events that did not fit into the event ring because nobody read them [events] */
  uint64_t events_lost;
};

_Static_assert(sizeof(struct ls__stats_engine) == 8 * LS__STATS_ENGINE_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_ENGINE == 1, "not in enum order");

#define LS__STATS_FLOW_COUNT 3

struct ls__stats_flow {
  /* 1 running, 2 draining, 3 ended [enum ls_flow_state] */
  uint64_t state;
  /* time since the flow was started [ns] */
  uint64_t running_ns;
  /* how many links the flow has; their blocks begin at link number 65536 [links] */
  uint64_t links;
};

_Static_assert(sizeof(struct ls__stats_flow) == 8 * LS__STATS_FLOW_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_FLOW == 2, "not in enum order");

#define LS__STATS_ENDPOINT_COUNT 19

struct ls__stats_endpoint {
  /* payloads taken in by an input, or handed out by an output [packets] */
  uint64_t packets;
  /* payload bytes of those packets [bytes] */
  uint64_t bytes;
  /* datagrams that the kernel dropped because the socket buffer was full; on an SRT port the
   * socket is that of all its flows [packets] */
  uint64_t dropped_kernel;
  /* payloads too large for one packet that could not be split at 188 bytes [packets] */
  uint64_t dropped_size;
  /* live payloads that arrived while no link was connected [packets] */
  uint64_t dropped_unconnected;
  /* payloads dropped because the buffer behind this endpoint was full [packets] */
  uint64_t dropped_full;
  /* sends, writes or reads that the system refused [errors] */
  uint64_t errors;
  /* bytes of a paced file that were in no transport-stream packet [bytes] */
  uint64_t skipped_bytes;
  /* packets that left more than 1 ms after their departure time [packets] */
  uint64_t late_packets;
  /* median time between a packet's departure time and its hand-over to the kernel [ns] */
  uint64_t lateness_p50_ns;
  /* 99th percentile of the same [ns] */
  uint64_t lateness_p99_ns;
  /* largest of the same since the start [ns] */
  uint64_t lateness_max_ns;
  /* check output: transport-stream packets seen [TS packets] */
  uint64_t check_ts_packets;
  /* check output: transport-stream packets missing between two markers [TS packets] */
  uint64_t check_ts_lost;
  /* check output: stretches between two markers with the right length and wrong bytes
   * [stretches] */
  uint64_t check_ts_wrong;
  /* check output: least time from the source's marker to this output; on two machines their
   * clocks' difference is in it [ns] */
  int64_t check_latency_min_ns;
  /* check output: median of the same [ns] */
  int64_t check_latency_p50_ns;
  /* check output: largest of the same [ns] */
  int64_t check_latency_max_ns;
  /* check output: interarrival jitter of the markers as RFC 3550 §6.4.1 defines it [ns] */
  uint64_t check_jitter_ns;
};

_Static_assert(sizeof(struct ls__stats_endpoint) == 8 * LS__STATS_ENDPOINT_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_ENDPOINT == 3, "not in enum order");

#define LS__STATS_LINK_COUNT 36

struct ls__stats_link {
  /* 1 connecting, 2 connected, 3 broken, 4 closed [enum ls_link_state] */
  uint64_t state;
  /* how often this link has connected [connections] */
  uint64_t connections;
  /* smoothed round-trip time [ns] */
  uint64_t rtt_ns;
  /* smoothed variation of the round-trip time [ns] */
  uint64_t rtt_var_ns;
  /* latency of the peer's receiver, as negotiated [ns] */
  uint64_t send_latency_ns;
  /* latency of our receiver, as negotiated [ns] */
  uint64_t receive_latency_ns;
  /* data packets sent, retransmissions included [packets] */
  uint64_t packets_sent;
  /* data packets sent for the first time [packets] */
  uint64_t packets_sent_unique;
  /* data packets sent again [packets] */
  uint64_t packets_retransmitted;
  /* data packets that the peer reported missing [packets] */
  uint64_t packets_send_lost;
  /* data packets given up by the sender as too late [packets] */
  uint64_t packets_send_dropped;
  /* bytes of the data packets sent, 44 header bytes each included [bytes] */
  uint64_t bytes_sent;
  /* the same for first transmissions [bytes] */
  uint64_t bytes_sent_unique;
  /* the same for retransmissions [bytes] */
  uint64_t bytes_retransmitted;
  /* data packets received, duplicates included [packets] */
  uint64_t packets_received;
  /* data packets received for the first time and in time [packets] */
  uint64_t packets_received_unique;
  /* data packets received with the retransmission flag [packets] */
  uint64_t packets_received_retransmitted;
  /* data packets missing in order of arrival; reordered ones count too [packets] */
  uint64_t packets_receive_lost;
  /* missing data packets that arrived in time after all [packets] */
  uint64_t packets_recovered;
  /* data packets that playout had to skip [packets] */
  uint64_t packets_receive_dropped;
  /* data packets that arrived after their place was played out, and duplicates [packets] */
  uint64_t packets_belated;
  /* data packets beyond the receive buffer, discarded [packets] */
  uint64_t packets_no_room;
  /* packets that the protocol does not allow here, ignored (malformed, forged, encrypted)
   * [packets] */
  uint64_t packets_unexpected;
  /* answers to acknowledgements and loss reports that did not fit between two sendings [packets] */
  uint64_t answers_dropped;
  /* bytes of the data packets received, 44 header bytes each included [bytes] */
  uint64_t bytes_received;
  /* the same for packets received for the first time and in time [bytes] */
  uint64_t bytes_received_unique;
  /* acknowledgements sent [packets] */
  uint64_t acks_sent;
  /* acknowledgements received [packets] */
  uint64_t acks_received;
  /* loss reports sent [packets] */
  uint64_t naks_sent;
  /* loss reports received [packets] */
  uint64_t naks_received;
  /* data packets sent and not yet acknowledged [packets] */
  uint64_t flight_packets;
  /* data packets in the send buffer [packets] */
  uint64_t send_buffer_packets;
  /* data packets waiting for their playout time [packets] */
  uint64_t receive_buffer_packets;
  /* time from the oldest to the newest packet in the receive buffer [ns] */
  uint64_t receive_buffer_ns;
  /* receiver: correction that the clock servo has applied since the connection; a sender does
   * not measure it [ns] */
  int64_t drift_ns;
  /* receiver: rate of the peer's clock against ours that the servo follows [ppb] */
  int64_t drift_ppb;
};

_Static_assert(sizeof(struct ls__stats_link) == 8 * LS__STATS_LINK_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_LINK == 4, "not in enum order");

#define LS__STATS_RELAY_COUNT 16

struct ls__stats_relay {
  /* datagrams offered from the caller's side to the target [packets] */
  uint64_t forward_packets;
  /* of these, lost at random or in bursts [packets] */
  uint64_t forward_lost;
  /* of these, lost in an outage [packets] */
  uint64_t forward_outage;
  /* of these, lost because the queue before the rate limit was full [packets] */
  uint64_t forward_overflow;
  /* of these, delivered twice [packets] */
  uint64_t forward_duplicated;
  /* datagrams from the caller's side that the kernel dropped before the relay saw them [packets] */
  uint64_t forward_dropped_kernel;
  /* datagrams offered from the target back to the caller's side [packets] */
  uint64_t backward_packets;
  /* of these, lost at random or in bursts [packets] */
  uint64_t backward_lost;
  /* of these, lost in an outage [packets] */
  uint64_t backward_outage;
  /* of these, lost because the queue before the rate limit was full [packets] */
  uint64_t backward_overflow;
  /* of these, delivered twice [packets] */
  uint64_t backward_duplicated;
  /* datagrams from the target that the kernel dropped before the relay saw them [packets] */
  uint64_t backward_dropped_kernel;
  /* datagrams from more sources than the relay serves at once [packets] */
  uint64_t refused_clients;
  /* median time between the model's delivery time and the hand-over to the kernel [ns] */
  uint64_t lateness_p50_ns;
  /* 99th percentile of the same [ns] */
  uint64_t lateness_p99_ns;
  /* largest of the same since the start [ns] */
  uint64_t lateness_max_ns;
};

_Static_assert(sizeof(struct ls__stats_relay) == 8 * LS__STATS_RELAY_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_RELAY == 5, "not in enum order");

#define LS__STATS_SIMULATION_COUNT 12

struct ls__stats_simulation {
  /* true time that the simulation has run through [ns] */
  uint64_t virtual_ns;
  /* packets that the source has handed to the sender [packets] */
  uint64_t sent;
  /* packets that the sender did not take because its buffer was full [packets] */
  uint64_t refused;
  /* packets that the viewer got [packets] */
  uint64_t delivered;
  /* packets that the viewer never got [packets] */
  uint64_t lost;
  /* share of packets that a viewer should lose on one link, in closed form [share] */
  double expected_loss;
  /* time from source to viewer of the first packet [ns] */
  uint64_t latency_first_ns;
  /* least time from source to viewer [ns] */
  uint64_t latency_min_ns;
  /* largest time from source to viewer [ns] */
  uint64_t latency_max_ns;
  /* median distance of the latency from that of the first packet [ns] */
  uint64_t latency_off_p50_ns;
  /* 99th percentile of the same [ns] */
  uint64_t latency_off_p99_ns;
  /* 1 when a rule was broken; the simulation stands still then [0 or 1] */
  uint64_t violated;
};

_Static_assert(sizeof(struct ls__stats_simulation) == 8 * LS__STATS_SIMULATION_COUNT,
               "every statistic takes eight bytes");
_Static_assert(LS_SCOPE_SIMULATION == 6, "not in enum order");

#endif
