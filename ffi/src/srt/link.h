/* One SRT connection on one path, without I/O and without payload: the handshake, the round-trip
 * time, what is missing and what is acknowledged. Timing, sequence numbers and buffers belong to
 * the stream above it, which carries out what the link decides.
 *
 * The shape: feed a datagram with its arrival time (ls__link_input, one event comes back); ask for
 * control packets to send (ls__link_control) and for the next data packet (ls__link_next_data);
 * ask for the next timer (ls__link_timer); run it (ls__link_tick).
 *
 * Source of the rules: draft-sharabayko-srt §4, and libsrt where the draft is silent. */
#ifndef LS__SRT_LINK_H
#define LS__SRT_LINK_H

#include "base/seqset.h"
#include "base/statistics.gen.h"
#include "base/time.h"
#include "srt/handshake.h"
#include "srt/packet.h"
#include "srt/reject.h"
#include "srt/rtt.h"

#define LS__HANDSHAKE_RETRY_NS (250 * LS_MS)
#define LS__ACK_INTERVAL_NS (10 * LS_MS)
#define LS__LIGHT_ACK_PACKETS 64
#define LS__NAK_INTERVAL_MIN_NS (20 * LS_MS)
#define LS__KEEPALIVE_NS (1000 * LS_MS)
/* A lost goodbye costs the peer five seconds of waiting: it is said this often, 10 ms apart. */
#define LS__GOODBYES 3
#define LS__GOODBYE_NS (10 * LS_MS)
/* Full ACKs remembered for their ACKACK; one each 10 ms, so about ten seconds of round trip. */
#define LS__ACKS_REMEMBERED 1024
/* A row of data packets ahead of the window may miss this many numbers less one at a time. */
#define LS__ROW_TEAR 64
/* Answers queued between two calls of ls__link_control; what does not fit is asked again. */
#define LS__ANSWERS_MAX 16

enum ls__link_phase {
  LS__LINK_IDLE = 0,
  LS__LINK_INDUCTION,  /* caller: asking for a cookie */
  LS__LINK_CONCLUSION, /* caller: cookie returned, waiting for the answer */
  LS__LINK_CONNECTED,
  LS__LINK_CLOSING, /* saying goodbye */
  LS__LINK_ENDED
};

struct ls__link_config {
  uint32_t socket_id; /* ours, 1 .. 0x3FFFFFFF */
  uint32_t isn;       /* first sequence number of the connection (a caller chooses it) */
  int64_t start_ns;   /* the zero of our header stamps */
  int64_t receive_latency_ns, peer_latency_ns;
  int64_t connect_timeout_ns, peer_idle_timeout_ns;
  uint32_t mss;               /* bytes, IPv4 and UDP headers included */
  uint32_t flow_window;       /* packets that our receive buffer holds */
  uint32_t reorder_tolerance; /* packets by which an early one may overtake before it is asked */
  bool nak_report;            /* repeat loss reports */
  bool receives;              /* payload is wanted from the peer */
  bool too_late_drop;         /* what is missing when its time comes is skipped */
  char stream_id[LS_STREAM_ID_MAX + 1];
};

enum ls__link_event_kind {
  LS__EVENT_NONE = 0,
  LS__EVENT_CONNECTED, /* time: base of the peer's stamps */
  LS__EVENT_BROKEN,    /* reject: a code of reject.h */
  LS__EVENT_CLOSED,    /* the peer said goodbye */
  LS__EVENT_DATA,      /* header, and the payload behind it */
  LS__EVENT_ACKED,     /* first: everything before it has arrived on this link */
  LS__EVENT_DROPPED,   /* first .. last: the peer will not send these any more */
  LS__EVENT_BEYOND,    /* header: data ahead of the window; row: how many of these in a row */
  LS__EVENT_SAMPLE     /* stamp_us, time: arrival, rtt_ns (0 = unknown): the peer's clock */
};

