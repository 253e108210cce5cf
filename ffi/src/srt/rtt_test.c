#include "srt/rtt.h"

#include "base/prng.h"
#include "base/testing.h"

static void test_initial(void **state) {
  (void)state;
  struct ls__rtt rtt;
  ls__rtt_init(&rtt);
  assert_false(rtt.measured);
  assert_int_equal(rtt.smoothed_ns, 100 * LS_MS);
  assert_int_equal(rtt.variation_ns, 50 * LS_MS);
  assert_int_equal(ls__rtt_timeout(&rtt), 300 * LS_MS);
}

/* The first sample replaces the guess, whatever it is; a negative one is none. */
static void test_first(void **state) {
  (void)state;
  struct ls__rtt rtt;
  ls__rtt_init(&rtt);
  ls__rtt_sample(&rtt, -1);
  assert_false(rtt.measured);
  ls__rtt_sample(&rtt, 40 * LS_MS);
  assert_true(rtt.measured);
  assert_int_equal(rtt.smoothed_ns, 40 * LS_MS);
  assert_int_equal(rtt.variation_ns, 20 * LS_MS);
  assert_int_equal(rtt.first_ns, 40 * LS_MS);
  ls__rtt_init(&rtt);
  ls__rtt_sample(&rtt, 0);
  assert_true(rtt.measured);
  assert_int_equal(ls__rtt_timeout(&rtt), 0);
}

/* Against the formulas of draft-sharabayko-srt §4.10 in real numbers. */
static void test_smoothing(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 50; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    struct ls__rtt rtt;
    ls__rtt_init(&rtt);
    double mean = 0, variation = 0;
    int64_t base_ns = (int64_t)ls__prng_below(&prng, 2 * LS_S);
    int64_t jitter_ns = 1 + (int64_t)ls__prng_below(&prng, 300 * LS_MS);
    for (int i = 0; i < 500; i++) {
      int64_t sample_ns = base_ns + (int64_t)ls__prng_below(&prng, jitter_ns);
      ls__rtt_sample(&rtt, sample_ns);
      double error = (double)sample_ns - mean;
      variation = i ? 0.75 * variation + 0.25 * (error < 0 ? -error : error) : sample_ns / 2.0;
      mean = i ? 0.875 * mean + 0.125 * (double)sample_ns : (double)sample_ns;
      assert_true((double)rtt.smoothed_ns - mean < 20 && mean - (double)rtt.smoothed_ns < 20);
      assert_true((double)rtt.variation_ns - variation < 50 &&
                  variation - (double)rtt.variation_ns < 50);
      assert_true(rtt.variation_ns >= 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_initial),
      cmocka_unit_test(test_first),
      cmocka_unit_test(test_smoothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
