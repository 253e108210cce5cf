/* One SRT stream over 1..n links, without I/O: the payload, the sequence and message numbers, the
 * base time and the drift are here, once; each link only says what its path has lost. A lone
 * connection is a stream over one link.
 *
 * A stream sends or receives payload. It is opened for each connection anew and keeps its memory:
 *
 *   open → call or accept a link → push (sender) | due, take (receiver) → finish → end
 *
 * Feed datagrams with ls__stream_input; take datagrams with ls__stream_output until it has none;
 * call ls__stream_tick at ls__stream_timer; take events with ls__stream_event. */
#ifndef LS__STREAM_STREAM_H
#define LS__STREAM_STREAM_H

#include "pace/histogram.h"
#include "pace/rate.h"
#include "srt/link.h"
#include "stream/recvbuf.h"
#include "stream/sendbuf.h"
#include "stream/tsbpd.h"

#define LS__STREAM_LINKS_MAX 8
#define LS__STREAM_EVENTS_MAX 16
/* A sender keeps a packet at least this long (libsrt's floor, so that a short latency does not
 * drop what a retransmission could still bring). */
#define LS__SEND_KEEP_MIN_NS (1000 * LS_MS)
/* So many packets in a row ahead of an empty receive buffer, and playout goes on from there. */
#define LS__STREAM_FOLLOW_PACKETS 8
/* A packet is due at most its latency after its arrival, and as much later as the handshake, by
 * which the clock began, was under way longer than it. What would be due still later than this
 * allows has a broken stamp: kept, it would hold up all behind it for up to 36 minutes. */
#define LS__STREAM_AHEAD_MAX_NS (10 * LS_S)
#define LS__STREAM_LATE_NS LS_MS
/* Back to back on the wire at most: sixteen full packets. */
#define LS__STREAM_BURST_BYTES (16 * (LS_PAYLOAD_MAX + LS_WIRE_BYTES))

struct ls__stream_config {
  bool sends;                 /* else it receives */
  uint32_t buffer_packets;    /* a power of two, 64 .. 65536 */
  uint64_t max_bandwidth_bps; /* payload + 44 bytes a packet; 0 = unlimited */
  int64_t send_drop_delay_ns; /* added to the peer's latency before a packet is too late */
  bool too_late_drop;
};

enum ls__stream_event_kind {
  LS__STREAM_NO_EVENT = 0,
  LS__STREAM_CONNECTED,
  LS__STREAM_BROKEN, /* reject says why */
  LS__STREAM_CLOSED, /* the peer said goodbye */
};

struct ls__stream_event {
  enum ls__stream_event_kind kind;
  unsigned link;
  int reject;
};

struct ls__stream_link {
  struct ls__link link;
  struct ls__drift_link drift;
  struct ls__rate rate;
  int64_t wait_ns; /* data is held back until then by the rate law; LS_NEVER = none is */
};

struct ls__stream {
  struct ls__stream_config config;
  struct ls__stream_link *links;
  unsigned link_count;
  struct ls__sendbuf tx;
  struct ls__recvbuf rx;
  struct ls__tsbpd clock;
  int64_t start_ns; /* zero of the header stamps, common to all links */
  uint32_t msgno;
  int64_t last_due_ns;           /* playout never runs backwards */
  struct ls__histogram lateness; /* sender: from departure time to hand-over, first sendings */
  uint64_t late;                 /* of these, above LS__STREAM_LATE_NS */
  uint64_t send_dropped, receive_dropped;
  bool finishing;
  int64_t flushed_ns; /* when everything was acknowledged; LS_NEVER = not yet */
  struct ls__stream_event events[LS__STREAM_EVENTS_MAX];
  unsigned event_first, event_count;
};

/** Allocates a stream of `links` (1..LS__STREAM_LINKS_MAX). 0 or LS_ENOMEM. */
int ls__stream_init(struct ls__stream *stream, const struct ls__stream_config *config,
                    unsigned links);
void ls__stream_free(struct ls__stream *stream);

/** Begins anew with sequence number `isn` (sender and receiver alike: a listener takes the
 * caller's) and stamps counted from `start_ns`. */
void ls__stream_open(struct ls__stream *stream, uint32_t isn, int64_t start_ns);

/** Starts calling on a link; isn, start and direction of `config` are the stream's. */
void ls__stream_call(struct ls__stream *stream, unsigned link, struct ls__link_config config,
                     int64_t now_ns);

/** Takes up a caller's checked conclusion on a link. */
void ls__stream_accept(struct ls__stream *stream, unsigned link, struct ls__link_config config,
                       const struct ls__handshake *hs, uint32_t stamp_us, int64_t now_ns);

/** Whether any link is connected. */
bool ls__stream_connected(const struct ls__stream *stream);

/** Sender: appends a payload whose nominal departure is `source_ns`. 0; LS_ESTATE when no link is
 * connected or the stream is finishing; LS_ELIMIT when the buffer is full; LS_ESIZE when `len` is 0
 * or does not fit the smallest MSS of any end, LS_PAYLOAD_MAX at most. */
int ls__stream_push(struct ls__stream *stream, const uint8_t *payload, size_t len,
                    int64_t source_ns);

/** Feeds a datagram that arrived on a link. */
void ls__stream_input(struct ls__stream *stream, unsigned link, const uint8_t *data, size_t len,
                      int64_t now_ns);

/** The next datagram that a link has to send now; its length, 0 when there is none. `out` has
 * LS_DATAGRAM_MAX bytes. */
size_t ls__stream_output(struct ls__stream *stream, unsigned link, int64_t now_ns, uint8_t *out);

/** Receiver: when the oldest packet is due, LS_NEVER when there is none. */
int64_t ls__stream_due(const struct ls__stream *stream, int64_t now_ns);

/** Receiver: the oldest packet, once it is due: payload and length (valid until
 * ls__stream_taken), and when it was due. NULL before. */
const uint8_t *ls__stream_take(struct ls__stream *stream, int64_t now_ns, size_t *len,
                               int64_t *due_ns);

/** Receiver: lets go of the packet that ls__stream_take gave; a gap before it is given up. */
void ls__stream_taken(struct ls__stream *stream);

/** Next time for ls__stream_output or ls__stream_tick. */
int64_t ls__stream_timer(const struct ls__stream *stream);

void ls__stream_tick(struct ls__stream *stream, int64_t now_ns);

/** The next event, LS__STREAM_NO_EVENT when there is none. */
struct ls__stream_event ls__stream_event(struct ls__stream *stream);

/** Ends gracefully: no more payload is pushed; links say goodbye once all is acknowledged and the
 * peer's latency has passed. */
void ls__stream_finish(struct ls__stream *stream, int64_t now_ns);

/** Ends at once: links say goodbye now. */
void ls__stream_close(struct ls__stream *stream, int64_t now_ns);

/** Whether every link has ended and no received packet waits for playout. */
bool ls__stream_ended(const struct ls__stream *stream);

/** Statistics of a link, gauges filled in. */
struct ls__stats_link ls__stream_statistics(const struct ls__stream *stream, unsigned link,
                                            int64_t now_ns);

#endif
