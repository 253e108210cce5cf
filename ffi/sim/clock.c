#include "sim/clock.h"

#include "base/time.h"

void ls__sim_clock_init(struct ls__sim_clock *clock, int64_t local_ns, int64_t rate_ppb,
                        int64_t wander_ppb, uint64_t seed) {
  *clock = (struct ls__sim_clock){
      .rate_ppb = rate_ppb, .wander_ppb = wander_ppb, .now_ppb = rate_ppb, .local_ns = local_ns};
  ls__prng_seed(&clock->prng, seed);
}

int64_t ls__sim_clock_read(const struct ls__sim_clock *clock, int64_t true_ns) {
  int64_t elapsed_ns = true_ns - clock->true_ns;
  /* A segment is short: ns · ppb fits (10^10 · 10^6), and rounds towards minus infinity. */
  int64_t product = elapsed_ns * clock->now_ppb;
  int64_t error_ns = product / LS_S - (product % LS_S < 0);
  return clock->local_ns + elapsed_ns + error_ns;
}

int64_t ls__sim_clock_when(const struct ls__sim_clock *clock, int64_t local_ns) {
  if (local_ns == LS_NEVER)
    return LS_NEVER;
  if (local_ns <= clock->local_ns)
    return clock->true_ns;
  int64_t span_ns = local_ns - clock->local_ns;
  int64_t true_ns = clock->true_ns + (int64_t)((__int128)span_ns * LS_S / (LS_S + clock->now_ppb));
  while (ls__sim_clock_read(clock, true_ns) < local_ns)
    true_ns++;
  return true_ns;
}

void ls__sim_clock_advance(struct ls__sim_clock *clock, int64_t true_ns) {
  while (true_ns - clock->true_ns >= LS__SIM_CLOCK_STEP_NS) {
    int64_t end_ns = clock->true_ns + LS__SIM_CLOCK_STEP_NS;
    clock->local_ns = ls__sim_clock_read(clock, end_ns);
    clock->true_ns = end_ns;
    if (!clock->wander_ppb)
      continue;
    /* A step of up to a hundredth of the range, kept inside it: an oscillator warming and cooling.
     */
    uint64_t range = (uint64_t)clock->wander_ppb / 50 + 1;
    clock->now_ppb += (int64_t)ls__prng_below(&clock->prng, range) - (int64_t)range / 2;
    if (clock->now_ppb > clock->rate_ppb + clock->wander_ppb)
      clock->now_ppb = clock->rate_ppb + clock->wander_ppb;
    if (clock->now_ppb < clock->rate_ppb - clock->wander_ppb)
      clock->now_ppb = clock->rate_ppb - clock->wander_ppb;
  }
}
