/* What libsrt demands of its peer, as a checker for tests: every packet that an end sends on a link
 * is held against the rules by which libsrt drops packets or breaks connections, and against those
 * of draft-sharabayko-srt §3. Included by tests only. */
#ifndef LS__SRT_SHADOW_TESTING_H
#define LS__SRT_SHADOW_TESTING_H

#include "base/seq.h"
#include "srt/packet.h"
#include "srt/testing.h"

#include <stdlib.h>

#define LS__TEST_SHADOW_PLACES 8192

/* One data packet as it was sent first. */
struct ls__test_sent {
  uint32_t seq, stamp_us, msgno, hash;
  size_t len;
};

struct ls__test_shadow_end {
  bool any;        /* has sent data */
  uint32_t newest; /* its sequence number */
  uint32_t oldest; /* first one sent on this link */
  uint32_t data_stamp_us, control_stamp_us;
  bool any_control;
  bool acked;
  uint32_t ack_seq, ack_number;
  uint32_t socket_id;
  struct ls__test_sent *sent;
};

struct ls__test_shadow {
  struct ls__test_shadow_end ends[2];
  uint32_t isn;        /* of the caller's conclusion */
  uint8_t answer[256]; /* to it */
  size_t answer_len;
};

static inline void ls__test_shadow_init(struct ls__test_shadow *shadow) {
  memset(shadow, 0, sizeof *shadow);
  for (int i = 0; i < 2; i++) {
    shadow->ends[i].sent = calloc(LS__TEST_SHADOW_PLACES, sizeof *shadow->ends[i].sent);
    assert_non_null(shadow->ends[i].sent);
  }
}

static inline void ls__test_shadow_free(struct ls__test_shadow *shadow) {
  for (int i = 0; i < 2; i++)
    free(shadow->ends[i].sent);
}

static inline const char *ls__test_shadow_data(struct ls__test_shadow_end *me,
                                               const struct ls__header *header, const uint8_t *data,
                                               size_t len) {
  struct ls__test_sent now = {
      .seq = header->seq, .stamp_us = header->stamp_us, .msgno = header->msgno, .len = len};
  for (size_t i = LS_HEADER_BYTES; i < len; i++)
    now.hash = now.hash * 31 + data[i];
  if (len <= LS_HEADER_BYTES || len > LS_DATAGRAM_MAX)
    return "a payload of a length that no peer takes";
  if (header->position != 3 || header->key || header->in_order)
    return "a data packet that is not a whole clear message";
  if (header->msgno == 0)
    return "message number 0";
  struct ls__test_sent *place = &me->sent[header->seq % LS__TEST_SHADOW_PLACES];
  if (header->retransmitted) {
    if (!me->any || ls__seq_before(me->newest, header->seq) || place->seq != now.seq ||
        place->len == 0)
      return "a retransmission of what was never sent";
    return place->stamp_us == now.stamp_us && place->msgno == now.msgno && place->len == now.len &&
                   place->hash == now.hash
               ? NULL
               : "a retransmission that differs from the original";
  }
  if (me->any && !ls__seq_before(me->newest, header->seq))
    return "new data behind what was sent";
  const struct ls__test_sent *before = &me->sent[me->newest % LS__TEST_SHADOW_PLACES];
  if (me->any && ls__seq_next(me->newest) == header->seq &&
      ls__msgno_next(before->msgno) != header->msgno)
    return "message numbers that do not count";
  if (me->any && (int32_t)(header->stamp_us - me->data_stamp_us) < 0)
    return "data stamps that run backwards";
  if (!me->any)
    me->oldest = header->seq;
  me->any = true;
  me->newest = header->seq;
  me->data_stamp_us = header->stamp_us;
  *place = now;
  return NULL;
}

static inline const char *ls__test_shadow_ack(struct ls__test_shadow_end *me,
                                              const struct ls__test_shadow_end *peer,
                                              const struct ls__header *header, const uint8_t *cif,
                                              size_t len) {
  struct ls__ack ack;
  if (ls__ack_get(cif, len, &ack) < 0 || len != 4u * ack.words)
    return "an acknowledgement of a length that there is not";
  if (!peer->any || ls__seq_before(ls__seq_next(peer->newest), ack.seq))
    return "an acknowledgement of what was never sent";
  if (me->acked && ls__seq_before(ack.seq, me->ack_seq))
    return "an acknowledgement that goes back";
  me->acked = true;
  me->ack_seq = ack.seq;
  if (ack.words == 1)
    return header->info == 0 ? NULL : "a light acknowledgement with a number";
  uint32_t number = me->ack_number == LS_SEQ_MASK ? 1 : me->ack_number + 1;
  if (me->ack_number && header->info != number)
    return "acknowledgement numbers that do not count";
  me->ack_number = header->info;
  return header->info != 0 && header->info <= LS_SEQ_MASK ? NULL : "a wrong acknowledgement number";
}

