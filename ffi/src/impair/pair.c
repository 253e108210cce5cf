#include "impair/pair.h"

#include "base/option.h"
#include "lockstep.h"

#define PAIR(field) offsetof(struct ls__model_pair, field)

#define WHOLE(prefix, way, field, max)                                                             \
  { prefix #field, LS__OPTION_INT, PAIR(way.field), 0, (int64_t)(max), NULL }
#define SHARE(prefix, way, field)                                                                  \
  { prefix #field, LS__OPTION_SHARE, PAIR(way.field), 0, 1, NULL }
#define FACTOR(prefix, way, field, max)                                                            \
  { prefix #field, LS__OPTION_SHARE, PAIR(way.field), 1, (int64_t)(max), NULL }

/* The fields of struct ls__model_config, after `prefix`. */
#define MODEL_OPTIONS(prefix, way)                                                                 \
  WHOLE(prefix, way, delay_ns, LS_MODEL_DELAY_MAX_NS),                                             \
      WHOLE(prefix, way, jitter_ns, LS_MODEL_DELAY_MAX_NS), SHARE(prefix, way, loss),              \
      FACTOR(prefix, way, burst_packets, LS_MODEL_BURST_MAX),                                      \
      WHOLE(prefix, way, outage_every_ns, LS_MODEL_PERIOD_MAX_NS),                                 \
      WHOLE(prefix, way, outage_for_ns, LS_MODEL_PERIOD_MAX_NS), SHARE(prefix, way, reorder),      \
      SHARE(prefix, way, duplicate), WHOLE(prefix, way, rate_bps, LS_MODEL_RATE_MAX_BPS),          \
      WHOLE(prefix, way, queue_bytes, LS_MODEL_QUEUE_MAX_BYTES)

#define COUNT(table) (sizeof table / sizeof *table)

/* The names without a prefix stand once for each direction. */
static const struct ls__option forward_options[] = {MODEL_OPTIONS("", forward)};
static const struct ls__option backward_options[] = {MODEL_OPTIONS("", backward)};
static const struct ls__option own_options[] = {MODEL_OPTIONS("forward_", forward),
                                                MODEL_OPTIONS("backward_", backward)};

int ls__model_pair_set(struct ls__model_pair *pair, const char *name, const char *value, char *err,
                       size_t err_len) {
  int result =
      ls__option_set(forward_options, COUNT(forward_options), pair, name, value, err, err_len);
  if (result == 0)
    return ls__option_set(backward_options, COUNT(backward_options), pair, name, value, err,
                          err_len);
  if (result != LS_EOPTION)
    return result;
  return ls__option_set(own_options, COUNT(own_options), pair, name, value, err, err_len);
}

int ls__model_pair_finish(struct ls__model_pair *pair, uint64_t seed, char *err, size_t err_len) {
  char reason[200];
  pair->forward.seed = seed;
  pair->backward.seed = ~seed;
  int result = ls__model_check(&pair->forward, reason, sizeof reason);
  if (result < 0)
    return ls__fail(result, err, err_len, "to the target: %s", reason);
  result = ls__model_check(&pair->backward, reason, sizeof reason);
  if (result < 0)
    return ls__fail(result, err, err_len, "from the target: %s", reason);
  return 0;
}
