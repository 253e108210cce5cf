/* The receiving half: what is missing, when to ask for it, what to acknowledge. */
#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/link.h"

/* A forged packet far ahead must not make a loss list of a million entries: anything beyond the
 * window is refused, as the stream's buffer would refuse it. */
static bool beyond_window(const struct ls__link *link, uint32_t seq) {
  return ls__seq_diff(seq, link->missing.base) >= (int32_t)link->window;
}

/* Nearly half the number space before the window is ahead of what is expected: a number that is out
 * of date by more than a quarter is compared with nothing else. */
static bool long_ago(const struct ls__link *link, uint32_t seq) {
  return ls__seq_diff(seq, link->missing.base) < -INT32_C(0x20000000);
}

/* Data ahead of the window: the stream follows when it comes steadily (libsrt gives the connection
 * up). Losses may tear the row, a packet in the window ends it. */
static void note_beyond(struct ls__link *link, const struct ls__header *header,
                        struct ls__link_event *event) {
  int32_t step = ls__seq_diff(header->seq, link->row_next);
  link->row = step >= 0 && step < LS__ROW_TEAR ? link->row + 1 : 1;
  link->row_next = ls__seq_next(header->seq);
  link->stats.packets_no_room++;
  event->kind = LS__EVENT_BEYOND;
  event->row = link->row;
  event->header = *header;
}

static void measure_rate(struct ls__link *link, size_t payload, int64_t now_ns) {
  int64_t span_ns = now_ns - link->rate_since_ns;
  if (span_ns >= LS_S / 2) {
    link->rate_pps = (uint32_t)(link->rate_packets * (uint64_t)LS_S / (uint64_t)span_ns);
    link->rate_bytes_ps = (uint32_t)(link->rate_bytes * (uint64_t)LS_S / (uint64_t)span_ns);
    link->rate_since_ns = now_ns;
    link->rate_packets = link->rate_bytes = 0;
  }
  link->rate_packets++;
  link->rate_bytes += payload + LS_WIRE_BYTES;
}

static void open_gap(struct ls__link *link, uint32_t first, uint32_t end, int64_t now_ns) {
  if (first == end)
    return;
  bool wait = link->config.reorder_tolerance > 0;
  int64_t ask_at_ns = wait ? now_ns + LS__NAK_INTERVAL_MIN_NS : now_ns;
  for (uint32_t seq = first; seq != end; seq = ls__seq_next(seq)) {
    ls__seqset_add(&link->missing, seq);
    ls__seqset_add(&link->fresh, seq);
    link->ask_at_ns[ls__link_place(link, seq)] = ask_at_ns;
    link->stats.packets_receive_lost++;
  }
  link->nak_at_ns = ls__time_min(link->nak_at_ns, ask_at_ns);
}

/* Whether a later packet is further ahead of `seq` than the tolerance allows. */
static bool overtaken(const struct ls__link *link, uint32_t seq) {
  return ls__seq_diff(link->expected, seq) - 1 > (int32_t)link->config.reorder_tolerance;
}

/* With a reorder tolerance, a fresh loss is asked for once enough later packets have come. */
static void ripen(struct ls__link *link, int64_t now_ns) {
  uint32_t seq;
  if (ls__seqset_first(&link->fresh, link->fresh.base, &seq) && overtaken(link, seq))
    link->nak_at_ns = ls__time_min(link->nak_at_ns, now_ns);
}

