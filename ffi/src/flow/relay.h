/* A UDP relay that impairs what passes: datagrams that arrive at `local` go to `target`, and the
 * target's answers back to who sent the first ones. Each source has a socket of its own towards
 * the target, as behind a NAT; each direction has one link model and one schedule, so that all
 * sources share the link. A packet leaves when the model says, not when a timer happens to run.
 *
 * Limits, each counted: LS__RELAY_CLIENTS sources at once (when all are taken, the one silent
 * longest makes room after `silence_ns`), `queue_packets` under way in each direction,
 * LS__RELAY_BYTES a datagram. Options: flow/relay_config.h. */
#ifndef LS__FLOW_RELAY_H
#define LS__FLOW_RELAY_H

#include "flow/object.h"

#define LS__RELAY_CLIENTS 64
#define LS__RELAY_BYTES 2048

/** A new relay; NULL when out of memory. */
struct ls__object *ls__relay_new(void);

#endif
