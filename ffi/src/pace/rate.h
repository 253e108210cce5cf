/* The rate and burst law: a token bucket (the GCRA of ITU-T I.371 Annex A in its leaky-bucket
 * form), in integers.
 *
 *   For any window of w nanoseconds, both ends included:
 *     8·10⁹ · (bytes committed in the window)  ≤  rate_bps · w  +  8·10⁹ · burst_bytes
 *
 * that is, bytes ≤ rate·w + burst. Tokens are counted in 10⁻⁹ bit, of which exactly `rate_bps`
 * arrive each nanosecond: nothing is rounded in the account, so that no rate drifts, however odd.
 * Only a departure time is rounded, up to the next whole nanosecond, and the tokens of that
 * fraction stay in the bucket. They must fit into it: with a burst of exactly one packet the grid
 * of whole nanoseconds alone costs up to 1 ns a packet, with one byte more the long-run rate is
 * exact (up to 8 Gbit/s).
 *
 * Times never run backwards: a departure is never earlier than the one committed before. */
#ifndef LS__PACE_RATE_H
#define LS__PACE_RATE_H

#include <stdint.h>

/** Largest burst, 1 GiB: the account of twice as much fits into 64 bits. */
#define LS_RATE_BURST_MAX (UINT32_C(1) << 30)

struct ls__rate {
  uint64_t rate_bps;  /* 0 = unlimited */
  uint64_t burst_nb;  /* size of the bucket, in 10^-9 bit */
  uint64_t tokens_nb; /* in the bucket at `at_ns` */
  int64_t at_ns;      /* last departure or change of the rate */
};

/** A full bucket. `rate_bps` 0 sets no limit. `burst_bytes` (1..LS_RATE_BURST_MAX) must hold the
 * largest packet. */
void ls__rate_init(struct ls__rate *rate, uint64_t rate_bps, uint32_t burst_bytes);

/** Earliest departure ≥ `at_ns` that the law allows for a packet of `bytes` ≤ the burst. Changes
 * nothing; asking again after a commit or a change of the rate may give a later time. LS_NEVER is
 * answered when the time does not fit. */
int64_t ls__rate_earliest(const struct ls__rate *rate, int64_t at_ns, uint32_t bytes);

/** Accounts a packet that departs at `at_ns`; a time before ls__rate_earliest is a programmer
 * error, so ask again after ls__rate_set. */
void ls__rate_commit(struct ls__rate *rate, int64_t at_ns, uint32_t bytes);

/** Changes rate and burst from `now_ns` on, or from the last committed departure if that is later.
 * The bucket keeps what it holds (less what no longer fits), so that no change lets out a burst
 * that the old law had not allowed; what was unlimited starts with an empty bucket. */
void ls__rate_set(struct ls__rate *rate, uint64_t rate_bps, uint32_t burst_bytes, int64_t now_ns);

#endif
