#include "pace/rate.h"

#include "base/assert.h"
#include "base/time.h"

/* A byte has 8·10⁹ of the account's units of 10⁻⁹ bit. */
#define NB_PER_BYTE UINT64_C(8000000000)

/* What the bucket holds at `at_ns`, not before the last departure. */
static uint64_t tokens_at(const struct ls__rate *rate, int64_t at_ns) {
  uint64_t elapsed_ns = (uint64_t)at_ns - (uint64_t)rate->at_ns;
  uint64_t gained_nb;
  if (__builtin_mul_overflow(elapsed_ns, rate->rate_bps, &gained_nb) ||
      gained_nb >= rate->burst_nb - rate->tokens_nb)
    return rate->burst_nb;
  return rate->tokens_nb + gained_nb;
}

static uint64_t burst_of(uint32_t burst_bytes) {
  LS_ASSERT(burst_bytes > 0 && burst_bytes <= LS_RATE_BURST_MAX);
  return burst_bytes * NB_PER_BYTE;
}

void ls__rate_init(struct ls__rate *rate, uint64_t rate_bps, uint32_t burst_bytes) {
  uint64_t burst_nb = burst_of(burst_bytes);
  *rate = (struct ls__rate){
      .rate_bps = rate_bps, .burst_nb = burst_nb, .tokens_nb = burst_nb, .at_ns = INT64_MIN};
}

int64_t ls__rate_earliest(const struct ls__rate *rate, int64_t at_ns, uint32_t bytes) {
  at_ns = ls__time_max(at_ns, rate->at_ns);
  if (!rate->rate_bps)
    return at_ns;
  uint64_t needed_nb = bytes * NB_PER_BYTE;
  LS_ASSERT(needed_nb <= rate->burst_nb);
  uint64_t tokens_nb = tokens_at(rate, at_ns);
  if (tokens_nb >= needed_nb)
    return at_ns;
  uint64_t wait_ns = (needed_nb - tokens_nb - 1) / rate->rate_bps + 1;
  int64_t earliest_ns;
  return __builtin_add_overflow(at_ns, wait_ns, &earliest_ns) ? LS_NEVER : earliest_ns;
}

void ls__rate_commit(struct ls__rate *rate, int64_t at_ns, uint32_t bytes) {
  LS_ASSERT(at_ns >= rate->at_ns);
  if (rate->rate_bps) {
    uint64_t tokens_nb = tokens_at(rate, at_ns);
    LS_ASSERT(tokens_nb >= bytes * NB_PER_BYTE);
    rate->tokens_nb = tokens_nb - bytes * NB_PER_BYTE;
  }
  rate->at_ns = at_ns;
}

void ls__rate_set(struct ls__rate *rate, uint64_t rate_bps, uint32_t burst_bytes, int64_t now_ns) {
  now_ns = ls__time_max(now_ns, rate->at_ns);
  uint64_t tokens_nb = rate->rate_bps ? tokens_at(rate, now_ns) : 0;
  rate->rate_bps = rate_bps;
  rate->burst_nb = burst_of(burst_bytes);
  rate->tokens_nb = tokens_nb < rate->burst_nb ? tokens_nb : rate->burst_nb;
  rate->at_ns = now_ns;
}
