/* What a relay is told: the options of ls_relay_open.
 *
 *   local, target      addresses to listen on and to relay to; both are needed
 *   seed               of both directions' chance (default 1); the way back draws from the
 *                      complement of its bits
 *   queue_packets      most packets under way at once in each direction (default 16384)
 *   silence_ns         after which a source makes room for another (default 30 s)
 *   and the options of impair/pair.h: forward is to the target, backward from it
 *
 * What is set later holds. The rate counts IP packets: a datagram with its IP and UDP header. */
#ifndef LS__FLOW_RELAY_CONFIG_H
#define LS__FLOW_RELAY_CONFIG_H

#include "base/addr.h"
#include "impair/pair.h"

#include <stdint.h>

struct ls__relay_config {
  struct ls__addr local, target;
  int64_t seed, queue_packets, silence_ns;
  struct ls__model_pair ways;
};

/** The defaults: a perfect link from nowhere to nowhere. */
void ls__relay_config_init(struct ls__relay_config *config);

/** Sets an option. 0; LS_EOPTION, LS_EINVAL with a sentence in `err`. */
int ls__relay_config_set(struct ls__relay_config *config, const char *name, const char *value,
                         char *err, uint32_t err_len);

/** Checks what the options say together, and gives each direction its seed. 0; LS_EINVAL with a
 * sentence in `err`. */
int ls__relay_config_finish(struct ls__relay_config *config, char *err, uint32_t err_len);

#endif
