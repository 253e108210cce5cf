/* A stream over one or two links, as sender and as receiver, as caller and as listener: the input
 * is a script of datagrams (of its own bytes, or formed around what the link expects), of time that
 * passes, and of payload that is pushed and played. After each step what both ends rely on holds,
 * and no timer is left that nobody serves. */
#include "base/assert.h"
#include "base/bytes.h"
#include "base/seq.h"
#include "stream/stream.h"

#include <string.h>

#define WINDOW 64
#define ISN (LS_SEQ_MASK - 100)

static const uint8_t *input;
static size_t left;
static struct ls__stream stream;
static int64_t now_ns, due_ns;
static unsigned links;

static uint8_t next(void) {
  if (left == 0)
    return 0;
  left--;
  return *input++;
}

static uint32_t next_word(void) {
  uint32_t word = next();
  word = word << 8 | next();
  word = word << 8 | next();
  return word << 8 | next();
}

/* A sequence number: mostly near where the link stands. */
static uint32_t next_seq(const struct ls__link *link) {
  uint8_t kind = next();
  uint32_t near = kind & 1 ? link->next : link->expected;
  if (kind & 2)
    near = kind & 1 ? link->acked : link->missing.base;
  if (kind & 0x80)
    return next_word();
  return ls__seq_add(near, (int8_t)next()) | (kind & 4 ? UINT32_C(0x80000000) : 0);
}

static void feed(unsigned link, const uint8_t *data, size_t len) {
  /* From a block of its own, so that reading past the end is seen. */
  uint8_t *exact = malloc(len ? len : 1);
  LS_ASSERT(exact);
  memcpy(exact, data, len);
  ls__stream_input(&stream, link, exact, len, now_ns);
  free(exact);
}

static void feed_raw(unsigned link) {
  size_t len = (size_t)next() << 3 | next() >> 5;
  len = len < left ? len : left;
  feed(link, input, len < LS_DATAGRAM_MAX ? len : LS_DATAGRAM_MAX);
  input += len;
  left -= len;
}

static void feed_data(unsigned link) {
  uint8_t data[LS_DATAGRAM_MAX] = {0};
  uint8_t kind = next();
  struct ls__header header = {.seq = next_seq(&stream.links[link].link) & LS_SEQ_MASK,
                              .msgno = 1,
                              .position = kind & 0x0f ? 3 : 2,
                              .retransmitted = kind & 0x10,
                              .stamp_us = kind & 0x20 ? next_word()
                                                      : (uint32_t)(now_ns / LS_US) - next() * 1000u,
                              .socket_id = stream.links[link].link.config.socket_id};
  ls__header_put(&header, data);
  feed(link, data, LS_HEADER_BYTES + (kind & 0x40 ? next() : 20));
}

static void feed_control(unsigned link) {
  uint8_t data[LS_DATAGRAM_MAX] = {0};
  const struct ls__link *at = &stream.links[link].link;
  uint8_t kind = next();
  struct ls__header header = {.control = true,
                              .type = kind % 10 == 9 ? LS__CONTROL_USER : kind % 10,
                              .info = kind & 0x40 ? next_word() : at->ack_number - next() % 4,
                              .stamp_us = (uint32_t)(now_ns / LS_US),
                              .socket_id = at->config.socket_id};
  ls__header_put(&header, data);
  size_t words = next() % 32;
  for (size_t i = 0; i < words; i++)
    ls__put32(data + LS_HEADER_BYTES + 4 * i, i && kind & 0x80 ? next_word() : next_seq(at));
  feed(link, data, LS_HEADER_BYTES + 4 * words + (kind & 0x20 ? next() % 4 : 0));
}

/* A handshake that may well be the one that the link waits for. */
static void feed_handshake(unsigned link) {
  uint8_t data[LS_DATAGRAM_MAX];
  const struct ls__link *at = &stream.links[link].link;
  uint8_t kind = next();
  bool first = at->phase == LS__LINK_INDUCTION;
  struct ls__handshake hs = {.version = 5,
                             .extension = first ? LS__HS_MAGIC : LS__HS_EXT_HSREQ,
                             .isn = at->config.isn,
                             .mss = kind & 1 ? 76u + next() : 1500,
                             .window_packets = kind & 2 ? next() : 8192,
                             .request = first ? LS__REQUEST_INDUCTION : LS__REQUEST_CONCLUSION,
                             .socket_id = 77,
                             .has_hs = true,
                             .hs_response = at->caller,
                             .srt_version = LS_SRT_VERSION,
                             .flags = kind & 4 ? next() : 0xbf,
                             .receive_latency_ms = next(),
                             .send_latency_ms = next()};
  if (kind & 8)
    hs.request = (int32_t)next_word();
  ls__header_put(&(struct ls__header){.control = true}, data);
  feed(link, data, LS_HEADER_BYTES + ls__handshake_put(&hs, data + LS_HEADER_BYTES));
}

