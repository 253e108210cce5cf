/* A virtual clock that is wrong: its rate differs from true time by a constant and, if asked, by a
 * bounded random walk. Integers throughout, so that a seed gives the same run on every machine. */
#ifndef LS__SIM_CLOCK_H
#define LS__SIM_CLOCK_H

#include "base/prng.h"

#include <stdint.h>

/* The rate of a wandering clock changes this often. */
#define LS__SIM_CLOCK_STEP_NS INT64_C(10000000000)

struct ls__sim_clock {
  int64_t rate_ppb;          /* mean error of the rate, parts per 10^9 */
  int64_t wander_ppb;        /* largest deviation from that mean, 0 = none */
  int64_t now_ppb;           /* error of the rate in this segment */
  int64_t true_ns, local_ns; /* where the segment begins, on both clocks */
  struct ls__prng prng;
};

/** A clock that shows `local_ns` at true time 0. */
void ls__sim_clock_init(struct ls__sim_clock *clock, int64_t local_ns, int64_t rate_ppb,
                        int64_t wander_ppb, uint64_t seed);

/** Begins new segments up to `true_ns`; call before reading a later time. */
void ls__sim_clock_advance(struct ls__sim_clock *clock, int64_t true_ns);

/** What the clock shows at a true time of the current segment, rounded down. */
int64_t ls__sim_clock_read(const struct ls__sim_clock *clock, int64_t true_ns);

/** The earliest true time at which the clock shows at least `local_ns`, should its rate stay;
 * LS_NEVER for LS_NEVER, and never before the current segment. */
int64_t ls__sim_clock_when(const struct ls__sim_clock *clock, int64_t local_ns);

#endif