void ls__link_on_data(struct ls__link *link, const struct ls__header *header, size_t payload,
                      int64_t now_ns, struct ls__link_event *event) {
  /* Message number 0 is none: libsrt marks the packets of its packet filter with it, which repeat
   * a sequence number and carry no media. A listener with a filter sends them to whoever calls. */
  if (!link->config.receives || payload == 0 || payload > LS_PAYLOAD_MAX || header->key != 0 ||
      header->position != 3 || header->msgno == 0) {
    link->stats.packets_unexpected++;
    return;
  }
  link->stats.packets_received++;
  link->stats.bytes_received += payload + LS_WIRE_BYTES;
  if (header->retransmitted)
    link->stats.packets_received_retransmitted++;
  measure_rate(link, payload, now_ns);
  link->packets_since_ack++;
  uint32_t seq = header->seq;
  if (beyond_window(link, seq)) {
    note_beyond(link, header, event);
    return;
  }
  link->row = 0;
  if (long_ago(link, seq)) {
    link->stats.packets_belated++;
    return;
  }
  if (!ls__seq_before(seq, link->reached))
    link->reached = ls__seq_next(seq);
  int32_t ahead = ls__seq_diff(seq, link->expected);
  if (ahead < 0) {
    ls__seqset_remove(&link->fresh, seq);
    if (!ls__seqset_remove(&link->missing, seq)) {
      link->stats.packets_belated++;
      return;
    }
    link->stats.packets_recovered++;
  } else {
    open_gap(link, link->expected, seq, now_ns);
    link->expected = ls__seq_next(seq);
  }
  ripen(link, now_ns);
  link->stats.packets_received_unique++;
  link->stats.bytes_received_unique += payload + LS_WIRE_BYTES;
  event->kind = LS__EVENT_DATA;
  event->header = *header;
}

void ls__link_satisfied(struct ls__link *link, uint32_t seq) {
  ls__seqset_remove(&link->fresh, seq);
  ls__seqset_remove(&link->missing, seq);
}

void ls__link_receive_floor(struct ls__link *link, uint32_t floor) {
  if (ls__seq_before(link->expected, floor))
    link->expected = floor;
  ls__seqset_advance(&link->fresh, floor);
  ls__seqset_advance(&link->missing, floor);
}

uint32_t ls__link_ack_position(const struct ls__link *link) {
  uint32_t seq;
  return ls__seqset_first(&link->missing, link->missing.base, &seq) ? seq : link->reached;
}

void ls__link_on_dropreq(struct ls__link *link, const uint8_t *payload, size_t len,
                         struct ls__link_event *event) {
  uint32_t first, last;
  if (ls__dropreq_get(payload, len, &first, &last) < 0 || beyond_window(link, first) ||
      beyond_window(link, last) || long_ago(link, last)) {
    link->stats.packets_unexpected++;
    return;
  }
  if (ls__seq_before(first, link->missing.base))
    first = link->missing.base;
  uint32_t end = ls__seq_next(last);
  for (uint32_t seq = first;
       ls__seqset_first(&link->missing, seq, &seq) && ls__seq_before(seq, end);)
    ls__link_satisfied(link, seq);
  /* What lies between the newest and the range may still be on its way: then a later packet shows
   * the gap, and the report of it is answered again. */
  if (!ls__seq_before(link->expected, first)) {
    link->expected = ls__seq_before(link->expected, end) ? end : link->expected;
    link->reached = ls__seq_before(link->reached, end) ? end : link->reached;
  }
  event->kind = LS__EVENT_DROPPED;
  event->first = first;
  event->last = last;
}

void ls__link_on_ackack(struct ls__link *link, const struct ls__header *header, int64_t now_ns,
                        struct ls__link_event *event) {
  struct ls__sent_ack *ack = &link->acks[header->info % LS__ACKS_REMEMBERED];
  if (header->info == 0 || ack->number != header->info) {
    link->stats.packets_unexpected++;
    return;
  }
  if (ack->at_ns == LS_NEVER)
    return; /* the network has repeated it: it measures nothing */
  int64_t rtt_ns = now_ns - ack->at_ns;
  ack->at_ns = LS_NEVER;
  ls__rtt_sample(&link->rtt, rtt_ns);
  if (ls__seq_before(link->ack_confirmed, ack->seq))
    link->ack_confirmed = ack->seq;
  if (ls__seq_before(link->room_confirmed, ack->room_end))
    link->room_confirmed = ack->room_end;
  event->kind = LS__EVENT_SAMPLE;
  event->stamp_us = header->stamp_us;
  event->time_ns = now_ns;
  event->rtt_ns = rtt_ns;
}

/* A sender that has filled the buffer it knows of must hear of new room, and hear it again until it
 * confirms: nothing else will be said. */
static bool stopped_sender(const struct ls__link *link) {
  return !ls__seq_before(link->expected, link->room_confirmed) &&
         ls__seq_before(link->room_confirmed, link->room_end);
}

