/* The sending half: what to send next, what to repeat, what the peer has. */
#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/link.h"

/* Long ago: sent once and not repeated. */
#define NOT_REPEATED (-LS_NEVER / 2)

static bool peer_is_full(const struct ls__link *link) {
  return !ls__seq_before(link->next, link->peer_window_end) ||
         !ls__seqset_in_window(&link->lost, link->next);
}

bool ls__link_next_data(struct ls__link *link, uint32_t end, int64_t now_ns, uint32_t *seq,
                        bool *retransmitted) {
  if (link->phase != LS__LINK_CONNECTED)
    return false;
  /* New data first: a retransmission has waited already, and a live source does not. */
  if (ls__seq_before(link->next, end) && !peer_is_full(link)) {
    *seq = link->next;
    *retransmitted = false;
    return true;
  }
  /* What was repeated less than a round trip ago is on its way: it is forgotten here, and the
   * peer's next report brings it back if it is still missing. */
  int64_t recent_ns = link->rtt.smoothed_ns - 4 * link->rtt.variation_ns;
  while (ls__seqset_first(&link->lost, link->lost.base, seq)) {
    *retransmitted = true;
    if (now_ns - link->repeated_at_ns[ls__link_place(link, *seq)] >= recent_ns)
      return true;
    ls__seqset_remove(&link->lost, *seq);
  }
  return false;
}

void ls__link_sent_data(struct ls__link *link, uint32_t seq, bool retransmitted, size_t payload,
                        int64_t now_ns) {
  uint64_t bytes = payload + LS_WIRE_BYTES;
  link->repeated_at_ns[ls__link_place(link, seq)] = retransmitted ? now_ns : NOT_REPEATED;
  link->sent_ns = now_ns;
  link->stats.packets_sent++;
  link->stats.bytes_sent += bytes;
  if (retransmitted) {
    ls__seqset_remove(&link->lost, seq);
    link->stats.packets_retransmitted++;
    link->stats.bytes_retransmitted += bytes;
    return;
  }
  LS_ASSERT(seq == link->next);
  if (link->acked == link->next)
    link->acked_ns = now_ns; /* the flight begins */
  link->next = ls__seq_next(seq);
  link->progress_ns = now_ns;
  link->stats.packets_sent_unique++;
  link->stats.bytes_sent_unique += bytes;
}

void ls__link_send_floor(struct ls__link *link, uint32_t floor) {
  if (ls__seq_before(link->next, floor))
    link->next = floor;
  if (ls__seq_before(link->acked, floor)) {
    /* What is given up takes no place of the peer's buffer: its window moves along, or after an
     * outage longer than the window nothing would ever be sent again. */
    link->peer_window_end = ls__seq_add(link->peer_window_end, ls__seq_diff(floor, link->acked));
    link->acked = floor;
  }
  ls__seqset_advance(&link->lost, floor);
}

static void answer_ack(struct ls__link *link, const struct ls__header *header) {
  if (link->ackack_count < LS__ANSWERS_MAX)
    link->ackacks[link->ackack_count++] = header->info;
  else
    link->stats.answers_dropped++;
}

void ls__link_on_ack(struct ls__link *link, const struct ls__header *header, const uint8_t *payload,
                     size_t len, int64_t now_ns, struct ls__link_event *event) {
  struct ls__ack ack;
  /* More than was sent can only be forged or broken: the connection must not suffer from it. */
  if (ls__ack_get(payload, len, &ack) < 0 || ls__seq_before(link->next, ack.seq)) {
    link->stats.packets_unexpected++;
    return;
  }
  link->stats.acks_received++;
  if (ack.words > 1) {
    answer_ack(link, header);
    /* A buffer that is read in order has an end that only moves on: an acknowledgement that was
     * overtaken must not take room back. */
    uint32_t room = ack.room_packets < link->window ? ack.room_packets : link->window;
    uint32_t window_end = ls__seq_add(ack.seq, (int32_t)room);
    if (!ls__seq_before(ack.seq, link->acked) && ls__seq_before(link->peer_window_end, window_end))
      link->peer_window_end = window_end;
    /* The peer measures the round trip; 100/50 ms are its initial guess, not a measurement. */
    if (!link->config.receives && !(ack.rtt_us == 100000 && ack.rtt_var_us == 50000)) {
      link->rtt = (struct ls__rtt){.smoothed_ns = ack.rtt_us * LS_US,
                                   .variation_ns = ack.rtt_var_us * LS_US,
                                   .measured = true};
    }
  }
  if (!ls__seq_before(link->acked, ack.seq))
    return;
  link->acked = ack.seq;
  link->acked_ns = now_ns;
  link->progress_ns = now_ns;
  ls__seqset_advance(&link->lost, ack.seq);
  event->kind = LS__EVENT_ACKED;
  event->first = ack.seq;
}