static void check_link(const struct ls__link *link) {
  if (link->phase != LS__LINK_CONNECTED)
    return;
  int32_t in_flight = ls__seq_diff(link->next, link->acked);
  LS_ASSERT(in_flight >= 0 && in_flight <= WINDOW);
  LS_ASSERT(link->lost.count <= (uint32_t)in_flight);
  int32_t allowed = ls__seq_diff(link->peer_window_end, link->acked);
  LS_ASSERT(allowed <= WINDOW);
  LS_ASSERT(!stream.config.sends || !ls__seq_before(stream.tx.end, link->next));
  int32_t ahead = ls__seq_diff(link->expected, link->missing.base);
  LS_ASSERT(ahead >= 0 && ahead <= WINDOW);
  LS_ASSERT(link->missing.count <= (uint32_t)ahead && link->fresh.count <= link->missing.count);
  LS_ASSERT(!ls__seq_before(link->expected, ls__link_ack_position(link)));
  LS_ASSERT(link->rtt.smoothed_ns >= 0 && link->rtt.variation_ns >= 0);
}

static void play(void) {
  const uint8_t *payload;
  size_t len;
  int64_t at_ns;
  while ((payload = ls__stream_take(&stream, now_ns, &len, &at_ns)) != NULL) {
    LS_ASSERT(len > 0 && len <= LS_PAYLOAD_MAX && at_ns <= now_ns && at_ns >= due_ns);
    due_ns = at_ns;
    ls__stream_taken(&stream);
  }
}

/* Does what is to be done now; there must be an end to it. */
static void pump(void) {
  uint8_t out[LS_DATAGRAM_MAX];
  struct ls__header header;
  ls__stream_tick(&stream, now_ns);
  if (!stream.config.sends)
    play();
  for (unsigned link = 0; link < links; link++) {
    size_t len;
    for (unsigned sent = 0; (len = ls__stream_output(&stream, link, now_ns, out)) > 0; sent++) {
      LS_ASSERT(sent < 4 * WINDOW && len <= LS_DATAGRAM_MAX);
      LS_ASSERT(ls__header_get(out, len, &header) == 0);
      LS_ASSERT(header.control || stream.config.sends);
    }
    check_link(&stream.links[link].link);
    ls__stream_statistics(&stream, link, now_ns);
  }
  while (ls__stream_event(&stream).kind != LS__STREAM_NO_EVENT)
    ;
  LS_ASSERT(ls__stream_timer(&stream) > now_ns);
  LS_ASSERT(ls__stream_due(&stream, now_ns) > now_ns);
}

static void begin(uint8_t kind, uint8_t more) {
  links = kind & 1 ? 2 : 1;
  struct ls__stream_config config = {.sends = kind & 2,
                                     .buffer_packets = WINDOW,
                                     .max_bandwidth_bps = kind & 4 ? 1000000 : 0,
                                     .too_late_drop = kind & 8};
  struct ls__link_config link = {.socket_id = 5,
                                 .receive_latency_ns = more * LS_MS,
                                 .peer_latency_ns = more * LS_MS,
                                 .connect_timeout_ns = 3 * LS_S,
                                 .peer_idle_timeout_ns = 5 * LS_S,
                                 .mss = 1500,
                                 .flow_window = WINDOW,
                                 .reorder_tolerance = kind & 0x20 ? more % 8 : 0,
                                 .nak_report = kind & 0x40};
  struct ls__handshake hs = {.version = 5,
                             .isn = ISN,
                             .mss = 1500,
                             .window_packets = 8192,
                             .request = LS__REQUEST_CONCLUSION,
                             .socket_id = 77,
                             .has_hs = true,
                             .srt_version = LS_SRT_VERSION,
                             .flags = 0xbf};
  LS_ASSERT(ls__stream_init(&stream, &config, links) == 0);
  now_ns = LS_S;
  due_ns = INT64_MIN;
  ls__stream_open(&stream, ISN, kind & 0x80 ? now_ns - UINT32_MAX * LS_US : 0);
  for (unsigned i = 0; i < links; i++, link.socket_id++) {
    if (kind & 0x10)
      ls__stream_call(&stream, i, link, now_ns);
    else
      ls__stream_accept(&stream, i, link, &hs, 1000000, now_ns);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t payload[LS_PAYLOAD_MAX] = {1, 2, 3};
  input = data;
  left = size;
  uint8_t kind = next();
  begin(kind, next());
  pump();
  while (left > 0) {
    uint8_t op = next();
    unsigned link = op >> 7 & (links - 1);
    switch (op & 7) {
    case 0:
      feed_raw(link);
      break;
    case 1:
      feed_data(link);
      break;
    case 2:
      feed_control(link);
      break;
    case 3:
      feed_handshake(link);
      break;
    case 4:
      for (unsigned i = 0; stream.config.sends && i < (op >> 3 & 15); i++)
        ls__stream_push(&stream, payload, 1 + next() * 5u, now_ns);
      break;
    case 5:
      now_ns += next() * LS_MS;
      break;
    case 6:
      now_ns = ls__time_max(now_ns, ls__time_min(ls__stream_timer(&stream), now_ns + 10 * LS_S));
      break;
    default:
      if ((op >> 3 & 15) == 0)
        ls__stream_finish(&stream, now_ns);
      else
        now_ns += (int64_t)next() * 40 * LS_MS;
    }
    pump();
  }
  ls__stream_close(&stream, now_ns);
  for (int i = 0; i < 2 * LS__GOODBYES; i++, now_ns += LS__GOODBYE_NS)
    pump();
  for (unsigned i = 0; i < links; i++)
    LS_ASSERT(stream.links[i].link.phase == LS__LINK_ENDED);
  ls__stream_free(&stream);
  return 0;
}
