#include "sim/clock.h"

#include "base/testing.h"
#include "base/time.h"

static void test_constant(void **state) {
  (void)state;
  static const struct {
    int64_t ppb, true_ns, local_ns;
  } rows[] = {
      {0, 10, 1010},
      {100000, LS_S, 1000 + LS_S + 100000},
      {-100000, LS_S, 1000 + LS_S - 100000},
      {1, 1, 1001},
      {-1, 1, 1000}, /* rounded down: a tick that is not over does not count */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ls__sim_clock clock;
    ls__sim_clock_init(&clock, 1000, rows[i].ppb, 0, 1);
    ls__sim_clock_advance(&clock, rows[i].true_ns);
    assert_int_equal(ls__sim_clock_read(&clock, rows[i].true_ns), rows[i].local_ns);
  }
}

/* A day at 50 ppm gains 4.32 s, whatever the segments. */
static void test_day(void **state) {
  (void)state;
  struct ls__sim_clock clock;
  ls__sim_clock_init(&clock, 0, 50000, 0, 1);
  for (int64_t at_ns = 0; at_ns <= 86400 * LS_S; at_ns += 7 * LS_S)
    ls__sim_clock_advance(&clock, at_ns);
  ls__sim_clock_advance(&clock, 86400 * LS_S);
  assert_int_equal(ls__sim_clock_read(&clock, 86400 * LS_S), 86400 * LS_S + 4320 * LS_MS);
}

/* `when` is the earliest time at which the clock shows as much, for clocks fast and slow. */
static void test_inverse(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  for (int i = 0; i < 20000; i++) {
    struct ls__sim_clock clock;
    int64_t ppb = (int64_t)ls__prng_below(&prng, 2000001) - 1000000;
    ls__sim_clock_init(&clock, 500, ppb, 0, 1);
    int64_t local_ns = 501 + (int64_t)ls__prng_below(&prng, 9 * LS_S);
    int64_t true_ns = ls__sim_clock_when(&clock, local_ns);
    assert_true(ls__sim_clock_read(&clock, true_ns) >= local_ns);
    assert_true(ls__sim_clock_read(&clock, true_ns - 1) < local_ns);
    assert_int_equal(ls__sim_clock_when(&clock, 500 - i % 500), 0);
    assert_true(ls__sim_clock_when(&clock, LS_NEVER) == LS_NEVER);
  }
}

/* A wandering clock stays in its range, uses it, goes on without a step, and repeats by its seed.
 */
static void test_wander(void **state) {
  (void)state;
  struct ls__sim_clock clock, same;
  ls__sim_clock_init(&clock, 0, 20000, 30000, 5);
  ls__sim_clock_init(&same, 0, 20000, 30000, 5);
  int64_t low = INT64_MAX, high = INT64_MIN, last_ns = 0;
  for (int64_t at_ns = LS_S; at_ns < 20 * 86400 * LS_S; at_ns += LS_S) {
    ls__sim_clock_advance(&clock, at_ns);
    int64_t step_ns = ls__sim_clock_read(&clock, at_ns) - last_ns - LS_S;
    last_ns += LS_S + step_ns;
    assert_true(step_ns >= -10000 - 1 && step_ns <= 50000 + 1);
    low = ls__time_min(low, clock.now_ppb);
    high = ls__time_max(high, clock.now_ppb);
  }
  assert_true(low < 5000 && high > 35000);
  ls__sim_clock_advance(&same, clock.true_ns);
  assert_memory_equal(&clock, &same, sizeof clock);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_constant), cmocka_unit_test(test_day),
                                     cmocka_unit_test(test_inverse), cmocka_unit_test(test_wander)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
