/* The send buffer of a stream: each payload once, whatever the number of links, from the moment it
 * is pushed until every link has it acknowledged or it is too late. */
#ifndef LS__STREAM_SENDBUF_H
#define LS__STREAM_SENDBUF_H

#include "srt/packet.h"

struct ls__send_slot {
  int64_t source_ns; /* nominal first departure: what the header's stamp says */
  uint32_t stamp_us; /* the same as it stands in the header, on every link */
  uint32_t msgno;
  uint16_t len;
};

struct ls__sendbuf {
  struct ls__send_slot *slots;
  uint8_t *payload;    /* LS_PAYLOAD_MAX a slot */
  uint32_t capacity;   /* a power of two */
  uint32_t first, end; /* sequence numbers held: [first, end) */
};

/** Allocates `capacity` places (a power of two). 0 or LS_ENOMEM. */
int ls__sendbuf_init(struct ls__sendbuf *buf, uint32_t capacity);
void ls__sendbuf_free(struct ls__sendbuf *buf);

/** Empties the buffer; the next packet gets `seq`. */
void ls__sendbuf_reset(struct ls__sendbuf *buf, uint32_t seq);

uint32_t ls__sendbuf_count(const struct ls__sendbuf *buf);

/** Appends a payload of 1..LS_PAYLOAD_MAX bytes. 0, or LS_ELIMIT when the buffer is full. */
int ls__sendbuf_push(struct ls__sendbuf *buf, const uint8_t *payload, size_t len,
                     const struct ls__send_slot *slot);

/** The slot of a sequence number that the buffer holds, NULL when it does not. */
const struct ls__send_slot *ls__sendbuf_slot(const struct ls__sendbuf *buf, uint32_t seq);

/** Its payload. */
const uint8_t *ls__sendbuf_payload(const struct ls__sendbuf *buf, uint32_t seq);

/** Lets go of everything before `floor`. */
void ls__sendbuf_release(struct ls__sendbuf *buf, uint32_t floor);

/** First sequence number whose source time is after `limit_ns`; `end` when there is none. */
uint32_t ls__sendbuf_first_after(const struct ls__sendbuf *buf, int64_t limit_ns);

#endif
