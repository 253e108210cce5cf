#include "stream/stream.h"

#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"

int ls__stream_init(struct ls__stream *stream, const struct ls__stream_config *config,
                    unsigned links) {
  LS_ASSERT(links > 0 && links <= LS__STREAM_LINKS_MAX);
  memset(stream, 0, sizeof *stream);
  stream->config = *config;
  ls__histogram_reset(&stream->lateness);
  stream->links = calloc(links, sizeof *stream->links);
  int result = stream->links ? 0 : LS_ENOMEM;
  while (result == 0 && stream->link_count < links) {
    struct ls__stream_link *at = &stream->links[stream->link_count++];
    at->wait_ns = LS_NEVER;
    result = ls__link_init(&at->link, config->buffer_packets);
  }
  if (result == 0)
    result = config->sends ? ls__sendbuf_init(&stream->tx, config->buffer_packets)
                           : ls__recvbuf_init(&stream->rx, config->buffer_packets);
  if (result < 0)
    ls__stream_free(stream);
  return result;
}

void ls__stream_free(struct ls__stream *stream) {
  for (unsigned i = 0; i < stream->link_count; i++)
    ls__link_free(&stream->links[i].link);
  free(stream->links);
  ls__sendbuf_free(&stream->tx);
  ls__recvbuf_free(&stream->rx);
  memset(stream, 0, sizeof *stream);
}

void ls__stream_open(struct ls__stream *stream, uint32_t isn, int64_t start_ns) {
  if (stream->config.sends)
    ls__sendbuf_reset(&stream->tx, isn);
  else
    ls__recvbuf_reset(&stream->rx, isn);
  stream->clock = (struct ls__tsbpd){0};
  stream->start_ns = start_ns;
  stream->msgno = 1;
  stream->last_due_ns = INT64_MIN;
  stream->finishing = false;
  stream->flushed_ns = LS_NEVER;
  stream->event_count = 0;
  for (unsigned i = 0; i < stream->link_count; i++)
    stream->links[i].link.phase = LS__LINK_IDLE;
}

static void prepare(struct ls__stream *stream, struct ls__stream_link *at,
                    struct ls__link_config *config) {
  config->start_ns = stream->start_ns;
  config->receives = !stream->config.sends;
  config->too_late_drop = stream->config.too_late_drop;
  uint32_t buffer = stream->config.buffer_packets;
  if (config->flow_window > buffer)
    config->flow_window = buffer;
  ls__rate_init(&at->rate, stream->config.max_bandwidth_bps, LS__STREAM_BURST_BYTES);
  at->wait_ns = LS_NEVER;
}

void ls__stream_call(struct ls__stream *stream, unsigned link, struct ls__link_config config,
                     int64_t now_ns) {
  LS_ASSERT(link < stream->link_count);
  struct ls__stream_link *at = &stream->links[link];
  config.isn = stream->config.sends ? stream->tx.end : stream->rx.end;
  if (config.isn == LS_SEQ_MASK)
    config.isn--; /* which no peer takes; what is left behind is not sent again */
  prepare(stream, at, &config);
  ls__link_call(&at->link, &config, now_ns);
}

static void report(struct ls__stream *stream, enum ls__stream_event_kind kind, unsigned link,
                   int reject) {
  /* A link connects and ends at most once between two readings, so that this never fills. */
  LS_ASSERT(stream->event_count < LS__STREAM_EVENTS_MAX);
  unsigned at = (stream->event_first + stream->event_count++) % LS__STREAM_EVENTS_MAX;
  stream->events[at] = (struct ls__stream_event){.kind = kind, .link = link, .reject = reject};
}

struct ls__stream_event ls__stream_event(struct ls__stream *stream) {
  if (stream->event_count == 0)
    return (struct ls__stream_event){.kind = LS__STREAM_NO_EVENT};
  struct ls__stream_event event = stream->events[stream->event_first];
  stream->event_first = (stream->event_first + 1) % LS__STREAM_EVENTS_MAX;
  stream->event_count--;
  return event;
}

