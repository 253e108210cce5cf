/* A block of 64-bit words that one thread publishes and any thread copies, torn never. Words are
 * atomics (Boehm 2012, "Can seqlocks get along with programming language memory models?"): whoever
 * reads a word of the next version, by acquire, has also seen the version become odd, so no fence
 * is needed, which thread sanitizers do not follow. */
#ifndef LS__BASE_SEQLOCK_H
#define LS__BASE_SEQLOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct ls__seqlock {
  _Atomic uint32_t version; /* odd while being written */
};

/** Publishes `count` words; one writer. */
static inline void ls__seqlock_write(struct ls__seqlock *lock, _Atomic uint64_t *shared,
                                     const uint64_t *words, uint32_t count) {
  uint32_t version = atomic_load_explicit(&lock->version, memory_order_relaxed);
  atomic_store_explicit(&lock->version, version + 1, memory_order_relaxed);
  for (uint32_t i = 0; i < count; i++)
    atomic_store_explicit(&shared[i], words[i], memory_order_release);
  atomic_store_explicit(&lock->version, version + 2, memory_order_release);
}

/** Copies `count` words as they stood at one moment. */
static inline void ls__seqlock_read(struct ls__seqlock *lock, _Atomic uint64_t *shared,
                                    uint64_t *words, uint32_t count) {
  for (;;) {
    uint32_t before = atomic_load_explicit(&lock->version, memory_order_acquire);
    if (before & 1)
      continue;
    for (uint32_t i = 0; i < count; i++)
      words[i] = atomic_load_explicit(&shared[i], memory_order_acquire);
    if (atomic_load_explicit(&lock->version, memory_order_relaxed) == before)
      return;
  }
}

#endif
