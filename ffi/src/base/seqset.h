/* A set of sequence numbers inside a sliding window: one bit each, a count, no allocation after
 * init. It is the loss list of a receiver (what is missing) and of a sender (what to repeat). */
#ifndef LS__BASE_SEQSET_H
#define LS__BASE_SEQSET_H

#include <stdbool.h>
#include <stdint.h>

struct ls__seqset {
  uint64_t *words;
  uint32_t capacity; /* a power of two: members lie in [base, base + capacity) */
  uint32_t base;     /* lowest sequence number that may be a member */
  uint32_t count;
};

/** Allocates a window of `capacity` sequence numbers (a power of two, 64 to 2^20); 0 or
 * LS_ENOMEM. */
int ls__seqset_init(struct ls__seqset *set, uint32_t capacity, uint32_t base);
void ls__seqset_free(struct ls__seqset *set);

/** Empties the set and moves its window to `base`. */
void ls__seqset_reset(struct ls__seqset *set, uint32_t base);

/** Whether `seq` lies in the window. */
bool ls__seqset_in_window(const struct ls__seqset *set, uint32_t seq);

/** Adds a number of the window; false when it was a member already. */
bool ls__seqset_add(struct ls__seqset *set, uint32_t seq);

/** Takes a number out; false when it was no member (any number may be asked). */
bool ls__seqset_remove(struct ls__seqset *set, uint32_t seq);

bool ls__seqset_has(const struct ls__seqset *set, uint32_t seq);

/** Moves the window up to `base`, dropping members below it; how many were dropped. A `base`
 * behind the window changes nothing. */
uint32_t ls__seqset_advance(struct ls__seqset *set, uint32_t base);

/** The first member at or after `from` (a number of the window or its base); false if none. */
bool ls__seqset_first(const struct ls__seqset *set, uint32_t from, uint32_t *seq);

#endif