static void connected(struct ls__stream *stream, unsigned link,
                      const struct ls__link_event *event) {
  struct ls__stream_link *at = &stream->links[link];
  /* The first link fixes base time and latency; a later one never moves playout. */
  if (!stream->clock.started)
    ls__tsbpd_start(&stream->clock, event->stamp_us, event->time_ns, at->link.receive_latency_ns);
  ls__drift_link_init(&at->drift, event->time_ns);
  /* What the stream has left behind since the link began to call is not for this link. */
  if (stream->config.sends)
    ls__link_send_floor(&at->link, stream->tx.first);
  else
    ls__link_receive_floor(&at->link, stream->rx.first);
  report(stream, LS__STREAM_CONNECTED, link, 0);
}

void ls__stream_accept(struct ls__stream *stream, unsigned link, struct ls__link_config config,
                       const struct ls__handshake *hs, uint32_t stamp_us, int64_t now_ns) {
  LS_ASSERT(link < stream->link_count);
  struct ls__stream_link *at = &stream->links[link];
  struct ls__link_event event;
  config.isn = hs->isn;
  prepare(stream, at, &config);
  ls__link_accept(&at->link, &config, hs, stamp_us, now_ns, &event);
  connected(stream, link, &event);
}

bool ls__stream_connected(const struct ls__stream *stream) {
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase == LS__LINK_CONNECTED)
      return true;
  return false;
}

/* What fits a packet of every connected link. */
static uint32_t payload_max(const struct ls__stream *stream) {
  uint32_t max = LS_PAYLOAD_MAX;
  for (unsigned i = 0; i < stream->link_count; i++) {
    const struct ls__link *link = &stream->links[i].link;
    if (link->phase == LS__LINK_CONNECTED && link->payload_max < max)
      max = link->payload_max;
  }
  return max;
}

int ls__stream_push(struct ls__stream *stream, const uint8_t *payload, size_t len,
                    int64_t source_ns) {
  LS_ASSERT(stream->config.sends);
  if (stream->finishing || !ls__stream_connected(stream))
    return LS_ESTATE;
  if (len == 0 || len > payload_max(stream))
    return LS_ESIZE;
  struct ls__send_slot slot = {.source_ns = source_ns,
                               .stamp_us = (uint32_t)((source_ns - stream->start_ns) / LS_US),
                               .msgno = stream->msgno};
  int result = ls__sendbuf_push(&stream->tx, payload, len, &slot);
  if (result == 0)
    stream->msgno = ls__msgno_next(stream->msgno);
  return result;
}

/* What every connected link has acknowledged (or given up) is no longer needed. */
static void release_sent(struct ls__stream *stream) {
  uint32_t floor = stream->tx.end;
  for (unsigned i = 0; i < stream->link_count; i++) {
    const struct ls__link *link = &stream->links[i].link;
    if (link->phase == LS__LINK_CONNECTED && ls__seq_before(link->acked, floor))
      floor = link->acked;
  }
  ls__sendbuf_release(&stream->tx, floor);
}

static void satisfied_elsewhere(struct ls__stream *stream, unsigned link, uint32_t seq) {
  for (unsigned i = 0; i < stream->link_count; i++)
    if (i != link)
      ls__link_satisfied(&stream->links[i].link, seq);
}

static void lift_receive_floors(struct ls__stream *stream) {
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase == LS__LINK_CONNECTED)
      ls__link_receive_floor(&stream->links[i].link, stream->rx.first);
}

/* The peer has gone on far ahead, after an outage longer than the buffer: when all that is held has
 * been played, playout begins anew there. */
static void follow(struct ls__stream *stream, const struct ls__link_event *event) {
  if (event->row < LS__STREAM_FOLLOW_PACKETS || stream->rx.present.count > 0)
    return;
  uint32_t seq = event->header.seq;
  stream->receive_dropped += (uint64_t)ls__seq_diff(seq, stream->rx.first);
  ls__recvbuf_reset(&stream->rx, seq);
  lift_receive_floors(stream);
}

static void store(struct ls__stream *stream, unsigned link, const struct ls__link_event *event,
                  const uint8_t *data, size_t len, int64_t now_ns) {
  struct ls__stream_link *at = &stream->links[link];
  uint32_t seq = event->header.seq;
  int64_t stamp_us = ls__tsbpd_unwrap(&stream->clock, event->header.stamp_us, now_ns);
  if (ls__tsbpd_due(&stream->clock, stamp_us, now_ns) - now_ns >
      stream->clock.latency_ns + LS__STREAM_AHEAD_MAX_NS) {
    at->link.stats.packets_unexpected++;
    return;
  }
  switch (ls__recvbuf_insert(&stream->rx, seq, stamp_us, data + LS_HEADER_BYTES,
                             len - LS_HEADER_BYTES)) {
  case LS__RECV_NEW:
    satisfied_elsewhere(stream, link, seq);
    return;
  case LS__RECV_KNOWN:
  case LS__RECV_LATE:
    at->link.stats.packets_belated++;
    return;
  case LS__RECV_NO_ROOM:
    at->link.stats.packets_no_room++;
    return;
  }
}

