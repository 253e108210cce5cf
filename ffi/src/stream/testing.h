/* Two ends of a stream on virtual clocks, with links of the impairment model between them, for the
 * tests of this room; included by tests only. One end calls on every link, the other listens;
 * either may send. Every packet that leaves is held against the rules of srt/shadow_testing.h,
 * every packet that is delivered against what was pushed. */
#ifndef LS__STREAM_TESTING_H
#define LS__STREAM_TESTING_H

#include "base/heap.h"
#include "base/siphash.h"
#include "impair/model.h"
#include "srt/listener.h"
#include "srt/shadow_testing.h"
#include "stream/stream.h"

#include <stdlib.h>

enum { LS__TEST_CALLS, LS__TEST_LISTENS };

#define LS__TEST_LINKS_MAX 2
#define LS__TEST_PUSHED_MAX 65536

struct ls__test_end {
  struct ls__stream stream;
  struct ls__link_config link; /* of each of its links; the socket ID is its own + link number */
  int64_t shows_ns, rate_ppb;  /* its clock: what it shows at true time 0, and its error */
  uint32_t stamp_us;           /* what its header stamps begin at */
  bool opened;
  unsigned connected, broken, closed, inputs;
  int reject; /* of the last BROKEN */
};

struct ls__test_datagram {
  struct ls__heap_node node; /* first, so that a node is its datagram */
  unsigned link, to;
  size_t len;
  uint8_t data[LS_DATAGRAM_MAX];
};

struct ls__test_pair {
  /* set before ls__test_start */
  struct ls__test_end ends[2];
  struct ls__stream_config stream; /* of both, but for the direction */
  unsigned sender, link_count;
  unsigned flight_max;                                 /* datagrams under way at once */
  uint32_t isn, msgno;                                 /* what the numbers begin at */
  struct ls__model_config ways[LS__TEST_LINKS_MAX][2]; /* by the end that sends */
  int64_t interval_ns;                                 /* of the source, 0 = none */
  size_t payload_min, payload_max;
  /** Whether a datagram is lost on top of what the model loses; NULL = no. */
  bool (*lose)(struct ls__test_pair *pair, unsigned link, unsigned from,
               const struct ls__header *header, const uint8_t *data, size_t len);
  void *context;
  int reject;   /* what the listener refuses connections with; -1 = it does not */
  bool lossy;   /* deliveries may leave out packets */
  bool late;    /* they may come after they were due */
  bool hostile; /* others send, too: what leaves and what is delivered is not judged */
  /* results */
  int64_t now_ns; /* true time */
  uint32_t pushed, delivered, skipped;
  int64_t first_latency_ns, least_latency_ns, most_latency_ns; /* from push to delivery */
  /* inside */
  struct ls__model models[LS__TEST_LINKS_MAX][2];
  struct ls__test_shadow shadows[LS__TEST_LINKS_MAX];
  struct ls__heap flight;
  struct ls__test_datagram *pool, **spare;
  unsigned spare_count;
  int64_t source_ns; /* true time of the next push */
  int64_t *pushed_at_ns;
  uint32_t next_delivery;
};

static const uint8_t ls__test_key[16] = "sixteen letters";

/** A pair of one perfect link of 20 ms each way, the caller sending 500 packets a second with a
 * latency of 120 ms; nothing is allocated. */
static inline void ls__test_pair_defaults(struct ls__test_pair *pair) {
  memset(pair, 0, sizeof *pair);
  pair->link_count = 1;
  pair->flight_max = 4096;
  pair->isn = 1000;
  pair->msgno = 1;
  pair->reject = -1;
  pair->stream = (struct ls__stream_config){.buffer_packets = 1024, .too_late_drop = true};
  pair->interval_ns = 2 * LS_MS;
  pair->payload_min = 100;
  pair->payload_max = 1316;
  for (unsigned i = 0; i < 2; i++) {
    pair->ends[i].shows_ns = (1000 + 77 * (int64_t)i) * LS_S;
    pair->ends[i].link = ls__test_link_config(0);
    pair->ends[i].link.socket_id = i ? LS__TEST_LISTENER : LS__TEST_CALLER;
    pair->ends[i].link.flow_window = 1024;
    for (unsigned link = 0; link < LS__TEST_LINKS_MAX; link++)
      pair->ways[link][i].delay_ns = 20 * LS_MS;
  }
}

static inline int64_t ls__test_clock(const struct ls__test_end *end, int64_t true_ns) {
  return end->shows_ns + true_ns + true_ns / LS_S * end->rate_ppb +
         true_ns % LS_S * end->rate_ppb / LS_S;
}

