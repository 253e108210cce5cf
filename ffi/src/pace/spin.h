/* How a thread waits for a departure: it sleeps until a margin before it, then spins on the clock,
 * as long as its CPU budget lasts. Without budget it sleeps all the way and is late by what the
 * system's timer is late.
 *
 *   With W = LS_SPIN_WINDOW_NS, in any window of W nanoseconds:
 *     time spun  ≤  budget_percent/100 · W
 *
 * The account has slots of W/16; a spin is granted only if it fits together with all that was spun
 * in the slot of now and the 16 before it, which cover any window of W that ends now. A spin that
 * was preempted is charged in full, so that only it can exceed the budget, by its overrun.
 *
 * The margin follows the 95th percentile of the measured wake-up error, in 20..200 µs: on each
 * sample it rises by 19 parts or falls by one, which balance when one sample in twenty is above. */
#ifndef LS__PACE_SPIN_H
#define LS__PACE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define LS_SPIN_WINDOW_NS INT64_C(100000000)
#define LS_SPIN_SLOTS 16
#define LS_SPIN_MARGIN_MIN_NS INT64_C(20000)
#define LS_SPIN_MARGIN_MAX_NS INT64_C(200000)
#define LS_SPIN_MARGIN_START_NS INT64_C(100000)

struct ls__spin {
  int64_t budget_ns; /* of each window */
  int64_t margin_ns;
  int64_t slot; /* number of the newest slot: its start divided by the slot's length */
  int64_t spent_ns[LS_SPIN_SLOTS + 1];
  int64_t refused_ns;   /* newest departure counted in over_budget */
  uint64_t total_ns;    /* spun since the start */
  uint64_t spins;       /* spins charged */
  uint64_t over_budget; /* departures that would have been spun for, had the budget allowed it */
};

/* Wait until `until_ns`: by spinning on the clock, or by sleeping. */
struct ls__spin_plan {
  int64_t until_ns;
  bool spin;
};

/** `budget_percent` of one core, 0..100; 0 never spins. */
void ls__spin_init(struct ls__spin *spin, uint32_t budget_percent);

/** How to wait at `now_ns` for a departure at `next_ns` (LS_NEVER: none). A plan to sleep may end
 * before the departure: ask again after every wake-up. A departure that is due gives `until_ns` ≤
 * `now_ns`. A plan to spin ends at the departure; whoever breaks off earlier, because a packet
 * arrived, charges what was spun. */
struct ls__spin_plan ls__spin_plan(struct ls__spin *spin, int64_t now_ns, int64_t next_ns);

/** Learns from a sleep that ended by its timer: wanted until and woken at. */
void ls__spin_woke(struct ls__spin *spin, int64_t wanted_ns, int64_t woke_ns);

/** Charges a spin from `from_ns` to `to_ns`. */
void ls__spin_charge(struct ls__spin *spin, int64_t from_ns, int64_t to_ns);

#endif
