/* The model of one direction of a link: what becomes of a packet, and when it arrives. It is the
 * same for the `impair` relay, which has real packets, and for a simulator, which has not.
 *
 * A packet passes, in this order
 *   outage     offered while the link is down, it is gone
 *   rate       waits its turn on a line of `rate_bps`; when more than `queue_bytes` would wait or
 *              be on their way onto the line, it is dropped at the tail (an idle line takes any)
 *   loss       lost on the way, after it has used the line
 *   duplicate  a second copy arrives, with a delay of its own, never before the first
 *   delay      delay_ns, plus a normal variation of standard deviation jitter_ns drawn within
 *              ±3 jitter_ns (which leaves 0.987 of it), never less than 0 together
 *   reorder    held back by another LS_MODEL_HOLD_MIN_NS..LS_MODEL_HOLD_MAX_NS, uniform, and
 *              passed by those behind it
 * Apart from those held back, packets arrive in the order of their offering: one that would
 * overtake arrives together with the packet before it.
 *
 * Loss comes in bursts after Gilbert (1960): a state that loses all and one that loses none. The
 * first lasts `burst_packets` on average, the other is as long as the mean `loss` asks for. With
 * `burst_packets` 1 losses are independent.
 *
 * The link is up first: of each `outage_every_ns` since the start, the last `outage_for_ns` are
 * down.
 *
 * One seed makes one run. Each property draws from a stream of its own, and the same number of
 * times for each packet whatever becomes of it: turning one on changes no draw of another. */
#ifndef LS__IMPAIR_MODEL_H
#define LS__IMPAIR_MODEL_H

#include "base/prng.h"

#include <stdbool.h>
#include <stdint.h>

#define LS_MODEL_DELAY_MAX_NS INT64_C(60000000000)     /* a minute */
#define LS_MODEL_PERIOD_MAX_NS INT64_C(86400000000000) /* a day */
#define LS_MODEL_BURST_MAX 1e6                         /* packets */
#define LS_MODEL_RATE_MIN_BPS UINT64_C(1000)
#define LS_MODEL_RATE_MAX_BPS UINT64_C(1000000000000)
#define LS_MODEL_QUEUE_MAX_BYTES (UINT64_C(1) << 30)
#define LS_MODEL_QUEUE_NS INT64_C(250000000) /* what an unset queue holds, at the rate */
#define LS_MODEL_HOLD_MIN_NS INT64_C(1000000)
#define LS_MODEL_HOLD_MAX_NS INT64_C(5000000)

/* All zero is a perfect link. */
struct ls__model_config {
  int64_t delay_ns;        /* 0..LS_MODEL_DELAY_MAX_NS */
  int64_t jitter_ns;       /* 0..LS_MODEL_DELAY_MAX_NS */
  double loss;             /* mean share lost, 0..1 */
  double burst_packets;    /* mean length of a loss burst, 1..LS_MODEL_BURST_MAX; 0 = 1 */
  int64_t outage_every_ns; /* 0 = no outage */
  int64_t outage_for_ns;   /* less than outage_every_ns */
  double reorder;          /* share held back, 0..1 */
  double duplicate;        /* share delivered twice, 0..1 */
  uint64_t rate_bps;       /* LS_MODEL_RATE_MIN_BPS..LS_MODEL_RATE_MAX_BPS; 0 = no limit */
  uint64_t queue_bytes;    /* up to LS_MODEL_QUEUE_MAX_BYTES; 0 = LS_MODEL_QUEUE_NS worth,
                            * within the same limit */
  uint64_t seed;
};

enum ls__model_fate {
  LS_FATE_DELIVERED,
  LS_FATE_DUPLICATED, /* delivered twice */
  LS_FATE_LOST,       /* at random or in a burst */
  LS_FATE_OUTAGE,
  LS_FATE_OVERFLOW /* the queue was full */
};

struct ls__model {
  struct ls__model_config config; /* with burst_packets and queue_bytes filled in */
  struct ls__prng jitter, loss, reorder, duplicate;
  double begin_burst, end_burst; /* chance for each packet to change the state */
  bool in_burst;
  int64_t start_ns;
  int64_t offered_ns;  /* time of the newest packet */
  int64_t arrived_ns;  /* latest arrival so far, those held back left out */
  uint64_t backlog_nb; /* on the line or before it at offered_ns, in 10^-9 bit */
};

/** Checks a configuration. 0, or LS_EINVAL with a sentence in `err` (may be NULL) that names the
 * field, what it was given and what is accepted. */
int ls__model_check(const struct ls__model_config *config, char *err, uint32_t err_len);

/** A link that starts at `start_ns`. As ls__model_check. */
int ls__model_init(struct ls__model *model, const struct ls__model_config *config, int64_t start_ns,
                   char *err, uint32_t err_len);

/** Offers a packet of `bytes` (1..65535) at `now_ns`, not before the one offered last (an earlier
 * time counts as that one's). How many copies arrive, 0..2, their times in `at_ns` (rising), and
 * what became of it in `fate`. */
unsigned ls__model_offer(struct ls__model *model, int64_t now_ns, uint32_t bytes, int64_t at_ns[2],
                         enum ls__model_fate *fate);

#endif