/** The earliest true time at which the end's clock shows `local_ns`. */
static inline int64_t ls__test_when(const struct ls__test_end *end, int64_t local_ns) {
  if (local_ns == LS_NEVER)
    return LS_NEVER;
  int64_t span_ns = local_ns - end->shows_ns;
  int64_t true_ns = span_ns - span_ns / LS_S * end->rate_ppb / (1 + end->rate_ppb / LS_S);
  for (int64_t off_ns; (off_ns = ls__test_clock(end, true_ns) - local_ns) < -1 || off_ns > 1;)
    true_ns -= off_ns;
  while (ls__test_clock(end, true_ns) < local_ns)
    true_ns++;
  return true_ns;
}

static inline struct ls__test_end *ls__test_receiver(struct ls__test_pair *pair) {
  return &pair->ends[1 - pair->sender];
}

/** Allocates, and calls on every link at true time 0. */
static inline void ls__test_start(struct ls__test_pair *pair, uint64_t seed) {
  pair->pool = calloc(pair->flight_max, sizeof *pair->pool);
  pair->spare = calloc(pair->flight_max, sizeof *pair->spare);
  pair->pushed_at_ns = calloc(LS__TEST_PUSHED_MAX, sizeof *pair->pushed_at_ns);
  assert_true(pair->pool && pair->spare && pair->pushed_at_ns);
  for (unsigned i = 0; i < pair->flight_max; i++)
    pair->spare[i] = &pair->pool[i];
  pair->spare_count = pair->flight_max;
  assert_int_equal(ls__heap_init(&pair->flight, pair->flight_max), 0);
  for (unsigned link = 0; link < pair->link_count; link++) {
    ls__test_shadow_init(&pair->shadows[link]);
    for (unsigned i = 0; i < 2; i++) {
      char err[200] = "";
      pair->ways[link][i].seed = seed * 4 + link * 2 + i;
      if (ls__model_init(&pair->models[link][i], &pair->ways[link][i], 0, err, sizeof err) < 0)
        fail_msg("%s", err);
    }
  }
  for (unsigned i = 0; i < 2; i++) {
    struct ls__stream_config config = pair->stream;
    config.sends = i == pair->sender;
    assert_int_equal(ls__stream_init(&pair->ends[i].stream, &config, pair->link_count), 0);
  }
  struct ls__test_end *caller = &pair->ends[LS__TEST_CALLS];
  int64_t local_ns = ls__test_clock(caller, 0);
  ls__stream_open(&caller->stream, pair->isn, local_ns - caller->stamp_us * LS_US);
  caller->stream.msgno = pair->msgno;
  for (unsigned link = 0; link < pair->link_count; link++) {
    struct ls__link_config config = caller->link;
    config.socket_id += link;
    ls__stream_call(&caller->stream, link, config, local_ns);
  }
  pair->source_ns = pair->interval_ns ? 0 : LS_NEVER;
}

static inline void ls__test_free(struct ls__test_pair *pair) {
  for (unsigned i = 0; i < 2; i++)
    ls__stream_free(&pair->ends[i].stream);
  for (unsigned link = 0; link < pair->link_count; link++)
    ls__test_shadow_free(&pair->shadows[link]);
  ls__heap_free(&pair->flight);
  free(pair->pool);
  free(pair->spare);
  free(pair->pushed_at_ns);
}

/** Puts a datagram on its way to `to`, to arrive at true time `at_ns`. */
static inline void ls__test_deliver_at(struct ls__test_pair *pair, unsigned link, unsigned to,
                                       const uint8_t *data, size_t len, int64_t at_ns) {
  assert_true(pair->spare_count > 0 && len <= LS_DATAGRAM_MAX);
  struct ls__test_datagram *datagram = pair->spare[--pair->spare_count];
  datagram->link = link;
  datagram->to = to;
  datagram->len = len;
  memcpy(datagram->data, data, len);
  assert_true(ls__heap_set(&pair->flight, &datagram->node, at_ns));
}

static inline void ls__test_transmit(struct ls__test_pair *pair, unsigned link, unsigned from,
                                     const uint8_t *data, size_t len) {
  struct ls__header header;
  const char *wrong = ls__test_shadow_sent(&pair->shadows[link], from, data, len);
  if (wrong && !pair->hostile)
    fail_msg("%s (%s, %.6f s)", wrong, from == pair->sender ? "sender" : "receiver",
             (double)pair->now_ns / 1e9);
  assert_int_equal(ls__header_get(data, len, &header), 0);
  if (pair->lose && pair->lose(pair, link, from, &header, data, len))
    return;
  int64_t at_ns[2];
  enum ls__model_fate fate;
  unsigned copies =
      ls__model_offer(&pair->models[link][from], pair->now_ns,
                      (uint32_t)(len + LS_WIRE_BYTES - LS_HEADER_BYTES), at_ns, &fate);
  for (unsigned i = 0; i < copies; i++)
    ls__test_deliver_at(pair, link, 1 - from, data, len, at_ns[i]);
}