struct ls__link_event {
  enum ls__link_event_kind kind;
  int reject;
  int64_t time_ns;
  uint32_t stamp_us;
  int64_t rtt_ns;
  uint32_t first, last;
  unsigned row;
  struct ls__header header;
};

struct ls__sent_ack {
  uint32_t number, seq, room_end;
  int64_t at_ns; /* LS_NEVER: confirmed */
};

struct ls__range {
  uint32_t first, last;
};

struct ls__link {
  enum ls__link_phase phase;
  struct ls__link_config config;
  struct ls__stats_link stats;
  bool caller;
  uint32_t peer_id, cookie, peer_version, peer_flags;
  uint32_t payload_max;                        /* bytes that fit a packet of both ends' MSS */
  int64_t receive_latency_ns, send_latency_ns; /* as negotiated */
  struct ls__rtt rtt;
  int64_t since_ns;            /* when the present phase began */
  int64_t sent_ns, heard_ns;   /* last datagram each way */
  int64_t handshake_at_ns;     /* when to send the handshake (again), LS_NEVER = not */
  struct ls__handshake answer; /* what a repeated conclusion is answered with */
  unsigned goodbyes;
  int64_t goodbye_at_ns;
  uint32_t window; /* places in the rings below, a power of two */
  /* receiving */
  uint32_t expected;                /* newest received or left behind by the stream + 1 */
  uint32_t reached;                 /* newest that came on this link + 1: no ACK goes beyond it */
  struct ls__seqset missing, fresh; /* fresh: missing and not asked for yet */
  int64_t *ask_at_ns;               /* per place of the window: when to ask (again) */
  int64_t nak_at_ns;                /* the earliest of these, or a little before */
  unsigned row;                     /* data packets ahead of the window, one after the other */
  uint32_t row_next;                /* what would be the next of them */
  uint32_t ack_number, ack_sent, ack_confirmed;
  /* Our buffer holds all before these: now, as told to the peer, as confirmed by it. */
  uint32_t room_end, room_sent, room_confirmed;
  int64_t ack_at_ns; /* last full acknowledgement */
  uint32_t packets_since_ack, light_acks;
  struct ls__sent_ack acks[LS__ACKS_REMEMBERED];
  int64_t rate_since_ns; /* receive rate, over the last whole half second */
  uint64_t rate_packets, rate_bytes;
  uint32_t rate_pps, rate_bytes_ps;
  /* sending */
  uint32_t next;            /* next new sequence number */
  uint32_t acked;           /* all before it are acknowledged or given up */
  uint32_t peer_window_end; /* the peer's buffer holds all before it */
  struct ls__seqset lost;
  int64_t *repeated_at_ns; /* per place of the window: last retransmission */
  int64_t acked_ns;        /* last acknowledgement of something new, or start of the flight */
  int64_t progress_ns;     /* last new data or acknowledgement: the tail is repeated after it */
  uint32_t ackacks[LS__ANSWERS_MAX];
  unsigned ackack_count;
  struct ls__range drops[LS__ANSWERS_MAX];
  unsigned drop_count;
};

/** Allocates the rings for `window` packets (a power of two, 64 .. 65536). 0 or LS_ENOMEM. */
int ls__link_init(struct ls__link *link, uint32_t window);
void ls__link_free(struct ls__link *link);

/** Starts calling: induction, conclusion, connected. */
void ls__link_call(struct ls__link *link, const struct ls__link_config *config, int64_t now_ns);

/** Takes up the connection that a checked conclusion asks for; the answer is sent by
 * ls__link_control. `event` is LS__EVENT_CONNECTED. `stamp_us` is the conclusion's header stamp. */
void ls__link_accept(struct ls__link *link, const struct ls__link_config *config,
                     const struct ls__handshake *hs, uint32_t stamp_us, int64_t now_ns,
                     struct ls__link_event *event);

/** Says goodbye (connected) or just ends. No event follows. */
void ls__link_close(struct ls__link *link, int64_t now_ns);