static void on_event(struct ls__stream *stream, unsigned link, const struct ls__link_event *event,
                     const uint8_t *data, size_t len, int64_t now_ns) {
  struct ls__stream_link *at = &stream->links[link];
  switch (event->kind) {
  case LS__EVENT_BEYOND:
    follow(stream, event);
    return;
  case LS__EVENT_NONE:
  case LS__EVENT_DROPPED: /* the link has noted it; the gap is skipped when it is due */
    return;
  case LS__EVENT_CONNECTED:
    connected(stream, link, event);
    return;
  case LS__EVENT_BROKEN:
    report(stream, LS__STREAM_BROKEN, link, event->reject);
    return;
  case LS__EVENT_CLOSED:
    report(stream, LS__STREAM_CLOSED, link, 0);
    return;
  case LS__EVENT_DATA:
    store(stream, link, event, data, len, now_ns);
    return;
  case LS__EVENT_ACKED:
    release_sent(stream);
    return;
  case LS__EVENT_SAMPLE:
    if (stream->clock.started)
      ls__tsbpd_sample(&stream->clock, &at->drift, event->stamp_us, event->rtt_ns, event->time_ns);
    return;
  }
}

void ls__stream_input(struct ls__stream *stream, unsigned link, const uint8_t *data, size_t len,
                      int64_t now_ns) {
  LS_ASSERT(link < stream->link_count);
  struct ls__link_event event;
  ls__link_input(&stream->links[link].link, data, len, now_ns, &event);
  on_event(stream, link, &event, data, len, now_ns);
}

static size_t put_data(struct ls__stream *stream, struct ls__stream_link *at, uint32_t seq,
                       bool retransmitted, int64_t now_ns, uint8_t *out) {
  const struct ls__send_slot *slot = ls__sendbuf_slot(&stream->tx, seq);
  LS_ASSERT(slot);
  struct ls__header header = {.seq = seq,
                              .position = 3,
                              .retransmitted = retransmitted,
                              .msgno = slot->msgno,
                              .stamp_us = slot->stamp_us,
                              .socket_id = at->link.peer_id};
  ls__header_put(&header, out);
  memcpy(out + LS_HEADER_BYTES, ls__sendbuf_payload(&stream->tx, seq), slot->len);
  ls__rate_commit(&at->rate, now_ns, slot->len + LS_WIRE_BYTES);
  ls__link_sent_data(&at->link, seq, retransmitted, slot->len, now_ns);
  return LS_HEADER_BYTES + slot->len;
}

size_t ls__stream_output(struct ls__stream *stream, unsigned link, int64_t now_ns, uint8_t *out) {
  LS_ASSERT(link < stream->link_count);
  struct ls__stream_link *at = &stream->links[link];
  uint32_t seq;
  bool retransmitted;
  if (!stream->config.sends)
    at->link.room_end = ls__seq_add(stream->rx.first, (int32_t)at->link.config.flow_window);
  size_t len = ls__link_control(&at->link, now_ns, out);
  if (len > 0 || !stream->config.sends)
    return len;
  at->wait_ns = LS_NEVER;
  if (!ls__link_next_data(&at->link, stream->tx.end, now_ns, &seq, &retransmitted))
    return 0;
  const struct ls__send_slot *slot = ls__sendbuf_slot(&stream->tx, seq);
  LS_ASSERT(slot);
  uint32_t bytes = slot->len + LS_WIRE_BYTES;
  at->wait_ns = ls__rate_earliest(&at->rate, now_ns, bytes);
  if (at->wait_ns > now_ns)
    return 0;
  at->wait_ns = LS_NEVER;
  if (!retransmitted) {
    /* Its departure time: when its source had it, or the rate law lets it go. */
    int64_t late_ns = now_ns - ls__rate_earliest(&at->rate, slot->source_ns, bytes);
    ls__histogram_record(&stream->lateness, late_ns);
    stream->late += late_ns > LS__STREAM_LATE_NS;
  }
  return put_data(stream, at, seq, retransmitted, now_ns, out);
}

