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

static const struct ls__option own_options[] = {
    {"local", LS__OPTION_ADDR, CONFIG(local), 0, 0, NULL},
    {"target", LS__OPTION_ADDR, CONFIG(target), 0, 0, NULL},
    {"seed", LS__OPTION_INT, CONFIG(seed), 0, INT64_MAX, NULL},
    {"queue_packets", LS__OPTION_INT, CONFIG(queue_packets), 1, LS_SCHEDULE_SLOTS_MAX, NULL},
    {"silence_ns", LS__OPTION_INT, CONFIG(silence_ns), LS_MS, 3600 * LS_S, NULL},
};

void ls__relay_config_init(struct ls__relay_config *config) {
  *config = (struct ls__relay_config){
      .seed = 1, .queue_packets = SLOTS_DEFAULT, .silence_ns = SILENCE_DEFAULT_NS};
}

int ls__relay_config_set(struct ls__relay_config *config, const char *name, const char *value,
                         char *err, uint32_t err_len) {
  int result = ls__model_pair_set(&config->ways, name, value, err, err_len);
  if (result != LS_EOPTION)
    return result;
  return ls__option_set(own_options, sizeof own_options / sizeof *own_options, config, name, value,
                        err, err_len);
}

static const uint8_t any[16] = {0};

static bool is_loopback(const struct ls__addr *addr) {
  static const uint8_t six[16] = {[15] = 1};
  return addr->family == 4 ? addr->bytes[0] == 127 : memcmp(addr->bytes, six, sizeof six) == 0;
}

/* Whether what is sent to the target comes back to the relay, again and again. Of the machine's own
 * addresses only those of the loopback can be known here. */
static bool comes_back(const struct ls__relay_config *config) {
  const struct ls__addr *local = &config->local, *target = &config->target;
  bool all = memcmp(local->bytes, any, sizeof any) == 0;
  bool served = local->family == 6 || target->family == 4; /* any of IPv6 is of IPv4 too */
  return ls__addr_equal(target, local) ||
         (all && served && is_loopback(target) && target->port == local->port);
}

static int check_addresses(const struct ls__relay_config *config, char *err, uint32_t err_len) {
  char text[LS_ADDR_TEXT];
  if (!config->local.family)
    return ls__fail(LS_EINVAL, err, err_len, "a relay needs an address to listen on: set local");
  if (!config->target.family)
    return ls__fail(LS_EINVAL, err, err_len, "a relay needs an address to relay to: set target");
  if (!config->target.port || memcmp(config->target.bytes, any, sizeof any) == 0)
    return ls__fail(LS_EINVAL, err, err_len, "target is %s: it needs a host and a port",
                    ls__addr_format(&config->target, text));
  if (comes_back(config))
    return ls__fail(LS_EINVAL, err, err_len, "target is %s, the address that the relay listens on",
                    ls__addr_format(&config->target, text));
  return 0;
}

int ls__relay_config_finish(struct ls__relay_config *config, char *err, uint32_t err_len) {
  int result = check_addresses(config, err, err_len);
  if (result < 0)
    return result;
  return ls__model_pair_finish(&config->ways, (uint64_t)config->seed, err, err_len);
}
