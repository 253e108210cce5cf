/* The two directions of a link, and their options by name, the same for a relay and a simulator:
 *
 *   delay_ns, jitter_ns, loss, burst_packets, outage_every_ns, outage_for_ns, reorder, duplicate,
 *   rate_bps, queue_bytes
 *
 * of struct ls__model_config for both directions; with forward_ or backward_ before the name, of
 * one. What is set later holds. */
#ifndef LS__IMPAIR_PAIR_H
#define LS__IMPAIR_PAIR_H

#include "impair/model.h"

#include <stddef.h>

struct ls__model_pair {
  struct ls__model_config forward, backward;
};

/** Sets an option. 0; LS_EOPTION when the name is none of the above; LS_EINVAL; with a sentence in
 * `err`. */
int ls__model_pair_set(struct ls__model_pair *pair, const char *name, const char *value, char *err,
                       size_t err_len);

/** Checks both directions and gives each its seed: the way back draws from the complement of the
 * bits. 0, or LS_EINVAL with a sentence in `err`. */
int ls__model_pair_finish(struct ls__model_pair *pair, uint64_t seed, char *err, size_t err_len);

#endif