/* Whether some link may still bring what is missing before `seq`. What the peer has dropped, no
 * link misses any more. */
static bool may_come(const struct ls__stream *stream, uint32_t seq) {
  for (unsigned i = 0; i < stream->link_count; i++) {
    const struct ls__link *link = &stream->links[i].link;
    if (link->phase == LS__LINK_CONNECTED && ls__seq_before(ls__link_ack_position(link), seq))
      return true;
  }
  return false;
}

int64_t ls__stream_due(const struct ls__stream *stream, int64_t now_ns) {
  if (stream->config.sends)
    return LS_NEVER;
  const struct ls__recv_slot *slot = ls__recvbuf_oldest(&stream->rx);
  if (!slot)
    return LS_NEVER;
  if (!stream->config.too_late_drop && slot->seq != stream->rx.first && may_come(stream, slot->seq))
    return LS_NEVER;
  return ls__time_max(stream->last_due_ns, ls__tsbpd_due(&stream->clock, slot->stamp_us, now_ns));
}

const uint8_t *ls__stream_take(struct ls__stream *stream, int64_t now_ns, size_t *len,
                               int64_t *due_ns) {
  *due_ns = ls__stream_due(stream, now_ns);
  if (*due_ns > now_ns)
    return NULL;
  const struct ls__recv_slot *slot = ls__recvbuf_oldest(&stream->rx);
  *len = slot->len;
  stream->last_due_ns = *due_ns;
  return ls__recvbuf_payload(&stream->rx, slot);
}

void ls__stream_taken(struct ls__stream *stream) {
  stream->receive_dropped += ls__recvbuf_pop(&stream->rx);
  lift_receive_floors(stream);
}

/* Age after which the sender gives a packet up. */
static int64_t keep_ns(const struct ls__stream *stream) {
  int64_t latency_ns = 0;
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase == LS__LINK_CONNECTED)
      latency_ns = ls__time_max(latency_ns, stream->links[i].link.send_latency_ns);
  latency_ns += stream->config.send_drop_delay_ns;
  return ls__time_max(latency_ns, LS__SEND_KEEP_MIN_NS) + 2 * LS__ACK_INTERVAL_NS;
}

/* Every peer's receiver skips what is late. One that does not would wait for it. */
static bool drops_late(const struct ls__stream *stream) {
  bool drops = stream->config.too_late_drop;
  for (unsigned i = 0; i < stream->link_count; i++) {
    const struct ls__link *link = &stream->links[i].link;
    if (link->phase == LS__LINK_CONNECTED)
      drops = drops && (link->peer_flags & LS__FLAG_TLPKTDROP);
  }
  return drops;
}

static int64_t drop_timer(const struct ls__stream *stream) {
  const struct ls__send_slot *oldest = ls__sendbuf_slot(&stream->tx, stream->tx.first);
  return oldest && drops_late(stream) ? oldest->source_ns + keep_ns(stream) + 1 : LS_NEVER;
}

static void drop_too_late(struct ls__stream *stream, int64_t now_ns) {
  if (now_ns < drop_timer(stream))
    return;
  uint32_t floor = ls__sendbuf_first_after(&stream->tx, now_ns - keep_ns(stream) - 1);
  uint64_t dropped = (uint64_t)ls__seq_diff(floor, stream->tx.first);
  stream->send_dropped += dropped;
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase == LS__LINK_CONNECTED)
      ls__link_send_floor(&stream->links[i].link, floor);
  ls__sendbuf_release(&stream->tx, floor);
}

/* When all is acknowledged, the peer still holds one latency of it; a goodbye before that would
 * make some peers throw it away. */
static int64_t goodbye_timer(const struct ls__stream *stream) {
  if (!stream->finishing || stream->flushed_ns == LS_NEVER)
    return LS_NEVER;
  int64_t latency_ns = 0;
  for (unsigned i = 0; stream->config.sends && i < stream->link_count; i++)
    latency_ns = ls__time_max(latency_ns, stream->links[i].link.send_latency_ns);
  return stream->flushed_ns + latency_ns;
}

