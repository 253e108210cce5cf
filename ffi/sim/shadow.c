#include "sim/shadow.h"

#include "base/seq.h"

static const char *check_data(struct ls__shadow_end *me, const struct ls__header *header,
                              size_t payload) {
  if (payload == 0 || payload > LS_PAYLOAD_MAX)
    return "a payload of a length that no peer takes";
  if (header->position != 3 || header->msgno == 0)
    return "a data packet that is not a whole message";
  if (header->retransmitted)
    return me->sent_any && !ls__seq_before(me->newest, header->seq)
               ? NULL
               : "a retransmission of what was never sent";
  if (me->sent_any && !ls__seq_before(me->newest, header->seq))
    return "a new packet behind one already sent on this link";
  me->newest = header->seq;
  me->sent_any = true;
  return NULL;
}

static const char *check_ack(struct ls__shadow_end *me, const struct ls__shadow_end *peer,
                             const struct ls__header *header, const uint8_t *payload, size_t len) {
  struct ls__ack ack;
  if (ls__ack_get(payload, len, &ack) < 0)
    return "a malformed acknowledgement";
  if (peer->sent_any && ls__seq_before(ls__seq_next(peer->newest), ack.seq))
    return "an acknowledgement of what was never sent on this link";
  if (me->acked_any && ls__seq_before(ack.seq, me->ack_position))
    return "an acknowledgement that goes back";
  me->acked_any = true;
  me->ack_position = ack.seq;
  if (ack.words == 1)
    return header->info == 0 ? NULL : "a light acknowledgement with a number";
  if (header->info == 0)
    return "a full acknowledgement without a number";
  me->ack_number = header->info;
  return NULL;
}

static const char *check_nak(const struct ls__shadow_end *peer, const uint8_t *payload,
                             size_t len) {
  struct ls__nak_reader reader = {.payload = payload, .len = len};
  uint32_t first, last;
  int more;
  if (len == 0)
    return "an empty loss report";
  while ((more = ls__nak_next(&reader, &first, &last)) > 0)
    if (!peer->sent_any || ls__seq_before(peer->newest, last))
      return "a loss report of what was never sent on this link";
  return more < 0 ? "a malformed loss report" : NULL;
}

static const char *check_control(struct ls__shadow *shadow, unsigned end,
                                 const struct ls__header *header, const uint8_t *payload,
                                 size_t len) {
  struct ls__shadow_end *me = &shadow->ends[end];
  const struct ls__shadow_end *peer = &shadow->ends[1 - end];
  uint32_t first, last;
  switch (header->type) {
  case LS__CONTROL_ACK:
    return check_ack(me, peer, header, payload, len);
  case LS__CONTROL_NAK:
    return check_nak(peer, payload, len);
  case LS__CONTROL_ACKACK:
    return header->info != 0 && header->info <= peer->ack_number
               ? NULL
               : "an answer to an acknowledgement that was never sent";
  case LS__CONTROL_DROPREQ:
    return ls__dropreq_get(payload, len, &first, &last) < 0 ? "a malformed drop request" : NULL;
  case LS__CONTROL_KEEPALIVE:
  case LS__CONTROL_SHUTDOWN:
    return len == 4 ? NULL : "an empty control packet without its one word";
  default:
    return NULL;
  }
}

const char *ls__shadow_sent(struct ls__shadow *shadow, unsigned end, const uint8_t *data,
                            size_t len) {
  struct ls__header header;
  if (ls__header_get(data, len, &header) < 0)
    return "a datagram without a header";
  if (!header.control)
    return check_data(&shadow->ends[end], &header, len - LS_HEADER_BYTES);
  return check_control(shadow, end, &header, data + LS_HEADER_BYTES, len - LS_HEADER_BYTES);
}
