#include "stream/recvbuf.h"

#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"

#include <string.h>

int ls__recvbuf_init(struct ls__recvbuf *buf, uint32_t capacity) {
  *buf = (struct ls__recvbuf){.capacity = capacity};
  buf->slots = calloc(capacity, sizeof *buf->slots);
  buf->payload = malloc((size_t)capacity * LS_PAYLOAD_MAX);
  if (buf->slots && buf->payload && ls__seqset_init(&buf->present, capacity, 0) == 0)
    return 0;
  ls__recvbuf_free(buf);
  return LS_ENOMEM;
}

void ls__recvbuf_free(struct ls__recvbuf *buf) {
  free(buf->slots);
  free(buf->payload);
  ls__seqset_free(&buf->present);
  *buf = (struct ls__recvbuf){0};
}

void ls__recvbuf_reset(struct ls__recvbuf *buf, uint32_t seq) {
  buf->first = buf->end = seq;
  ls__seqset_reset(&buf->present, seq);
}

static size_t place(const struct ls__recvbuf *buf, uint32_t seq) {
  return seq & (buf->capacity - 1);
}

enum ls__recv_verdict ls__recvbuf_insert(struct ls__recvbuf *buf, uint32_t seq, int64_t stamp_us,
                                         const uint8_t *payload, size_t len) {
  LS_ASSERT(len > 0 && len <= LS_PAYLOAD_MAX);
  if (ls__seq_before(seq, buf->first))
    return LS__RECV_LATE;
  if (!ls__seqset_in_window(&buf->present, seq))
    return LS__RECV_NO_ROOM;
  if (!ls__seqset_add(&buf->present, seq))
    return LS__RECV_KNOWN;
  size_t at = place(buf, seq);
  buf->slots[at] = (struct ls__recv_slot){.stamp_us = stamp_us, .seq = seq, .len = (uint16_t)len};
  memcpy(buf->payload + at * LS_PAYLOAD_MAX, payload, len);
  if (!ls__seq_before(seq, buf->end))
    buf->end = ls__seq_next(seq);
  return LS__RECV_NEW;
}

const struct ls__recv_slot *ls__recvbuf_oldest(const struct ls__recvbuf *buf) {
  uint32_t seq;
  if (!ls__seqset_first(&buf->present, buf->first, &seq))
    return NULL;
  return &buf->slots[place(buf, seq)];
}

const struct ls__recv_slot *ls__recvbuf_newest(const struct ls__recvbuf *buf) {
  return buf->present.count ? &buf->slots[place(buf, ls__seq_add(buf->end, -1))] : NULL;
}

const uint8_t *ls__recvbuf_payload(const struct ls__recvbuf *buf,
                                   const struct ls__recv_slot *slot) {
  return buf->payload + place(buf, slot->seq) * LS_PAYLOAD_MAX;
}

uint32_t ls__recvbuf_pop(struct ls__recvbuf *buf) {
  const struct ls__recv_slot *slot = ls__recvbuf_oldest(buf);
  LS_ASSERT(slot);
  uint32_t skipped = (uint32_t)ls__seq_diff(slot->seq, buf->first);
  buf->first = ls__seq_next(slot->seq);
  ls__seqset_advance(&buf->present, buf->first);
  return skipped;
}