static void finish_step(struct ls__stream *stream, int64_t now_ns) {
  if (!stream->finishing)
    return;
  bool flushed = !stream->config.sends || ls__sendbuf_count(&stream->tx) == 0;
  if (flushed && stream->flushed_ns == LS_NEVER)
    stream->flushed_ns = now_ns;
  if (now_ns >= goodbye_timer(stream))
    ls__stream_close(stream, now_ns);
}

int64_t ls__stream_timer(const struct ls__stream *stream) {
  uint32_t end = stream->tx.end;
  int64_t at_ns = goodbye_timer(stream);
  if (stream->config.sends)
    at_ns = ls__time_min(at_ns, drop_timer(stream));
  for (unsigned i = 0; i < stream->link_count; i++) {
    at_ns = ls__time_min(at_ns, ls__link_timer(&stream->links[i].link, end));
    at_ns = ls__time_min(at_ns, stream->links[i].wait_ns);
  }
  return at_ns;
}

void ls__stream_tick(struct ls__stream *stream, int64_t now_ns) {
  struct ls__link_event event;
  for (unsigned i = 0; i < stream->link_count; i++) {
    ls__link_tick(&stream->links[i].link, stream->tx.end, now_ns, &event);
    on_event(stream, i, &event, NULL, 0, now_ns);
  }
  if (stream->config.sends)
    drop_too_late(stream, now_ns); /* after the links: one that ends may have held it back */
  finish_step(stream, now_ns);
}

void ls__stream_finish(struct ls__stream *stream, int64_t now_ns) {
  stream->finishing = true;
  if (!ls__stream_connected(stream))
    ls__stream_close(stream, now_ns);
  else
    finish_step(stream, now_ns);
}

void ls__stream_close(struct ls__stream *stream, int64_t now_ns) {
  stream->finishing = false;
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase != LS__LINK_ENDED)
      ls__link_close(&stream->links[i].link, now_ns);
}

bool ls__stream_ended(const struct ls__stream *stream) {
  for (unsigned i = 0; i < stream->link_count; i++)
    if (stream->links[i].link.phase != LS__LINK_ENDED &&
        stream->links[i].link.phase != LS__LINK_IDLE)
      return false;
  return stream->config.sends || stream->rx.present.count == 0;
}

static uint64_t state_of(const struct ls__link *link) {
  switch (link->phase) {
  case LS__LINK_CONNECTED:
    return LS_LINK_CONNECTED;
  case LS__LINK_CLOSING:
  case LS__LINK_ENDED:
    return LS_LINK_CLOSED;
  default:
    return LS_LINK_CONNECTING;
  }
}

struct ls__stats_link ls__stream_statistics(const struct ls__stream *stream, unsigned link,
                                            int64_t now_ns) {
  const struct ls__link *at = &stream->links[link].link;
  struct ls__stats_link stats = at->stats;
  stats.state = state_of(at);
  stats.rtt_ns = at->rtt.measured ? (uint64_t)at->rtt.smoothed_ns : 0;
  stats.rtt_var_ns = at->rtt.measured ? (uint64_t)at->rtt.variation_ns : 0;
  stats.send_latency_ns = (uint64_t)at->send_latency_ns;
  stats.receive_latency_ns = (uint64_t)at->receive_latency_ns;
  stats.packets_send_dropped = stream->send_dropped;
  stats.packets_receive_dropped = stream->receive_dropped;
  if (at->phase == LS__LINK_CONNECTED)
    stats.flight_packets = (uint64_t)ls__seq_diff(at->next, at->acked);
  stats.drift_ns = ls__tsbpd_correction(&stream->clock, now_ns);
  stats.drift_ppb = stream->clock.integral_ppb;
  if (stream->config.sends) {
    stats.send_buffer_packets = ls__sendbuf_count(&stream->tx);
    return stats;
  }
  const struct ls__recv_slot *oldest = ls__recvbuf_oldest(&stream->rx);
  if (!oldest)
    return stats;
  stats.receive_buffer_packets = stream->rx.present.count;
  /* A peer may stamp a later packet earlier. */
  int64_t held_us = ls__recvbuf_newest(&stream->rx)->stamp_us - oldest->stamp_us;
  stats.receive_buffer_ns = (uint64_t)(ls__time_max(held_us, 0) * LS_US);
  return stats;
}