static void answer_drop(struct ls__link *link, uint32_t first, uint32_t last) {
  if (link->drop_count < LS__ANSWERS_MAX)
    link->drops[link->drop_count++] = (struct ls__range){first, last};
  else
    link->stats.answers_dropped++;
}

/* Takes up one range of a loss report; how many numbers of what is in flight it names. */
static uint32_t take_loss(struct ls__link *link, uint32_t first, uint32_t last) {
  /* What is no longer kept is answered, or the peer would wait for it in vain. */
  if (ls__seq_before(first, link->acked)) {
    uint32_t before = ls__seq_add(link->acked, -1);
    answer_drop(link, first, ls__seq_before(last, before) ? last : before);
    first = link->acked;
  }
  uint32_t named = 0;
  for (; !ls__seq_before(last, first); first = ls__seq_next(first)) {
    link->stats.packets_send_lost += ls__seqset_add(&link->lost, first);
    named++;
  }
  return named;
}

void ls__link_on_nak(struct ls__link *link, const uint8_t *payload, size_t len) {
  struct ls__nak_reader reader = {.payload = payload, .len = len};
  uint32_t first, last, named = 0;
  int more;
  link->stats.naks_received++;
  while ((more = ls__nak_next(&reader, &first, &last)) > 0) {
    /* Never sent, or named over and over: forged or broken. A report of honest ranges names no
     * number twice, so that one datagram costs no more than one window of work. */
    if (!ls__seq_before(first, link->next) || !ls__seq_before(last, link->next) ||
        named >= link->window) {
      link->stats.packets_unexpected++;
      return;
    }
    named += take_loss(link, first, last);
  }
  if (more < 0)
    link->stats.packets_unexpected++;
}

/* A peer that reports each loss once only (no NAKREPORT flag) says nothing when that report is
 * lost: all that is in flight is repeated when no acknowledgement moves (draft-sharabayko-srt
 * §4.8.2). */
static bool peer_reports_once(const struct ls__link *link) {
  return !(link->peer_flags & LS__FLAG_NAKREPORT);
}

/* A lost last packet opens no gap, so the peer never asks for it, nor for a whole window of lost
 * ones: after the time-out the newest unacknowledged packet is repeated, and what is missing before
 * it shows. */
int64_t ls__link_tail_timer(const struct ls__link *link, uint32_t end) {
  if (peer_reports_once(link))
    return ls__seq_before(link->acked, link->next) && !link->lost.count
               ? link->acked_ns + ls__rtt_timeout(&link->rtt) + 2 * LS__ACK_INTERVAL_NS
               : LS_NEVER;
  bool silent = !ls__seq_before(link->next, end) || peer_is_full(link);
  if (!ls__seq_before(link->acked, link->next) || !silent || link->lost.count)
    return LS_NEVER;
  uint32_t newest = ls__seq_add(link->next, -1);
  int64_t since_ns =
      ls__time_max(link->progress_ns, link->repeated_at_ns[ls__link_place(link, newest)]);
  return since_ns + ls__rtt_timeout(&link->rtt) + 2 * LS__ACK_INTERVAL_NS;
}

void ls__link_tail(struct ls__link *link, uint32_t end, int64_t now_ns) {
  if (now_ns < ls__link_tail_timer(link, end))
    return;
  uint32_t seq = peer_reports_once(link) ? link->acked : ls__seq_add(link->next, -1);
  for (; ls__seq_before(seq, link->next); seq = ls__seq_next(seq))
    ls__seqset_add(&link->lost, seq);
  link->acked_ns = now_ns;
}
