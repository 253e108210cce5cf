#include "srt/packet.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/seq.h"
#include "lockstep.h"

#define CONTROL_BIT UINT32_C(0x80000000)
#define RANGE_BIT UINT32_C(0x80000000)
#define ORDER_BIT UINT32_C(0x20000000)
#define REXMIT_BIT UINT32_C(0x04000000)

int ls__header_get(const uint8_t *data, size_t len, struct ls__header *header) {
  if (len < LS_HEADER_BYTES)
    return LS_EFORMAT;
  uint32_t w0 = ls__get32(data);
  uint32_t w1 = ls__get32(data + 4);
  *header = (struct ls__header){.stamp_us = ls__get32(data + 8), .socket_id = ls__get32(data + 12)};
  header->control = w0 & CONTROL_BIT;
  if (header->control) {
    header->type = (uint16_t)(w0 >> 16 & 0x7FFF);
    header->subtype = (uint16_t)w0;
    header->info = w1;
    return 0;
  }
  header->seq = w0;
  header->position = (uint8_t)(w1 >> 30);
  header->in_order = w1 & ORDER_BIT;
  header->key = (uint8_t)(w1 >> 27 & 3);
  header->retransmitted = w1 & REXMIT_BIT;
  header->msgno = w1 & LS_MSGNO_MAX;
  return 0;
}

void ls__header_put(const struct ls__header *header, uint8_t *out) {
  uint32_t w0, w1;
  if (header->control) {
    w0 = CONTROL_BIT | (uint32_t)header->type << 16 | header->subtype;
    w1 = header->info;
  } else {
    LS_ASSERT(header->seq <= LS_SEQ_MASK && header->msgno <= LS_MSGNO_MAX);
    w0 = header->seq;
    w1 = (uint32_t)header->position << 30 | (header->in_order ? ORDER_BIT : 0) |
         (uint32_t)(header->key & 3) << 27 | (header->retransmitted ? REXMIT_BIT : 0) |
         header->msgno;
  }
  ls__put32(out, w0);
  ls__put32(out + 4, w1);
  ls__put32(out + 8, header->stamp_us);
  ls__put32(out + 12, header->socket_id);
}

int ls__ack_get(const uint8_t *payload, size_t len, struct ls__ack *ack) {
  if (len < 4)
    return LS_EFORMAT;
  *ack = (struct ls__ack){.seq = ls__get32(payload), .words = 1};
  if (ack->seq > LS_SEQ_MASK)
    return LS_EFORMAT;
  if (len >= 16) {
    ack->rtt_us = ls__get32(payload + 4);
    ack->rtt_var_us = ls__get32(payload + 8);
    ack->room_packets = ls__get32(payload + 12);
    ack->words = 4;
  }
  if (len >= 28) {
    ack->rate_pps = ls__get32(payload + 16);
    ack->capacity_pps = ls__get32(payload + 20);
    ack->rate_bytes_ps = ls__get32(payload + 24);
    ack->words = 7;
  }
  return 0;
}

size_t ls__ack_put(const struct ls__ack *ack, uint8_t *out) {
  LS_ASSERT(ack->words == 1 || ack->words == 4 || ack->words == 7);
  const uint32_t words[7] = {ack->seq,      ack->rtt_us,       ack->rtt_var_us,   ack->room_packets,
                             ack->rate_pps, ack->capacity_pps, ack->rate_bytes_ps};
  for (size_t i = 0; i < ack->words; i++)
    ls__put32(out + 4 * i, words[i]);
  return 4u * ack->words;
}

int ls__nak_next(struct ls__nak_reader *reader, uint32_t *first, uint32_t *last) {
  size_t left = reader->len - reader->at;
  if (left == 0)
    return 0;
  if (left < 4)
    return LS_EFORMAT;
  uint32_t word = ls__get32(reader->payload + reader->at);
  *first = *last = word & ~RANGE_BIT;
  reader->at += 4;
  if (!(word & RANGE_BIT))
    return 1;
  if (left < 8)
    return LS_EFORMAT;
  *last = ls__get32(reader->payload + reader->at);
  reader->at += 4;
  if (*last > LS_SEQ_MASK || ls__seq_before(*last, *first))
    return LS_EFORMAT;
  return 1;
}

size_t ls__nak_put(uint8_t *out, size_t room, uint32_t first, uint32_t last) {
  LS_ASSERT(!ls__seq_before(last, first));
  if (first == last) {
    if (room < 4)
      return 0;
    ls__put32(out, first);
    return 4;
  }
  if (room < 8)
    return 0;
  ls__put32(out, first | RANGE_BIT);
  ls__put32(out + 4, last);
  return 8;
}

int ls__dropreq_get(const uint8_t *payload, size_t len, uint32_t *first, uint32_t *last) {
  if (len < 8)
    return LS_EFORMAT;
  *first = ls__get32(payload);
  *last = ls__get32(payload + 4);
  if (*first > LS_SEQ_MASK || *last > LS_SEQ_MASK || ls__seq_before(*last, *first))
    return LS_EFORMAT;
  return 0;
}
