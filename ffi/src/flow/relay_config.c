#include "flow/relay_config.h"

#include "base/addr_text.h"
#include "base/option.h"
#include "base/time.h"
#include "lockstep.h"
#include "pace/schedule.h"

#include <stddef.h>
#include <string.h>

/* 250 ms of 500 Mbit/s, and as much again: 32 MiB of slots, of which only those used are touched.
 */
#define SLOTS_DEFAULT 16384

#define SILENCE_DEFAULT_NS (30 * LS_S)

#define CONFIG(field) offsetof(struct ls__relay_config, field)

#define WHOLE(prefix, way, field, max)                                                             \
  { prefix #field, LS__OPTION_INT, CONFIG(way.field), 0, (int64_t)(max), NULL }
#define SHARE(prefix, way, field)                                                                  \
  { prefix #field, LS__OPTION_SHARE, CONFIG(way.field), 0, 1, NULL }
#define FACTOR(prefix, way, field, max)                                                            \
  { prefix #field, LS__OPTION_SHARE, CONFIG(way.field), 1, (int64_t)(max), NULL }

/* The options of one direction's model: the fields of struct ls__model_config, after `prefix`. */
#define MODEL_OPTIONS(prefix, way)                                                                 \
  WHOLE(prefix, way, delay_ns, LS_MODEL_DELAY_MAX_NS),                                             \
      WHOLE(prefix, way, jitter_ns, LS_MODEL_DELAY_MAX_NS), SHARE(prefix, way, loss),              \
      FACTOR(prefix, way, burst_packets, LS_MODEL_BURST_MAX),                                      \
      WHOLE(prefix, way, outage_every_ns, LS_MODEL_PERIOD_MAX_NS),                                 \
      WHOLE(prefix, way, outage_for_ns, LS_MODEL_PERIOD_MAX_NS), SHARE(prefix, way, reorder),      \
      SHARE(prefix, way, duplicate), WHOLE(prefix, way, rate_bps, LS_MODEL_RATE_MAX_BPS),          \
      WHOLE(prefix, way, queue_bytes, LS_MODEL_QUEUE_MAX_BYTES)

static const struct ls__option own_options[] = {
    {"local", LS__OPTION_ADDR, CONFIG(local), 0, 0, NULL},
    {"target", LS__OPTION_ADDR, CONFIG(target), 0, 0, NULL},
    {"seed", LS__OPTION_INT, CONFIG(seed), 0, INT64_MAX, NULL},
    {"queue_packets", LS__OPTION_INT, CONFIG(queue_packets), 1, LS_SCHEDULE_SLOTS_MAX, NULL},
    {"silence_ns", LS__OPTION_INT, CONFIG(silence_ns), LS_MS, 3600 * LS_S, NULL},
    MODEL_OPTIONS("forward_", forward),
    MODEL_OPTIONS("backward_", backward),
};

/* The names without a prefix, once for each direction. */
static const struct ls__option forward_options[] = {MODEL_OPTIONS("", forward)};
static const struct ls__option backward_options[] = {MODEL_OPTIONS("", backward)};

void ls__relay_config_init(struct ls__relay_config *config) {
  *config = (struct ls__relay_config){
      .seed = 1, .queue_packets = SLOTS_DEFAULT, .silence_ns = SILENCE_DEFAULT_NS};
}

int ls__relay_config_set(struct ls__relay_config *config, const char *name, const char *value,
                         char *err, uint32_t err_len) {
  size_t own = sizeof own_options / sizeof *own_options;
  size_t model = sizeof forward_options / sizeof *forward_options;
  int result = ls__option_set(forward_options, model, config, name, value, err, err_len);
  if (result == 0)
    return ls__option_set(backward_options, model, config, name, value, err, err_len);
  if (result != LS_EOPTION)
    return result;
  return ls__option_set(own_options, own, config, name, value, err, err_len);
}

static int check_addresses(const struct ls__relay_config *config, char *err, uint32_t err_len) {
  static const uint8_t any[16] = {0};
  char text[LS_ADDR_TEXT];
  if (!config->local.family)
    return ls__fail(LS_EINVAL, err, err_len, "a relay needs an address to listen on: set local");
  if (!config->target.family)
    return ls__fail(LS_EINVAL, err, err_len, "a relay needs an address to relay to: set target");
  if (!config->target.port || memcmp(config->target.bytes, any, sizeof any) == 0)
    return ls__fail(LS_EINVAL, err, err_len, "target is %s: it needs a host and a port",
                    ls__addr_format(&config->target, text));
  if (ls__addr_equal(&config->target, &config->local))
    return ls__fail(LS_EINVAL, err, err_len, "target is %s, the address that the relay listens on",
                    ls__addr_format(&config->target, text));
  return 0;
}

int ls__relay_config_finish(struct ls__relay_config *config, char *err, uint32_t err_len) {
  int result = check_addresses(config, err, err_len);
  if (result < 0)
    return result;
  config->forward.seed = (uint64_t)config->seed;
  config->backward.seed = ~(uint64_t)config->seed;
  char reason[200];
  result = ls__model_check(&config->forward, reason, sizeof reason);
  if (result < 0)
    return ls__fail(result, err, err_len, "to the target: %s", reason);
  result = ls__model_check(&config->backward, reason, sizeof reason);
  if (result < 0)
    return ls__fail(result, err, err_len, "from the target: %s", reason);
  return 0;
}
