#include "base/prng.h"

#include "base/testing.h"

#include <math.h>

/* The first outputs of the authors' xoshiro256** from the state 1, 2, 3, 4. */
static void test_xoshiro_vectors(void **state) {
  (void)state;
  static const uint64_t expected[] = {
      11520,
      0,
      1509978240,
      UINT64_C(1215971899390074240),
      UINT64_C(1216172134540287360),
      UINT64_C(607988272756665600),
      UINT64_C(16172922978634559625),
      UINT64_C(8476171486693032832),
      UINT64_C(10595114339597558777),
      UINT64_C(2904607092377533576),
  };
  struct ls__prng prng = {.s = {1, 2, 3, 4}};
  for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_true(ls__prng_next(&prng) == expected[i]);
}

/* The seed runs through splitmix64, whose first outputs from 1234567 these are. */
static void test_splitmix_vectors(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1234567);
  assert_true(prng.s[0] == UINT64_C(6457827717110365317));
  assert_true(prng.s[1] == UINT64_C(3203168211198807973));
  assert_true(prng.s[2] == UINT64_C(9817491932198370423));
  assert_true(prng.s[3] == UINT64_C(4593380528125082431));
}

/* Uniform in its range: chi-squared over `bound` cells stays below the 99.99 % point of the normal
 * approximation, and nothing lies outside. */
static void test_below(void **state) {
  (void)state;
  static const uint64_t bounds[] = {1, 2, 3, 7, 10, 64, 100, 1000};
  for (unsigned i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    uint64_t bound = bounds[i], cells[1000] = {0};
    struct ls__prng prng;
    ls__prng_seed(&prng, i);
    const unsigned draws = 200000;
    for (unsigned n = 0; n < draws; n++) {
      uint64_t value = ls__prng_below(&prng, bound);
      assert_true(value < bound);
      cells[value]++;
    }
    double chi = 0, mean = (double)draws / (double)bound;
    for (uint64_t cell = 0; cell < bound; cell++)
      chi += ((double)cells[cell] - mean) * ((double)cells[cell] - mean) / mean;
    double freedom = (double)bound - 1;
    assert_true(chi <= freedom + 4 * sqrt(2 * freedom) + 8);
  }
}

/* A bound of 3/4 of the range would favour its first third two to one if the remainder of a plain
 * modulo were taken. */
static void test_below_has_no_bias(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  uint64_t bound = UINT64_C(3) << 62;
  unsigned low = 0;
  const unsigned draws = 90000;
  for (unsigned n = 0; n < draws; n++)
    low += ls__prng_below(&prng, bound) < bound / 3;
  assert_true(fabs((double)low / draws - 1.0 / 3) < 4 * sqrt(2.0 / 9 / draws));
}

static void test_unit_and_normal(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 4);
  const int draws = 400000;
  double unit = 0, mean = 0, square = 0, fourth = 0;
  int beyond = 0;
  for (int n = 0; n < draws; n++) {
    double u = ls__prng_unit(&prng);
    assert_true(u >= 0 && u < 1);
    unit += u;
    double z = ls__prng_normal(&prng);
    assert_true(isfinite(z));
    mean += z;
    square += z * z;
    fourth += z * z * z * z;
    beyond += fabs(z) > 1.959964;
  }
  assert_true(fabs(unit / draws - 0.5) < 4 * sqrt(1.0 / 12 / draws));
  assert_true(fabs(mean / draws) < 4 / sqrt(draws));
  assert_true(fabs(square / draws - 1) < 4 * sqrt(2.0 / draws));
  assert_true(fabs(fourth / draws - 3) < 4 * sqrt(96.0 / draws));
  assert_true(fabs((double)beyond / draws - 0.05) < 4 * sqrt(0.05 * 0.95 / draws));
}

static void below_nothing(void) {
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  ls__prng_below(&prng, 0);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(below_nothing));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_xoshiro_vectors), cmocka_unit_test(test_splitmix_vectors),
      cmocka_unit_test(test_below),           cmocka_unit_test(test_below_has_no_bias),
      cmocka_unit_test(test_unit_and_normal), cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