/** Feeds one datagram that was addressed to this link. Data that is new to this link comes back as
 * LS__EVENT_DATA with the payload at data + LS_HEADER_BYTES. */
void ls__link_input(struct ls__link *link, const uint8_t *data, size_t len, int64_t now_ns,
                    struct ls__link_event *event);

/** Answers a conclusion that a caller repeats because our answer was lost. */
void ls__link_answer_again(struct ls__link *link, int64_t now_ns);

/** Writes the next control packet that is due; its length, 0 when there is none. `out` has
 * LS_DATAGRAM_MAX bytes. */
size_t ls__link_control(struct ls__link *link, int64_t now_ns, uint8_t *out);

/** Chooses the next data packet: new data (below `end`, the stream's next number) before
 * retransmissions. False when there is none or the peer's buffer is full. */
bool ls__link_next_data(struct ls__link *link, uint32_t end, int64_t now_ns, uint32_t *seq,
                        bool *retransmitted);

/** Tells the link that the chosen packet, of `payload` bytes, has left. */
void ls__link_sent_data(struct ls__link *link, uint32_t seq, bool retransmitted, size_t payload,
                        int64_t now_ns);

/** The stream has given up all data before `floor` (too late): it is neither sent nor repeated. */
void ls__link_send_floor(struct ls__link *link, uint32_t floor);

/** The stream no longer needs `seq` from this link: it came by another, or a drop request. */
void ls__link_satisfied(struct ls__link *link, uint32_t seq);

/** The stream has played or skipped all before `floor`. */
void ls__link_receive_floor(struct ls__link *link, uint32_t floor);

/** First sequence number that this link still misses; when it misses none, the one after the newest
 * that has come on it. */
uint32_t ls__link_ack_position(const struct ls__link *link);

/** When ls__link_control or ls__link_tick should be called next. */
int64_t ls__link_timer(const struct ls__link *link, uint32_t end);

/** Runs the timers: connection time-out and silence of the peer. */
void ls__link_tick(struct ls__link *link, uint32_t end, int64_t now_ns,
                   struct ls__link_event *event);

/* Shared by the files of the link; not for other rooms. */
uint32_t ls__link_place(const struct ls__link *link, uint32_t seq);
uint32_t ls__link_flags(const struct ls__link_config *config);
void ls__link_leave(struct ls__link *link, bool known, int64_t now_ns);
uint32_t ls__link_stamp(const struct ls__link *link, int64_t now_ns);
void ls__link_start_data(struct ls__link *link, const struct ls__handshake *peer, int64_t now_ns);
void ls__link_on_handshake(struct ls__link *link, const struct ls__header *header,
                           const uint8_t *payload, size_t len, int64_t now_ns,
                           struct ls__link_event *event);
size_t ls__link_put_handshake(struct ls__link *link, int64_t now_ns, uint8_t *out);
void ls__link_on_data(struct ls__link *link, const struct ls__header *header, size_t payload,
                      int64_t now_ns, struct ls__link_event *event);
void ls__link_on_ackack(struct ls__link *link, const struct ls__header *header, int64_t now_ns,
                        struct ls__link_event *event);
void ls__link_on_dropreq(struct ls__link *link, const uint8_t *payload, size_t len,
                         struct ls__link_event *event);
int64_t ls__link_receive_timer(const struct ls__link *link);
size_t ls__link_put_ack(struct ls__link *link, int64_t now_ns, uint8_t *out);
size_t ls__link_put_nak(struct ls__link *link, int64_t now_ns, uint8_t *out);
void ls__link_on_ack(struct ls__link *link, const struct ls__header *header, const uint8_t *payload,
                     size_t len, int64_t now_ns, struct ls__link_event *event);
void ls__link_on_nak(struct ls__link *link, const uint8_t *payload, size_t len);
int64_t ls__link_tail_timer(const struct ls__link *link, uint32_t end);
void ls__link_tail(struct ls__link *link, uint32_t end, int64_t now_ns);

#endif
