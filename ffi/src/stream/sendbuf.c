#include "stream/sendbuf.h"

#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"

#include <string.h>

int ls__sendbuf_init(struct ls__sendbuf *buf, uint32_t capacity) {
  LS_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
  *buf = (struct ls__sendbuf){.capacity = capacity};
  buf->slots = calloc(capacity, sizeof *buf->slots);
  buf->payload = malloc((size_t)capacity * LS_PAYLOAD_MAX);
  if (buf->slots && buf->payload)
    return 0;
  ls__sendbuf_free(buf);
  return LS_ENOMEM;
}

void ls__sendbuf_free(struct ls__sendbuf *buf) {
  free(buf->slots);
  free(buf->payload);
  *buf = (struct ls__sendbuf){0};
}

void ls__sendbuf_reset(struct ls__sendbuf *buf, uint32_t seq) {
  buf->first = buf->end = seq;
}

uint32_t ls__sendbuf_count(const struct ls__sendbuf *buf) {
  return (uint32_t)ls__seq_diff(buf->end, buf->first);
}

static size_t place(const struct ls__sendbuf *buf, uint32_t seq) {
  return seq & (buf->capacity - 1);
}

int ls__sendbuf_push(struct ls__sendbuf *buf, const uint8_t *payload, size_t len,
                     const struct ls__send_slot *slot) {
  LS_ASSERT(len > 0 && len <= LS_PAYLOAD_MAX);
  if (ls__sendbuf_count(buf) == buf->capacity)
    return LS_ELIMIT;
  size_t at = place(buf, buf->end);
  buf->slots[at] = *slot;
  buf->slots[at].len = (uint16_t)len;
  memcpy(buf->payload + at * LS_PAYLOAD_MAX, payload, len);
  buf->end = ls__seq_next(buf->end);
  return 0;
}

const struct ls__send_slot *ls__sendbuf_slot(const struct ls__sendbuf *buf, uint32_t seq) {
  if (ls__seq_before(seq, buf->first) || !ls__seq_before(seq, buf->end))
    return NULL;
  return &buf->slots[place(buf, seq)];
}

const uint8_t *ls__sendbuf_payload(const struct ls__sendbuf *buf, uint32_t seq) {
  return buf->payload + place(buf, seq) * LS_PAYLOAD_MAX;
}

void ls__sendbuf_release(struct ls__sendbuf *buf, uint32_t floor) {
  if (!ls__seq_before(buf->first, floor))
    return;
  buf->first = ls__seq_before(buf->end, floor) ? buf->end : floor;
}

uint32_t ls__sendbuf_first_after(const struct ls__sendbuf *buf, int64_t limit_ns) {
  uint32_t seq = buf->first;
  while (seq != buf->end && buf->slots[place(buf, seq)].source_ns <= limit_ns)
    seq = ls__seq_next(seq);
  return seq;
}