/* What a multiplexer does with a request for a connection. */
static inline void ls__test_listen(struct ls__test_pair *pair, unsigned link,
                                   const struct ls__header *header, const uint8_t *data, size_t len,
                                   int64_t local_ns) {
  static const struct ls__addr peer = {.family = 4, .port = 5000};
  struct ls__test_end *end = &pair->ends[LS__TEST_LISTENS];
  struct ls__handshake hs;
  uint8_t out[LS_DATAGRAM_MAX];
  if (header->type != LS__CONTROL_HANDSHAKE ||
      ls__handshake_get(data + LS_HEADER_BYTES, len - LS_HEADER_BYTES, &hs) < 0)
    return;
  if (hs.request == LS__REQUEST_INDUCTION) {
    len = ls__listener_induction(ls__test_key, &peer, header, &hs, local_ns, out);
    ls__test_transmit(pair, link, LS__TEST_LISTENS, out, len);
    return;
  }
  assert_int_equal(hs.request, LS__REQUEST_CONCLUSION);
  assert_true(ls__listener_knows(ls__test_key, &peer, &hs, local_ns));
  int reject = pair->reject >= 0 ? pair->reject : ls__handshake_refusal(&hs);
  if (reject >= 0) {
    len = ls__listener_refuse(&peer, header, &hs, reject, out);
    ls__test_transmit(pair, link, LS__TEST_LISTENS, out, len);
    return;
  }
  const struct ls__link *at = &end->stream.links[link].link;
  if (at->phase != LS__LINK_IDLE && at->peer_id == hs.socket_id) {
    ls__stream_input(&end->stream, link, data, len, local_ns);
    return;
  }
  assert_true(at->phase == LS__LINK_IDLE || at->phase == LS__LINK_ENDED);
  if (!end->opened) {
    ls__stream_open(&end->stream, hs.isn, local_ns - end->stamp_us * LS_US);
    end->stream.msgno = pair->msgno;
  }
  end->opened = true;
  struct ls__link_config config = end->link;
  config.socket_id += link;
  ls__stream_accept(&end->stream, link, config, &hs, header->stamp_us, local_ns);
}

static inline void ls__test_arrive(struct ls__test_pair *pair, struct ls__test_datagram *datagram) {
  struct ls__test_end *end = &pair->ends[datagram->to];
  struct ls__header header;
  int64_t local_ns = ls__test_clock(end, pair->now_ns);
  end->inputs++;
  int result = ls__header_get(datagram->data, datagram->len, &header);
  if (result == 0 && header.socket_id == 0 && header.control)
    ls__test_listen(pair, datagram->link, &header, datagram->data, datagram->len, local_ns);
  else
    ls__stream_input(&end->stream, datagram->link, datagram->data, datagram->len, local_ns);
  pair->spare[pair->spare_count++] = datagram;
}

/* Payload number `n`: its length and its bytes. */
static inline size_t ls__test_payload(const struct ls__test_pair *pair, uint32_t n, uint8_t *out) {
  uint8_t number[4];
  ls__put32(number, n);
  uint64_t hash = ls__siphash(ls__test_key, number, sizeof number);
  size_t len = pair->payload_min + hash % (pair->payload_max - pair->payload_min + 1);
  memset(out, (int)(hash >> 8 & 0xff), len);
  for (size_t i = 0; i < len && i < 8; i++)
    out[i] = (uint8_t)(hash >> 8 * i);
  if (len >= 16)
    ls__put32(out + 8, n);
  return len;
}

/** Pushes the next payload at the sender, now; what ls__stream_push says. */
static inline int ls__test_push(struct ls__test_pair *pair) {
  struct ls__test_end *end = &pair->ends[pair->sender];
  uint8_t payload[LS_PAYLOAD_MAX];
  size_t len = ls__test_payload(pair, pair->pushed, payload);
  int result = ls__stream_push(&end->stream, payload, len, ls__test_clock(end, pair->now_ns));
  if (result == 0)
    pair->pushed_at_ns[pair->pushed++ % LS__TEST_PUSHED_MAX] = pair->now_ns;
  return result;
}

