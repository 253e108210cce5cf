#include "base/seqset.h"

#include "base/assert.h"
#include "base/seq.h"
#include "lockstep.h"

#include <string.h>

static uint32_t word_of(const struct ls__seqset *set, uint32_t seq) {
  return (seq & (set->capacity - 1)) / 64;
}

static uint64_t bit_of(uint32_t seq) {
  return UINT64_C(1) << (seq % 64);
}

int ls__seqset_init(struct ls__seqset *set, uint32_t capacity, uint32_t base) {
  LS_ASSERT(capacity >= 64 && capacity <= 1u << 20 && (capacity & (capacity - 1)) == 0);
  *set = (struct ls__seqset){.capacity = capacity, .base = base & LS_SEQ_MASK};
  set->words = calloc(capacity / 64, sizeof *set->words);
  return set->words ? 0 : LS_ENOMEM;
}

void ls__seqset_free(struct ls__seqset *set) {
  free(set->words);
  *set = (struct ls__seqset){0};
}

void ls__seqset_reset(struct ls__seqset *set, uint32_t base) {
  if (set->count)
    memset(set->words, 0, set->capacity / 8);
  set->count = 0;
  set->base = base & LS_SEQ_MASK;
}

bool ls__seqset_in_window(const struct ls__seqset *set, uint32_t seq) {
  int32_t offset = ls__seq_diff(seq, set->base);
  return offset >= 0 && (uint32_t)offset < set->capacity;
}

bool ls__seqset_add(struct ls__seqset *set, uint32_t seq) {
  LS_ASSERT(ls__seqset_in_window(set, seq));
  uint64_t *word = &set->words[word_of(set, seq)];
  if (*word & bit_of(seq))
    return false;
  *word |= bit_of(seq);
  set->count++;
  return true;
}

bool ls__seqset_has(const struct ls__seqset *set, uint32_t seq) {
  return set->count && ls__seqset_in_window(set, seq) &&
         (set->words[word_of(set, seq)] & bit_of(seq));
}

bool ls__seqset_remove(struct ls__seqset *set, uint32_t seq) {
  if (!ls__seqset_has(set, seq))
    return false;
  set->words[word_of(set, seq)] &= ~bit_of(seq);
  set->count--;
  return true;
}

/* Takes `span` numbers from `from` on, all in one word, out of the set. */
static void clear(struct ls__seqset *set, uint32_t from, uint32_t span) {
  uint64_t mask = span < 64 ? (UINT64_C(1) << span) - 1 : UINT64_MAX;
  uint64_t *word = &set->words[word_of(set, from)];
  uint64_t members = *word & mask << (from % 64);
  set->count -= (uint32_t)__builtin_popcountll(members);
  *word ^= members;
}

uint32_t ls__seqset_advance(struct ls__seqset *set, uint32_t base) {
  int32_t offset = ls__seq_diff(base, set->base);
  if (offset <= 0)
    return 0;
  uint32_t before = set->count;
  if ((uint32_t)offset >= set->capacity) {
    ls__seqset_reset(set, base);
    return before;
  }
  for (uint32_t left = (uint32_t)offset; left > 0;) {
    uint32_t span = 64 - set->base % 64 < left ? 64 - set->base % 64 : left;
    clear(set, set->base, span);
    set->base = ls__seq_add(set->base, (int32_t)span);
    left -= span;
  }
  return before - set->count;
}

bool ls__seqset_first(const struct ls__seqset *set, uint32_t from, uint32_t *seq) {
  if (!set->count)
    return false;
  if (ls__seq_before(from, set->base))
    from = set->base;
  uint32_t left = set->capacity - (uint32_t)ls__seq_diff(from, set->base);
  if (!ls__seqset_in_window(set, from))
    return false;
  /* Word by word from `from`; the last word may be entered twice, for its two ends. */
  while (left > 0) {
    uint32_t shift = from % 64;
    uint32_t span = 64 - shift < left ? 64 - shift : left;
    uint64_t bits = set->words[word_of(set, from)] >> shift;
    if (span < 64)
      bits &= (UINT64_C(1) << span) - 1;
    if (bits) {
      *seq = ls__seq_add(from, __builtin_ctzll(bits));
      return true;
    }
    from = ls__seq_add(from, (int32_t)span);
    left -= span;
  }
  return false;
}
