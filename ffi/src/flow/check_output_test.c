/* The check output, by its own functions: a sender's marked stream goes in with faults, and the
 * statistics say what they were. */
#include "base/prng.h"
#include "base/time.h"
#include "flow/flow.h"
#include "media/marker.h"
#include "media/testing.h"

#include <stdlib.h>

/* TS packets of one payload, and payloads of a run; every third packet is a marker. */
#define PACKED 7
#define PAYLOADS 3000

struct fixture {
  struct ls__endpoint *check;
  struct ls__marker_writer writer;
  uint64_t packets;
};

static struct fixture f;

static int begin(void **state) {
  (void)state;
  f.check = ls__check_output_new();
  f.check->ops->prepare(f.check, NULL, 0);
  assert_int_equal(f.check->ops->start(f.check, 0, NULL, 0), 0);
  assert_true(f.check->ops->has_room(f.check));
  ls__marker_writer_init(&f.writer, 42);
  f.packets = 0;
  return 0;
}

static int end(void **state) {
  (void)state;
  f.check->ops->stop(f.check, 0);
  assert_true(f.check->ops->ended(f.check));
  f.check->ops->shut(f.check);
  f.check->ops->destroy(f.check);
  return 0;
}

/* The next payload of the sender, which leaves at `at_ns`. */
static void make(uint8_t payload[PACKED * LS_TS_SIZE], int64_t at_ns) {
  for (unsigned i = 0; i < PACKED; i++) {
    uint8_t *packet = payload + i * LS_TS_SIZE;
    ls__test_packet(packet, f.packets % 3 ? 100 : LS_TS_PID_NULL, 0, (uint8_t)f.packets);
    ls__marker_write(&f.writer, packet, at_ns);
    f.packets++;
  }
}

static void push(const uint8_t *payload, size_t len, int64_t now_ns) {
  f.check->ops->push(f.check, payload, len, now_ns, now_ns);
}

static const struct ls__stats_endpoint *statistics(void) {
  f.check->ops->gauges(f.check, 0);
  return &f.check->stats;
}

/* Latencies to a fraction of a millisecond, about a base of 0.3 s. */
static void test_clean(void **state) {
  (void)state;
  uint8_t payload[PACKED * LS_TS_SIZE];
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  int64_t least_ns = LS_NEVER, most_ns = 0;
  assert_int_equal(statistics()->check_latency_max_ns, 0); /* nothing is measured yet */
  for (int64_t i = 0; i < PAYLOADS; i++) {
    int64_t latency_ns = 300 * LS_MS + (int64_t)ls__prng_below(&prng, 200 * LS_US);
    make(payload, i * LS_MS);
    push(payload, sizeof payload, i * LS_MS + latency_ns);
    least_ns = ls__time_min(least_ns, latency_ns);
    most_ns = ls__time_max(most_ns, latency_ns);
  }
  const struct ls__stats_endpoint *stats = statistics();
  assert_int_equal(stats->packets, PAYLOADS);
  assert_int_equal(stats->bytes, PAYLOADS * sizeof payload);
  assert_int_equal(stats->check_ts_packets, PAYLOADS * PACKED);
  assert_int_equal(stats->check_ts_lost + stats->check_ts_wrong + stats->errors, 0);
  assert_int_equal(stats->check_latency_min_ns, least_ns);
  assert_int_equal(stats->check_latency_max_ns, most_ns);
  assert_in_range(stats->check_latency_p50_ns, 300 * LS_MS, 300 * LS_MS + 250 * LS_US);
  assert_in_range(stats->check_jitter_ns, 1, 200 * LS_US);
}

/* What is lost, altered and out of place is told apart, for random faults of each kind. */
static void test_faults(void **state) {
  (void)state;
  uint8_t payload[PACKED * LS_TS_SIZE];
  struct ls__prng prng;
  ls__prng_seed(&prng, 9);
  uint64_t lost = 0, altered = 0;
  for (int64_t i = 0; i < PAYLOADS; i++) {
    make(payload, i * LS_MS);
    bool edge = i < 2 || i > PAYLOADS - 3 || i % 10 != 5; /* faults far apart */
    unsigned fault = edge ? 2 : (unsigned)ls__prng_below(&prng, 3);
    if (fault == 0) {
      lost += PACKED;
      continue;
    }
    if (fault == 1) {
      unsigned at = f.packets % 3 == 0 ? 1 : 0; /* not a marker */
      while ((f.packets - PACKED + at) % 3 == 0)
        at++;
      payload[at * LS_TS_SIZE + 20] ^= 0x10;
      altered++;
    }
    push(payload, sizeof payload, i * LS_MS);
  }
  const struct ls__stats_endpoint *stats = statistics();
  assert_true(lost > 0 && altered > 0);
  assert_int_equal(stats->check_ts_lost, lost);
  assert_int_equal(stats->check_ts_wrong, altered);
  assert_int_equal(stats->check_ts_packets, f.packets - lost);
}

/* A payload of no whole packets is an error; its whole ones are still looked at. */
static void test_odd_lengths(void **state) {
  (void)state;
  uint8_t payload[PACKED * LS_TS_SIZE] = {0};
  make(payload, 0);
  push(payload, sizeof payload - 1, 0);
  push(payload, 100, 0);
  push(payload, 1, 0);
  const struct ls__stats_endpoint *stats = statistics();
  assert_int_equal(stats->errors, 3);
  assert_int_equal(stats->packets, 3);
  assert_int_equal(stats->check_ts_packets, PACKED - 1);
}

/* A latency below the first one, and below zero where the clocks of two machines differ. */
static void test_negative_latency(void **state) {
  (void)state;
  uint8_t payload[PACKED * LS_TS_SIZE];
  for (int64_t i = 0; i < 100; i++) {
    make(payload, LS_S + i * LS_MS);
    push(payload, sizeof payload, LS_S + i * LS_MS - (i < 50 ? 0 : 700 * LS_MS));
  }
  const struct ls__stats_endpoint *stats = statistics();
  assert_int_equal(stats->check_latency_min_ns, -700 * LS_MS);
  assert_int_equal(stats->check_latency_max_ns, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_clean, begin, end),
      cmocka_unit_test_setup_teardown(test_faults, begin, end),
      cmocka_unit_test_setup_teardown(test_odd_lengths, begin, end),
      cmocka_unit_test_setup_teardown(test_negative_latency, begin, end),
  };
  return cmocka_run_group_tests_name("flow/check_output", tests, NULL, NULL);
}