static int64_t ack_due(const struct ls__link *link) {
  uint32_t position = ls__link_ack_position(link);
  bool stopped = stopped_sender(link);
  if (position == link->ack_confirmed && !stopped)
    return LS_NEVER;
  if (position == link->ack_sent && !(stopped && link->room_sent != link->room_end))
    return link->ack_at_ns + ls__time_max(ls__rtt_timeout(&link->rtt), LS__ACK_INTERVAL_NS);
  return link->ack_at_ns + LS__ACK_INTERVAL_NS;
}

/* Free places after what is acknowledged. */
static uint32_t room_after(const struct ls__link *link, uint32_t position) {
  int32_t room = ls__seq_diff(link->room_end, position);
  return room > 0 ? (uint32_t)room : 0;
}

static bool light_ack_due(const struct ls__link *link) {
  return link->packets_since_ack >= LS__LIGHT_ACK_PACKETS * (link->light_acks + 1);
}

int64_t ls__link_receive_timer(const struct ls__link *link) {
  return light_ack_due(link) ? 0 : ls__time_min(ack_due(link), link->nak_at_ns);
}

size_t ls__link_put_ack(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  struct ls__ack ack = {.seq = ls__link_ack_position(link), .words = 1};
  if (now_ns < ack_due(link)) {
    if (!light_ack_due(link))
      return 0;
    link->light_acks++;
    link->stats.acks_sent++;
    return ls__ack_put(&ack, out);
  }
  ack.words = 7;
  ack.rtt_us = (uint32_t)(link->rtt.smoothed_ns / LS_US);
  ack.rtt_var_us = (uint32_t)(link->rtt.variation_ns / LS_US);
  ack.room_packets = room_after(link, ack.seq);
  ack.rate_pps = link->rate_pps;
  ack.rate_bytes_ps = link->rate_bytes_ps;
  link->ack_number = link->ack_number >= LS_SEQ_MASK ? 1 : link->ack_number + 1;
  link->acks[link->ack_number % LS__ACKS_REMEMBERED] =
      (struct ls__sent_ack){link->ack_number, ack.seq, link->room_end, now_ns};
  link->ack_sent = ack.seq;
  link->ack_at_ns = now_ns;
  link->room_sent = link->room_end;
  link->packets_since_ack = link->light_acks = 0;
  link->stats.acks_sent++;
  return ls__ack_put(&ack, out);
}

static bool due_to_ask(const struct ls__link *link, uint32_t seq, int64_t now_ns) {
  if (link->ask_at_ns[ls__link_place(link, seq)] <= now_ns)
    return true;
  return ls__seqset_has(&link->fresh, seq) && overtaken(link, seq);
}

/* Each loss is reported at once, and again only when the retransmission is overdue: a shorter
 * period makes the peer repeat what is already on its way. */
size_t ls__link_put_nak(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  int64_t again_ns = link->rtt.measured ? ls__rtt_timeout(&link->rtt) : link->rtt.smoothed_ns;
  again_ns =
      link->config.nak_report ? now_ns + ls__time_max(again_ns, LS__NAK_INTERVAL_MIN_NS) : LS_NEVER;
  link->nak_at_ns = LS_NEVER;
  size_t len = 0;
  uint32_t seq, from = link->missing.base;
  while (ls__seqset_first(&link->missing, from, &seq)) {
    from = ls__seq_next(seq);
    int64_t *ask_at_ns = &link->ask_at_ns[ls__link_place(link, seq)];
    if (!due_to_ask(link, seq, now_ns)) {
      link->nak_at_ns = ls__time_min(link->nak_at_ns, *ask_at_ns);
      continue;
    }
    uint32_t last = seq;
    while (ls__seqset_has(&link->missing, ls__seq_next(last)) &&
           due_to_ask(link, ls__seq_next(last), now_ns))
      last = ls__seq_next(last);
    size_t used = ls__nak_put(out + len, link->payload_max - len, seq, last);
    if (used == 0) {
      link->nak_at_ns = now_ns; /* the rest goes into another packet */
      break;
    }
    len += used;
    from = ls__seq_next(last);
    for (; seq != from; seq = ls__seq_next(seq)) {
      link->ask_at_ns[ls__link_place(link, seq)] = again_ns;
      ls__seqset_remove(&link->fresh, seq);
    }
    link->nak_at_ns = ls__time_min(link->nak_at_ns, again_ns);
  }
  if (len)
    link->stats.naks_sent++;
  return len;
}
