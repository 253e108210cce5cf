#include "pace/spin.h"

#include "base/assert.h"
#include "base/time.h"

#define SLOT_NS (LS_SPIN_WINDOW_NS / LS_SPIN_SLOTS)
#define SLOTS_KEPT (LS_SPIN_SLOTS + 1)

/* One step of the margin is this part of it. */
#define MARGIN_STEPS 512

/* A rise outweighs 19 falls: equilibrium at the 95th percentile. */
#define MARGIN_RISE 19

/* Time spun in the slot of `at_ns` and the LS_SPIN_SLOTS before it. */
static int64_t used_at(const struct ls__spin *spin, int64_t at_ns) {
  int64_t passed = at_ns / SLOT_NS - spin->slot;
  int64_t used_ns = 0;
  for (int64_t age = 0; age < SLOTS_KEPT - ls__time_max(passed, 0) && age <= spin->slot; age++)
    used_ns += spin->spent_ns[(spin->slot - age) % SLOTS_KEPT];
  return used_ns;
}

static bool affordable(const struct ls__spin *spin, int64_t at_ns, int64_t length_ns) {
  return used_at(spin, at_ns) + length_ns <= spin->budget_ns;
}

void ls__spin_init(struct ls__spin *spin, uint32_t budget_percent) {
  LS_ASSERT(budget_percent <= 100);
  *spin = (struct ls__spin){.budget_ns = LS_SPIN_WINDOW_NS / 100 * (int64_t)budget_percent,
                            .margin_ns = LS_SPIN_MARGIN_START_NS,
                            .refused_ns = LS_NEVER};
}

struct ls__spin_plan ls__spin_plan(struct ls__spin *spin, int64_t now_ns, int64_t next_ns) {
  LS_ASSERT(now_ns >= 0);
  if (next_ns <= now_ns || next_ns == LS_NEVER || !spin->budget_ns)
    return (struct ls__spin_plan){.until_ns = ls__time_max(now_ns, next_ns)};
  int64_t from_ns = ls__time_max(now_ns, next_ns - spin->margin_ns);
  if (!affordable(spin, from_ns, next_ns - from_ns)) {
    spin->over_budget += spin->refused_ns != next_ns;
    spin->refused_ns = next_ns;
    return (struct ls__spin_plan){.until_ns = next_ns};
  }
  if (from_ns > now_ns)
    return (struct ls__spin_plan){.until_ns = from_ns};
  return (struct ls__spin_plan){.until_ns = next_ns, .spin = true};
}

void ls__spin_woke(struct ls__spin *spin, int64_t wanted_ns, int64_t woke_ns) {
  int64_t step_ns = spin->margin_ns / MARGIN_STEPS;
  spin->margin_ns += woke_ns - wanted_ns > spin->margin_ns ? MARGIN_RISE * step_ns : -step_ns;
  spin->margin_ns =
      ls__time_min(ls__time_max(spin->margin_ns, LS_SPIN_MARGIN_MIN_NS), LS_SPIN_MARGIN_MAX_NS);
}

/* Makes `slot` the newest slot and empties those that begin with it. */
static void advance(struct ls__spin *spin, int64_t slot) {
  int64_t first = ls__time_max(spin->slot + 1, slot - LS_SPIN_SLOTS);
  for (int64_t i = first; i <= slot; i++)
    spin->spent_ns[i % SLOTS_KEPT] = 0;
  spin->slot = ls__time_max(spin->slot, slot);
}

void ls__spin_charge(struct ls__spin *spin, int64_t from_ns, int64_t to_ns) {
  LS_ASSERT(from_ns >= 0 && to_ns >= from_ns);
  spin->total_ns += (uint64_t)(to_ns - from_ns);
  spin->spins++;
  advance(spin, to_ns / SLOT_NS);
  /* What lies before the oldest slot kept is past every window. */
  from_ns = ls__time_max(from_ns, (spin->slot - LS_SPIN_SLOTS) * SLOT_NS);
  while (from_ns < to_ns) {
    int64_t slot = from_ns / SLOT_NS;
    int64_t end_ns = ls__time_min((slot + 1) * SLOT_NS, to_ns);
    spin->spent_ns[slot % SLOTS_KEPT] += end_ns - from_ns;
    from_ns = end_ns;
  }
}