static inline const char *ls__test_shadow_nak(const struct ls__test_shadow_end *peer,
                                              const uint8_t *cif, size_t len) {
  struct ls__nak_reader reader = {.payload = cif, .len = len};
  uint32_t first, last;
  int more;
  if (len == 0 || len > LS_PAYLOAD_MAX)
    return "a loss report of a length that no peer takes";
  while ((more = ls__nak_next(&reader, &first, &last)) > 0)
    if (!peer->any || ls__seq_before(peer->newest, last) || ls__seq_before(peer->newest, first))
      return "a loss report of what was never sent";
  return more < 0 ? "a malformed loss report" : NULL;
}

/* The number of an ACKACK is one of the last 1024 of the peer's acknowledgements. */
static inline bool ls__test_shadow_knows(const struct ls__test_shadow_end *peer, uint32_t number) {
  uint32_t ago = peer->ack_number >= number ? peer->ack_number - number
                                            : peer->ack_number + LS_SEQ_MASK - number;
  return number != 0 && peer->ack_number != 0 && ago < 1024;
}

static inline const char *ls__test_shadow_handshake(struct ls__test_shadow *shadow, unsigned end,
                                                    const struct ls__header *header,
                                                    const uint8_t *cif, size_t len) {
  struct ls__handshake hs;
  if (ls__handshake_get(cif, len, &hs) < 0)
    return "a malformed handshake";
  if (end == 0 && header->socket_id != 0)
    return "a request with a destination";
  if (end == 1 && header->socket_id == 0)
    return "an answer without a destination";
  if (hs.request != LS__REQUEST_CONCLUSION)
    return NULL;
  if (end == 0)
    shadow->isn = hs.isn;
  else if (hs.isn != shadow->isn || !hs.has_hs || !hs.hs_response)
    return "an answer that is not to the request";
  shadow->ends[end].socket_id = hs.socket_id;
  if (end == 0)
    return NULL;
  if (shadow->answer_len == 0) {
    assert_true(len <= sizeof shadow->answer);
    memcpy(shadow->answer, cif, len);
    shadow->answer_len = len;
  }
  return len == shadow->answer_len && memcmp(cif, shadow->answer, len) == 0
             ? NULL
             : "another answer to the same request";
}

static inline const char *ls__test_shadow_control(struct ls__test_shadow *shadow, unsigned end,
                                                  const struct ls__header *header,
                                                  const uint8_t *cif, size_t len) {
  struct ls__test_shadow_end *me = &shadow->ends[end];
  const struct ls__test_shadow_end *peer = &shadow->ends[1 - end];
  uint32_t first, last;
  switch (header->type) {
  case LS__CONTROL_ACK:
    return ls__test_shadow_ack(me, peer, header, cif, len);
  case LS__CONTROL_NAK:
    return ls__test_shadow_nak(peer, cif, len);
  case LS__CONTROL_DROPREQ:
    if (len != 8 || ls__dropreq_get(cif, len, &first, &last) < 0)
      return "a malformed drop request";
    return me->any && !ls__seq_before(me->newest, last) ? NULL : "a drop request of the future";
  case LS__CONTROL_ACKACK:
    if (!ls__test_shadow_knows(peer, header->info))
      return "an answer to an acknowledgement that was never sent";
    return len == 4 && ls__get32(cif) == 0 ? NULL : "an ACKACK without its one zero word";
  case LS__CONTROL_KEEPALIVE:
  case LS__CONTROL_SHUTDOWN:
    return len == 4 && ls__get32(cif) == 0 && header->info == 0
               ? NULL
               : "an empty packet without its one zero word";
  default:
    return "a control packet of a type that live mode does not send";
  }
}

/** Notes a datagram that `end` (0 calls, 1 listens) sends; NULL, or what is wrong with it. */
static inline const char *ls__test_shadow_sent(struct ls__test_shadow *shadow, unsigned end,
                                               const uint8_t *data, size_t len) {
  struct ls__test_shadow_end *me = &shadow->ends[end];
  struct ls__header header;
  if (ls__header_get(data, len, &header) < 0)
    return "a datagram without a header";
  const uint8_t *cif = data + LS_HEADER_BYTES;
  if (header.control && header.type == LS__CONTROL_HANDSHAKE)
    return ls__test_shadow_handshake(shadow, end, &header, cif, len - LS_HEADER_BYTES);
  if (header.socket_id != shadow->ends[1 - end].socket_id)
    return "a packet to another socket";
  if (!header.control)
    return ls__test_shadow_data(me, &header, data, len);
  if (header.subtype != 0)
    return "a control packet with a subtype";
  if (me->any_control && (int32_t)(header.stamp_us - me->control_stamp_us) < 0)
    return "control stamps that run backwards";
  me->any_control = true;
  me->control_stamp_us = header.stamp_us;
  return ls__test_shadow_control(shadow, end, &header, cif, len - LS_HEADER_BYTES);
}

#endif
