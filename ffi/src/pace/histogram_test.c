#include "pace/histogram.h"

#include "base/prng.h"
#include "base/testing.h"

#include <stdlib.h>

#define PART(percent) ((uint32_t)((percent)*LS_HISTOGRAM_WHOLE / 100))

/* What the histogram answers for one value when a larger one keeps it from being clamped to the
 * maximum: the end of its bucket. */
static int64_t bucket_end_of(int64_t value_ns) {
  static struct ls__histogram histogram;
  ls__histogram_reset(&histogram);
  ls__histogram_record(&histogram, value_ns);
  ls__histogram_record(&histogram, LS_HISTOGRAM_MAX);
  return ls__histogram_percentile(&histogram, PART(50));
}

static void check_error(int64_t value_ns) {
  int64_t end_ns = bucket_end_of(value_ns);
  assert_true(end_ns >= value_ns);
  if (value_ns < 32)
    assert_int_equal(end_ns, value_ns);
  else
    assert_true((end_ns - value_ns) * 32 < value_ns);
  if (end_ns < LS_HISTOGRAM_MAX)
    assert_true(bucket_end_of(end_ns + 1) > end_ns); /* buckets do not overlap */
}

static void test_relative_error(void **state) {
  (void)state;
  for (int64_t value_ns = 0; value_ns < 2048; value_ns++)
    check_error(value_ns);
  for (int bit = 11; bit < 42; bit++)
    for (int64_t offset = -2; offset <= 2; offset++)
      check_error((INT64_C(1) << bit) + offset);
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (int i = 0; i < 10000; i++)
    check_error((int64_t)(ls__prng_next(&prng) >> (22 + ls__prng_below(&prng, 40))));
  check_error(LS_HISTOGRAM_MAX);
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Against a sorted list of all values. */
static void test_percentiles(void **state) {
  (void)state;
  enum { COUNT = 20011 };
  static int64_t values[COUNT];
  static struct ls__histogram histogram;
  struct ls__prng prng;
  ls__prng_seed(&prng, 2);
  ls__histogram_reset(&histogram);
  __int128 sum = 0;
  for (int i = 0; i < COUNT; i++) {
    values[i] = (int64_t)(ls__prng_next(&prng) >> (22 + ls__prng_below(&prng, 36)));
    sum += values[i];
    ls__histogram_record(&histogram, values[i]);
  }
  qsort(values, COUNT, sizeof *values, compare);
  assert_int_equal(histogram.count, COUNT);
  assert_int_equal(ls__histogram_min(&histogram), values[0]);
  assert_int_equal(ls__histogram_max(&histogram), values[COUNT - 1]);
  assert_int_equal(ls__histogram_mean(&histogram), (int64_t)(sum / COUNT));
  assert_int_equal(ls__histogram_percentile(&histogram, 0), values[0]);
  assert_int_equal(ls__histogram_percentile(&histogram, LS_HISTOGRAM_WHOLE), values[COUNT - 1]);
  for (uint32_t part = 1; part <= LS_HISTOGRAM_WHOLE; part += 7) {
    uint64_t rank = ((uint64_t)part * COUNT + LS_HISTOGRAM_WHOLE - 1) / LS_HISTOGRAM_WHOLE;
    int64_t exact_ns = values[rank - 1];
    int64_t answer_ns = ls__histogram_percentile(&histogram, part);
    assert_true(answer_ns >= exact_ns);
    assert_true((answer_ns - exact_ns) * 32 <= exact_ns);
  }
}

static void test_empty(void **state) {
  (void)state;
  static struct ls__histogram histogram;
  ls__histogram_reset(&histogram);
  assert_int_equal(ls__histogram_min(&histogram), 0);
  assert_int_equal(ls__histogram_max(&histogram), 0);
  assert_int_equal(ls__histogram_mean(&histogram), 0);
  assert_int_equal(ls__histogram_percentile(&histogram, PART(50)), 0);
}

static void test_out_of_range(void **state) {
  (void)state;
  static struct ls__histogram histogram;
  ls__histogram_reset(&histogram);
  ls__histogram_record(&histogram, -1);
  ls__histogram_record(&histogram, INT64_MIN);
  ls__histogram_record(&histogram, LS_HISTOGRAM_MAX);
  ls__histogram_record(&histogram, LS_HISTOGRAM_MAX + 1);
  ls__histogram_record(&histogram, INT64_MAX);
  assert_int_equal(histogram.count, 5);
  assert_int_equal(histogram.negative, 2);
  assert_int_equal(histogram.beyond, 2);
  assert_int_equal(ls__histogram_min(&histogram), 0);
  assert_int_equal(ls__histogram_max(&histogram), LS_HISTOGRAM_MAX);
  assert_int_equal(ls__histogram_mean(&histogram), 3 * (__int128)LS_HISTOGRAM_MAX / 5);
}

static void test_merge(void **state) {
  (void)state;
  static struct ls__histogram parts[3], whole, merged;
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  ls__histogram_reset(&whole);
  ls__histogram_reset(&merged);
  for (int i = 0; i < 3; i++) /* the last one stays empty */
    ls__histogram_reset(&parts[i]);
  for (int i = 0; i < 5000; i++) {
    int64_t value_ns = (int64_t)(ls__prng_next(&prng) >> 20) - 1000;
    ls__histogram_record(&parts[i % 2], value_ns);
    ls__histogram_record(&whole, value_ns);
  }
  for (int i = 0; i < 3; i++)
    ls__histogram_merge(&merged, &parts[i]);
  assert_memory_equal(&merged, &whole, sizeof whole);
}

/* The sum passes 64 bits without losing the mean: 2^30 values of 73 minutes. */
static void test_wide_sum(void **state) {
  (void)state;
  static struct ls__histogram histogram, copy;
  ls__histogram_reset(&histogram);
  ls__histogram_record(&histogram, LS_HISTOGRAM_MAX);
  for (int i = 0; i < 30; i++) {
    copy = histogram;
    ls__histogram_merge(&histogram, &copy);
  }
  assert_int_equal(histogram.count, 1 << 30);
  assert_true(histogram.sum_high > 0);
  assert_int_equal(ls__histogram_mean(&histogram), LS_HISTOGRAM_MAX);
}

static void test_reset(void **state) {
  (void)state;
  static struct ls__histogram histogram, fresh;
  ls__histogram_reset(&fresh);
  ls__histogram_reset(&histogram);
  ls__histogram_record(&histogram, 5);
  ls__histogram_record(&histogram, -5);
  ls__histogram_reset(&histogram);
  assert_memory_equal(&histogram, &fresh, sizeof fresh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_relative_error), cmocka_unit_test(test_percentiles),
      cmocka_unit_test(test_empty),          cmocka_unit_test(test_out_of_range),
      cmocka_unit_test(test_merge),          cmocka_unit_test(test_wide_sum),
      cmocka_unit_test(test_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
