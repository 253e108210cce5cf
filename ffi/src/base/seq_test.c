#include "base/seq.h"

#include "base/prng.h"
#include "base/testing.h"

#define TOP LS_SEQ_MASK
#define HALF UINT32_C(0x40000000)

static void test_diff(void **state) {
  (void)state;
  static const struct {
    uint32_t a, b;
    int32_t diff;
  } cases[] = {
      {0, 0, 0},
      {1, 0, 1},
      {0, 1, -1},
      {0, TOP, 1}, /* across the wrap */
      {TOP, 0, -1},
      {5, TOP - 4, 10},
      {TOP - 4, 5, -10},
      {HALF - 1, 0, (int32_t)HALF - 1}, /* as far ahead as can be told */
      {HALF, 0, -(int32_t)HALF},        /* half way round is behind */
      {0, HALF, -(int32_t)HALF},
      {0, HALF + 1, (int32_t)HALF - 1},
      {TOP, HALF, (int32_t)HALF - 1},
      {TOP, HALF - 1, -(int32_t)HALF},
      {HALF, TOP, -((int32_t)HALF - 1)},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(ls__seq_diff(cases[i].a, cases[i].b), cases[i].diff);
    assert_int_equal(ls__seq_before(cases[i].a, cases[i].b), cases[i].diff < 0);
  }
}

/* Around any number, the wrap included: diff undoes add, next is add 1, and before is an order on
 * numbers less than half the circle apart. */
static void test_circle(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (int i = 0; i < 200000; i++) {
    /* Half of the starting points lie at the wrap or half way round. */
    uint32_t seq = (uint32_t)ls__prng_next(&prng) & TOP;
    if (i % 4 < 2)
      seq = (i % 4 * HALF + (seq & 63) - 32) & TOP;
    int32_t offset = (int32_t)(ls__prng_next(&prng) & TOP) - (int32_t)HALF;
    uint32_t other = ls__seq_add(seq, offset);
    assert_true(other <= TOP);
    assert_int_equal(ls__seq_diff(other, seq), offset);
    assert_int_equal(ls__seq_before(other, seq), offset < 0);
    assert_int_equal(ls__seq_next(seq), ls__seq_add(seq, 1));
    assert_int_equal(ls__seq_diff(ls__seq_next(seq), seq), 1);
    if (offset != -(int32_t)HALF) {
      assert_int_equal(ls__seq_diff(seq, other), -offset);
      assert_int_equal(ls__seq_before(seq, other), offset > 0);
    }
  }
}

static void test_msgno(void **state) {
  (void)state;
  assert_int_equal(ls__msgno_next(1), 2);
  assert_int_equal(ls__msgno_next(LS_MSGNO_MAX - 1), LS_MSGNO_MAX);
  assert_int_equal(ls__msgno_next(LS_MSGNO_MAX), 1); /* never 0 */
  assert_int_equal(ls__msgno_next(0), 1);
}

static void test_stamp(void **state) {
  (void)state;
  const int64_t wrap = INT64_C(1) << 32;
  const struct {
    uint32_t stamp_us;
    int64_t near_us, unwrapped_us;
  } cases[] = {
      {0, 0, 0},
      {5, 0, 5},
      {0, 5, 0}, /* a little back */
      {0, UINT32_MAX, wrap},
      {UINT32_MAX, wrap, UINT32_MAX}, /* a late one from before the wrap */
      {UINT32_MAX, 0, -1},            /* before the start of the connection */
      {7, 3 * wrap - 10, 3 * wrap + 7},
      {UINT32_MAX - 7, 3 * wrap + 10, 3 * wrap - 8},
      {0x7FFFFFFF, 0, 0x7FFFFFFF}, /* 35 min 47 s ahead */
      {0x80000000, 0, -INT64_C(0x80000000)},
      {0x80000000, 5 * wrap, 5 * wrap - INT64_C(0x80000000)},
      {0x80000000, 5 * wrap + 1, 5 * wrap + INT64_C(0x80000000)},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(ls__stamp_unwrap(cases[i].stamp_us, cases[i].near_us), cases[i].unwrapped_us);
}

/* A day of packets, out of order by up to half a minute, each unwrapped against the newest: all
 * twenty wraps are passed without an error, wherever in the range the connection began. */
static void test_stamps_of_a_day(void **state) {
  (void)state;
  struct ls__prng prng;
  for (uint64_t seed = 0; seed < 20; seed++) {
    ls__prng_seed(&prng, seed);
    int64_t now_us = (int64_t)(ls__prng_next(&prng) >> 32), newest_us = now_us;
    int64_t end_us = now_us + INT64_C(86400000000);
    while (now_us < end_us) {
      now_us += (int64_t)ls__prng_below(&prng, 10000000);
      int64_t sent_us = now_us - (int64_t)ls__prng_below(&prng, 30000000);
      int64_t unwrapped_us = ls__stamp_unwrap((uint32_t)(uint64_t)sent_us, newest_us);
      assert_int_equal(unwrapped_us, sent_us);
      newest_us = unwrapped_us > newest_us ? unwrapped_us : newest_us;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diff),
      cmocka_unit_test(test_circle),
      cmocka_unit_test(test_msgno),
      cmocka_unit_test(test_stamp),
      cmocka_unit_test(test_stamps_of_a_day),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
