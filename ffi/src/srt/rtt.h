/* Smoothed round-trip time (draft-sharabayko-srt §4.10): the first sample replaces the initial
 * guess, later ones enter with weights 1/8 and 1/4. */
#ifndef LS__SRT_RTT_H
#define LS__SRT_RTT_H

#include "base/time.h"

#include <stdbool.h>

struct ls__rtt {
  int64_t smoothed_ns, variation_ns;
  int64_t first_ns; /* the first sample, 0 before it */
  bool measured;
};

static inline void ls__rtt_init(struct ls__rtt *rtt) {
  *rtt = (struct ls__rtt){.smoothed_ns = 100 * LS_MS, .variation_ns = 50 * LS_MS};
}

static inline void ls__rtt_sample(struct ls__rtt *rtt, int64_t sample_ns) {
  if (sample_ns < 0)
    return;
  if (!rtt->measured) {
    rtt->smoothed_ns = rtt->first_ns = sample_ns;
    rtt->variation_ns = sample_ns / 2;
    rtt->measured = true;
    return;
  }
  int64_t error_ns = sample_ns - rtt->smoothed_ns;
  rtt->variation_ns += ((error_ns < 0 ? -error_ns : error_ns) - rtt->variation_ns) / 4;
  rtt->smoothed_ns += error_ns / 8;
}

/** How long to wait for an answer before it counts as missing: smoothed + 4 · variation. */
static inline int64_t ls__rtt_timeout(const struct ls__rtt *rtt) {
  return rtt->smoothed_ns + 4 * rtt->variation_ns;
}

#endif
