/* The receive buffer of a stream: indexed by sequence number, fed by all links, read in order. */
#ifndef LS__STREAM_RECVBUF_H
#define LS__STREAM_RECVBUF_H

#include "base/seqset.h"
#include "srt/packet.h"

struct ls__recv_slot {
  int64_t stamp_us; /* the header's stamp, unwrapped to 64 bits */
  uint32_t seq;
  uint16_t len;
};

struct ls__recvbuf {
  struct ls__recv_slot *slots;
  uint8_t *payload; /* LS_PAYLOAD_MAX a slot */
  uint32_t capacity;
  uint32_t first;            /* next to be read */
  uint32_t end;              /* newest held or read + 1 */
  struct ls__seqset present; /* what is held */
};

enum ls__recv_verdict { LS__RECV_NEW, LS__RECV_KNOWN, LS__RECV_LATE, LS__RECV_NO_ROOM };

/** Allocates `capacity` places (a power of two, at least 64). 0 or LS_ENOMEM. */
int ls__recvbuf_init(struct ls__recvbuf *buf, uint32_t capacity);
void ls__recvbuf_free(struct ls__recvbuf *buf);

/** Empties the buffer; the stream begins at `seq`. */
void ls__recvbuf_reset(struct ls__recvbuf *buf, uint32_t seq);

/** Stores a payload of 1..LS_PAYLOAD_MAX bytes, or says why not. */
enum ls__recv_verdict ls__recvbuf_insert(struct ls__recvbuf *buf, uint32_t seq, int64_t stamp_us,
                                         const uint8_t *payload, size_t len);

/** The oldest packet held, a gap before it or not; NULL when the buffer is empty. */
const struct ls__recv_slot *ls__recvbuf_oldest(const struct ls__recvbuf *buf);

/** The newest packet held; NULL when the buffer is empty. */
const struct ls__recv_slot *ls__recvbuf_newest(const struct ls__recvbuf *buf);

const uint8_t *ls__recvbuf_payload(const struct ls__recvbuf *buf, const struct ls__recv_slot *slot);

/** Takes out the oldest packet; how many missing ones before it are skipped for good. */
uint32_t ls__recvbuf_pop(struct ls__recvbuf *buf);

#endif
