#include "pace/rate.h"

#include "base/prng.h"
#include "base/testing.h"
#include "base/time.h"

#define NB_PER_BYTE INT64_C(8000000000)

/* One departure, and the rate from it on. */
struct departure {
  int64_t at_ns;
  uint32_t bytes;
};

static int64_t ceil_div(__int128 a, __int128 b) {
  return (int64_t)((a + b - 1) / b);
}

/* Whether a packet of `bytes` at `at_ns` after `count` earlier ones keeps the law of the header in
 * every window that ends with it: the sum over each window, in the header's own formula. */
static bool lawful(const struct departure *sent, unsigned count, uint64_t rate_bps,
                   uint32_t burst_bytes, int64_t at_ns, uint32_t bytes) {
  __int128 sum = bytes;
  for (unsigned i = count + 1; i-- > 0; sum += i ? sent[i - 1].bytes : 0) {
    int64_t from_ns = i == count ? at_ns : sent[i].at_ns;
    __int128 allowed = (__int128)rate_bps * (at_ns - from_ns) + (__int128)NB_PER_BYTE * burst_bytes;
    if (sum * NB_PER_BYTE > allowed)
      return false;
  }
  return true;
}

/* Random packets at random times: each departure keeps the law and none could have been earlier. */
static void test_law(void **state) {
  (void)state;
  static const struct {
    uint64_t rate_bps;
    uint32_t burst_bytes;
  } laws[] = {{8, 1},
              {1, 100},
              {64000, 1500},
              {1000003, 1501},
              {10000000, 1500},
              {333333333, 4500},
              {500000000, 21056},
              {9999999967, 65535},
              {UINT64_C(400000000000), 1 << 20}};
  enum { COUNT = 200 };
  static struct departure sent[COUNT];
  struct ls__prng prng;
  for (unsigned round = 0; round < 20 * sizeof laws / sizeof *laws; round++) {
    uint64_t rate_bps = laws[round / 20].rate_bps;
    uint32_t burst = laws[round / 20].burst_bytes;
    ls__prng_seed(&prng, round);
    struct ls__rate rate;
    ls__rate_init(&rate, rate_bps, burst);
    int64_t now_ns = (int64_t)ls__prng_below(&prng, LS_S), last_ns = now_ns;
    uint64_t mean_ns = 2 * NB_PER_BYTE * burst / rate_bps / 3 + 2;
    for (unsigned i = 0; i < COUNT; i++) {
      /* Half of the packets come at once, the rest in gaps around the rate, some far beyond it. */
      uint64_t kind = ls__prng_below(&prng, 16);
      now_ns += kind < 8 ? 0 : (int64_t)ls__prng_below(&prng, kind == 15 ? 20 * mean_ns : mean_ns);
      uint32_t bytes = 1 + (uint32_t)ls__prng_below(&prng, burst);
      int64_t at_ns = ls__rate_earliest(&rate, now_ns, bytes);
      assert_true(at_ns >= now_ns);
      assert_true(lawful(sent, i, rate_bps, burst, at_ns, bytes));
      if (at_ns > now_ns && at_ns > last_ns)
        assert_false(lawful(sent, i, rate_bps, burst, at_ns - 1, bytes));
      ls__rate_commit(&rate, at_ns, bytes);
      sent[i] = (struct departure){at_ns, bytes};
      last_ns = at_ns;
    }
  }
}

/* A sender that always has a packet: departure n is exact to the nanosecond, rounded up, at any
 * rate and for as long as it runs, so that no error adds up. */
static void test_no_drift(void **state) {
  (void)state;
  static const struct {
    uint64_t rate_bps;
    uint32_t bytes, burst_bytes;
    unsigned count;
  } runs[] = {
      {500000000, 1360, 2720, 1000000},   /* 21 760 ns */
      {333333333, 1360, 1361, 1000000},   /* 32 640.000 03 ns: one byte of slack will do */
      {1000000007, 1316, 1317, 1000000},  /* 10 527.999 93 ns */
      {7999999993, 188, 189, 1000000},    /* a grid of 188 ns and a little */
      {999983, 1500, 3000, 300000},       /* one hour */
      {500000000, 60000, 120000, 3750000} /* 500 Mbit/s for one hour: 225 GB */
  };
  for (unsigned run = 0; run < sizeof runs / sizeof *runs; run++) {
    struct ls__rate rate;
    int64_t start_ns = 12345, at_ns = start_ns;
    ls__rate_init(&rate, runs[run].rate_bps, runs[run].burst_bytes);
    for (unsigned n = 1; n <= runs[run].count; n++) {
      at_ns = ls__rate_earliest(&rate, at_ns, runs[run].bytes);
      __int128 bytes = (__int128)n * runs[run].bytes - runs[run].burst_bytes;
      int64_t due_ns = bytes > 0 ? ceil_div(bytes * NB_PER_BYTE, runs[run].rate_bps) : 0;
      assert_int_equal(at_ns - start_ns, due_ns);
      ls__rate_commit(&rate, at_ns, runs[run].bytes);
    }
  }
}

static void test_unlimited(void **state) {
  (void)state;
  struct ls__rate rate;
  ls__rate_init(&rate, 0, 1500);
  assert_int_equal(ls__rate_earliest(&rate, -7, 9000), -7);
  ls__rate_commit(&rate, 100, 9000);
  assert_int_equal(ls__rate_earliest(&rate, 100, 9000), 100);
  assert_int_equal(ls__rate_earliest(&rate, 50, 1), 100); /* never backwards */
}

