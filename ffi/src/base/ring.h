/* A bounded ring of variable-size records between one writing and one reading thread. A record is
 * written whole or not at all; what did not fit is counted. */
#ifndef LS__BASE_RING_H
#define LS__BASE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ls__ring {
  uint8_t *bytes;
  uint32_t capacity;              /* a power of two */
  _Atomic uint64_t written, read; /* byte positions since the start */
  _Atomic uint64_t refused;       /* records that did not fit */
};

/** Allocates `capacity` bytes (a power of two, at least 64); 0 or LS_ENOMEM. */
int ls__ring_init(struct ls__ring *ring, uint32_t capacity);
void ls__ring_free(struct ls__ring *ring);

/** Writes one record of `len` bytes; false, counted in `refused`, when it does not fit. */
bool ls__ring_write(struct ls__ring *ring, const void *record, uint32_t len);

/** Reads the oldest record into `record`; its length, 0 when the ring is empty. A record longer
 * than `capacity` is a programmer error. */
uint32_t ls__ring_read(struct ls__ring *ring, void *record, uint32_t capacity);

/** Bytes free for the writer, the 4 bytes of each record's length included. */
uint32_t ls__ring_space(const struct ls__ring *ring);

bool ls__ring_empty(const struct ls__ring *ring);

#endif
