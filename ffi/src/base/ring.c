#include "base/ring.h"

#include "base/assert.h"
#include "lockstep.h"

#include <string.h>

static void copy_in(struct ls__ring *ring, uint64_t at, const void *data, uint32_t len) {
  uint32_t offset = (uint32_t)at & (ring->capacity - 1);
  uint32_t first = ring->capacity - offset < len ? ring->capacity - offset : len;
  memcpy(ring->bytes + offset, data, first);
  memcpy(ring->bytes, (const uint8_t *)data + first, len - first);
}

static void copy_out(const struct ls__ring *ring, uint64_t at, void *data, uint32_t len) {
  uint32_t offset = (uint32_t)at & (ring->capacity - 1);
  uint32_t first = ring->capacity - offset < len ? ring->capacity - offset : len;
  memcpy(data, ring->bytes + offset, first);
  memcpy((uint8_t *)data + first, ring->bytes, len - first);
}

int ls__ring_init(struct ls__ring *ring, uint32_t capacity) {
  LS_ASSERT(capacity >= 64 && (capacity & (capacity - 1)) == 0);
  memset(ring, 0, sizeof *ring);
  ring->capacity = capacity;
  ring->bytes = malloc(capacity);
  return ring->bytes ? 0 : LS_ENOMEM;
}

void ls__ring_free(struct ls__ring *ring) {
  free(ring->bytes);
  ring->bytes = NULL;
}

uint32_t ls__ring_space(const struct ls__ring *ring) {
  uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  uint64_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
  return ring->capacity - (uint32_t)(written - read);
}

bool ls__ring_empty(const struct ls__ring *ring) {
  return atomic_load_explicit(&ring->written, memory_order_acquire) ==
         atomic_load_explicit(&ring->read, memory_order_relaxed);
}

bool ls__ring_write(struct ls__ring *ring, const void *record, uint32_t len) {
  LS_ASSERT(len > 0);
  uint32_t space = ls__ring_space(ring);
  if (space < sizeof len || space - sizeof len < len) {
    atomic_fetch_add_explicit(&ring->refused, 1, memory_order_relaxed);
    return false;
  }
  uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
  copy_in(ring, at, &len, sizeof len);
  copy_in(ring, at + sizeof len, record, len);
  atomic_store_explicit(&ring->written, at + sizeof len + len, memory_order_release);
  return true;
}

uint32_t ls__ring_read(struct ls__ring *ring, void *record, uint32_t capacity) {
  if (ls__ring_empty(ring))
    return 0;
  uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);
  uint32_t len;
  copy_out(ring, at, &len, sizeof len);
  LS_ASSERT(len > 0 && len <= capacity);
  copy_out(ring, at + sizeof len, record, len);
  atomic_store_explicit(&ring->read, at + sizeof len + len, memory_order_release);
  return len;
}