static inline void ls__test_delivered(struct ls__test_pair *pair, const uint8_t *payload,
                                      size_t len) {
  uint8_t expected[LS_PAYLOAD_MAX];
  uint32_t n = len >= 16 ? ls__get32(payload + 8) : pair->next_delivery;
  if (n < pair->next_delivery)
    fail_msg("payload %u is delivered twice or out of order, after %u", n, pair->next_delivery);
  if (n > pair->next_delivery && !pair->lossy)
    fail_msg("payloads %u to %u are lost", pair->next_delivery, n - 1);
  if (n >= pair->pushed || len != ls__test_payload(pair, n, expected) ||
      memcmp(payload, expected, len) != 0)
    fail_msg("payload %u is delivered with other bytes than were pushed", n);
  int64_t latency_ns = pair->now_ns - pair->pushed_at_ns[n % LS__TEST_PUSHED_MAX];
  if (pair->delivered++ == 0)
    pair->first_latency_ns = pair->least_latency_ns = pair->most_latency_ns = latency_ns;
  pair->least_latency_ns = ls__time_min(pair->least_latency_ns, latency_ns);
  pair->most_latency_ns = ls__time_max(pair->most_latency_ns, latency_ns);
  pair->skipped += n - pair->next_delivery;
  pair->next_delivery = n + 1;
}

/* Lets an end do all that it has to do now. */
static inline void ls__test_pump(struct ls__test_pair *pair, unsigned which) {
  struct ls__test_end *end = &pair->ends[which];
  struct ls__stream *stream = &end->stream;
  int64_t local_ns = ls__test_clock(end, pair->now_ns), due_ns;
  uint8_t out[LS_DATAGRAM_MAX];
  const uint8_t *payload;
  size_t len;
  ls__stream_tick(stream, local_ns);
  while (which != pair->sender &&
         (payload = ls__stream_take(stream, local_ns, &len, &due_ns)) != NULL) {
    if (!pair->hostile)
      ls__test_delivered(pair, payload, len);
    assert_true(pair->lossy || pair->late || local_ns - due_ns <= LS_US);
    ls__stream_taken(stream);
  }
  for (unsigned link = 0; link < pair->link_count; link++)
    while ((len = ls__stream_output(stream, link, local_ns, out)) > 0)
      ls__test_transmit(pair, link, which, out, len);
  struct ls__stream_event event;
  while ((event = ls__stream_event(stream)).kind != LS__STREAM_NO_EVENT) {
    end->connected += event.kind == LS__STREAM_CONNECTED;
    end->closed += event.kind == LS__STREAM_CLOSED;
    if (event.kind == LS__STREAM_BROKEN) {
      end->broken++;
      end->reject = event.reject;
    }
  }
}

/* When an end wants to be called, in true time. */
static inline int64_t ls__test_wakes(const struct ls__test_pair *pair, unsigned which) {
  const struct ls__test_end *end = &pair->ends[which];
  int64_t local_ns = ls__stream_timer(&end->stream);
  int64_t due_ns = ls__stream_due(&end->stream, ls__test_clock(end, pair->now_ns));
  return ls__test_when(end, ls__time_min(local_ns, due_ns));
}

/** Runs up to true time `until_ns`. */
static inline void ls__test_run(struct ls__test_pair *pair, int64_t until_ns) {
  unsigned same = 0;
  for (unsigned i = 0; i < 2; i++) /* what was pushed since is sent now */
    ls__test_pump(pair, i);
  for (;;) {
    struct ls__heap_node *first = ls__heap_first(&pair->flight);
    int64_t next_ns = ls__time_min(first ? first->at_ns : LS_NEVER, pair->source_ns);
    next_ns = ls__time_min(next_ns, ls__test_wakes(pair, 0));
    next_ns = ls__time_max(ls__time_min(next_ns, ls__test_wakes(pair, 1)), pair->now_ns);
    if (next_ns > until_ns)
      break;
    same = next_ns == pair->now_ns ? same + 1 : 0;
    assert_true(same < 100); /* a timer that is not served */
    pair->now_ns = next_ns;
    while ((first = ls__heap_first(&pair->flight)) && first->at_ns <= pair->now_ns) {
      ls__heap_remove(&pair->flight, first);
      ls__test_arrive(pair, (struct ls__test_datagram *)first);
    }
    if (pair->now_ns >= pair->source_ns) {
      ls__test_push(pair);
      pair->source_ns += pair->interval_ns;
    }
    ls__test_pump(pair, 0);
    ls__test_pump(pair, 1);
  }
  pair->now_ns = until_ns;
}

/** The source ends, the sender finishes, and both run until they have ended. */
static inline void ls__test_finish(struct ls__test_pair *pair, int64_t by_ns) {
  struct ls__test_end *end = &pair->ends[pair->sender];
  pair->source_ns = LS_NEVER;
  pair->reject = LS__REJECT_CLOSE;
  ls__stream_finish(&end->stream, ls__test_clock(end, pair->now_ns));
  while (!ls__stream_ended(&pair->ends[0].stream) || !ls__stream_ended(&pair->ends[1].stream)) {
    assert_true(pair->now_ns < by_ns);
    ls__test_run(pair, pair->now_ns + 10 * LS_MS);
  }
}

#endif