static void test_asking_changes_nothing(void **state) {
  (void)state;
  struct ls__rate rate, copy;
  ls__rate_init(&rate, 1000000, 1500);
  ls__rate_commit(&rate, 5, 1500);
  copy = rate;
  assert_int_equal(ls__rate_earliest(&rate, 5, 1500), 5 + 12 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 0, 1500), 5 + 12 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 13 * LS_MS, 1500), 13 * LS_MS);
  assert_memory_equal(&rate, &copy, sizeof rate);
}

static void test_beyond_time(void **state) {
  (void)state;
  struct ls__rate rate;
  ls__rate_init(&rate, 1, LS_RATE_BURST_MAX);
  ls__rate_commit(&rate, INT64_MAX - 10, LS_RATE_BURST_MAX);
  assert_int_equal(ls__rate_earliest(&rate, 0, LS_RATE_BURST_MAX), LS_NEVER);
}

/* The rate changes at random: in any window, bytes ≤ the integral of the rate + the largest burst
 * in force. */
static void test_changes(void **state) {
  (void)state;
  enum { COUNT = 300 };
  static struct departure sent[COUNT];
  static __int128 integral[COUNT]; /* of the rate, from the start to each departure */
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    struct ls__rate rate;
    uint64_t rate_bps = 10000000;
    ls__rate_init(&rate, rate_bps, 3000);
    int64_t now_ns = 0, since_ns = 0;
    __int128 sum = 0;
    for (unsigned i = 0; i < COUNT; i++) {
      if (ls__prng_below(&prng, 4) == 0) {
        int64_t from_ns = ls__time_max(now_ns, i ? sent[i - 1].at_ns : 0);
        sum += (__int128)rate_bps * (from_ns - since_ns);
        since_ns = from_ns;
        rate_bps = 1000000 + ls__prng_below(&prng, 99000000);
        ls__rate_set(&rate, rate_bps, 1500 + (uint32_t)ls__prng_below(&prng, 1501), now_ns);
      }
      now_ns += (int64_t)ls__prng_below(&prng, 1000000);
      uint32_t bytes = 1 + (uint32_t)ls__prng_below(&prng, 1500);
      int64_t at_ns = ls__rate_earliest(&rate, now_ns, bytes);
      ls__rate_commit(&rate, at_ns, bytes);
      sent[i] = (struct departure){at_ns, bytes};
      integral[i] = sum + (__int128)rate_bps * (at_ns - since_ns);
      __int128 total = 0;
      for (unsigned j = i + 1; j-- > 0;) {
        total += sent[j].bytes;
        assert_true(total * NB_PER_BYTE <= integral[i] - integral[j] + 3000 * NB_PER_BYTE);
      }
    }
  }
}

static void test_change_keeps_tokens(void **state) {
  (void)state;
  struct ls__rate rate;
  ls__rate_init(&rate, 1000000, 3000);
  ls__rate_commit(&rate, 0, 3000);
  /* After 12 ms at 1 Mbit/s 1500 bytes are there; the rest comes at 2 Mbit/s. */
  ls__rate_set(&rate, 2000000, 3000, 12 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 0, 1500), 12 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 0, 3000), 18 * LS_MS);
  /* A larger bucket fills at the rate, it is not born full. */
  ls__rate_set(&rate, 2000000, 6000, 18 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 0, 6000), 30 * LS_MS);
  /* What no longer fits is gone. */
  ls__rate_set(&rate, 2000000, 1500, 30 * LS_MS);
  ls__rate_set(&rate, 2000000, 6000, 30 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 0, 6000), 48 * LS_MS);
}

static void test_limit_after_none(void **state) {
  (void)state;
  struct ls__rate rate;
  ls__rate_init(&rate, 0, 1500);
  ls__rate_commit(&rate, 1000, 1500);
  ls__rate_set(&rate, 1000000, 1500, 2000);
  assert_int_equal(ls__rate_earliest(&rate, 2000, 1500), 2000 + 12 * LS_MS);
  ls__rate_set(&rate, 0, 1500, 3000);
  assert_int_equal(ls__rate_earliest(&rate, 3000, 1500), 3000);
}

/* A change asked for while departures are committed ahead begins after the last of them. */
static void test_change_behind_schedule(void **state) {
  (void)state;
  struct ls__rate rate;
  ls__rate_init(&rate, 1000000, 1500);
  ls__rate_commit(&rate, 0, 1500);
  ls__rate_commit(&rate, 12 * LS_MS, 1500);
  ls__rate_set(&rate, 10000000, 1500, 1 * LS_MS);
  assert_int_equal(ls__rate_earliest(&rate, 1 * LS_MS, 1500), 12 * LS_MS + 1200 * LS_US);
}

static void commit_early(void) {
  struct ls__rate rate;
  ls__rate_init(&rate, 1000000, 1500);
  ls__rate_commit(&rate, 0, 1500);
  ls__rate_commit(&rate, 12 * LS_MS - 1, 1500);
}

static void commit_backwards(void) {
  struct ls__rate rate;
  ls__rate_init(&rate, 0, 1500);
  ls__rate_commit(&rate, 10, 1500);
  ls__rate_commit(&rate, 9, 1500);
}

static void ask_beyond_burst(void) {
  struct ls__rate rate;
  ls__rate_init(&rate, 1000000, 1500);
  ls__rate_earliest(&rate, 0, 1501);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(commit_early));
  assert_true(ls__test_aborts(commit_backwards));
  assert_true(ls__test_aborts(ask_beyond_burst));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_law),
      cmocka_unit_test(test_no_drift),
      cmocka_unit_test(test_unlimited),
      cmocka_unit_test(test_asking_changes_nothing),
      cmocka_unit_test(test_beyond_time),
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_change_keeps_tokens),
      cmocka_unit_test(test_limit_after_none),
      cmocka_unit_test(test_change_behind_schedule),
      cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
