#include "io/clock.h"

#include "base/testing.h"
#include "base/time.h"

#include <string.h>
#include <time.h>

static void test_monotonic(void **state) {
  (void)state;
  int64_t before_ns = ls__clock_now();
  assert_true(before_ns > 0);
  for (int i = 0; i < 100000; i++) {
    int64_t now_ns = ls__clock_now();
    assert_true(now_ns >= before_ns);
    before_ns = now_ns;
  }
  usleep(2000);
  int64_t slept_ns = ls__clock_now() - before_ns;
  assert_in_range(slept_ns, 2 * LS_MS, 5 * LS_S);
}

static void test_real(void **state) {
  (void)state;
  int64_t seconds = (int64_t)time(NULL);
  int64_t real_ns = ls__clock_real();
  assert_true(real_ns >= seconds * LS_S && real_ns < (seconds + 5) * LS_S);
}

/* Also more than the 256 bytes that the system gives in one piece. */
static void test_random_bytes(void **state) {
  (void)state;
  static uint8_t a[100000], b[sizeof a];
  ls__random_bytes(a, sizeof a);
  ls__random_bytes(b, sizeof b);
  assert_memory_not_equal(a, b, sizeof a);
  unsigned counts[256] = {0};
  for (size_t i = 0; i < sizeof a; i++)
    counts[a[i]]++;
  /* Expected 391 each, deviation 20: seven deviations either way. */
  for (unsigned i = 0; i < 256; i++)
    assert_in_range(counts[i], 250, 530);
  uint8_t kept = a[1];
  ls__random_bytes(a, 0);
  assert_int_equal(a[1], kept);
}

static void test_random_id(void **state) {
  (void)state;
  unsigned seen[4] = {0};
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(ls__random_id(1), 1);
    uint32_t id = ls__random_id(3);
    assert_in_range(id, 1, 3);
    seen[id]++;
    assert_in_range(ls__random_id(0x3FFFFFFF), 1, 0x3FFFFFFF);
    assert_true(ls__random_id(UINT32_MAX) >= 1);
  }
  for (unsigned i = 1; i <= 3; i++)
    assert_in_range(seen[i], 200, 470);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_monotonic),
      cmocka_unit_test(test_real),
      cmocka_unit_test(test_random_bytes),
      cmocka_unit_test(test_random_id),
  };
  return cmocka_run_group_tests_name("io/clock", tests, NULL, NULL);
}
