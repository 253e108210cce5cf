#include "stream/tsbpd.h"

#include "base/prng.h"
#include "base/testing.h"

#include <stdlib.h>

/* A peer as the receiver sees it: its clock, and the two ways to it. Times are the receiver's. */
struct peer {
  int64_t rate_ppb;          /* its clock's error */
  int64_t there_ns, back_ns; /* one-way delays now */
  struct ls__drift_link link;
};

static struct ls__tsbpd clock_;
static struct ls__prng prng;

#define LATENCY_NS (120 * LS_MS)
#define START_NS (50 * LS_S)
/* What the peer's clock shows when the connection begins. */
static int64_t stamp_start_us;

/* The peer's clock at a time of ours. */
static int64_t stamp_at(const struct peer *peer, int64_t at_ns) {
  int64_t elapsed_ns = at_ns - START_NS;
  return stamp_start_us + (elapsed_ns + elapsed_ns / LS_S * peer->rate_ppb +
                           elapsed_ns % LS_S * peer->rate_ppb / LS_S) /
                              LS_US;
}

static void start(struct peer *peer) {
  ls__prng_seed(&prng, 1);
  uint32_t stamp = (uint32_t)stamp_at(peer, START_NS - peer->there_ns);
  ls__tsbpd_start(&clock_, stamp, START_NS, LATENCY_NS);
  ls__drift_link_init(&peer->link, START_NS);
}

/* An ACKACK that left the peer at `at_ns`, `extra_ns` late. */
static void sample(struct peer *peer, int64_t at_ns, int64_t extra_ns) {
  int64_t there_ns = peer->there_ns + extra_ns;
  ls__tsbpd_sample(&clock_, &peer->link, (uint32_t)stamp_at(peer, at_ns), there_ns + peer->back_ns,
                   at_ns + there_ns);
}

/* How far delivery of a packet that leaves at `at_ns` has moved from where it was at the start. */
static int64_t moved(const struct peer *peer, int64_t at_ns, int64_t there_start_ns) {
  int64_t now_ns = at_ns + there_start_ns;
  int64_t stamp_us = ls__tsbpd_unwrap(&clock_, (uint32_t)stamp_at(peer, at_ns), now_ns);
  return ls__tsbpd_due(&clock_, stamp_us, now_ns) - (now_ns + LATENCY_NS);
}

static void test_base(void **state) {
  (void)state;
  static const uint32_t stamps[] = {0, 1, 1000000, UINT32_MAX - 1000, UINT32_MAX};
  for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
    ls__tsbpd_start(&clock_, stamps[i], START_NS, LATENCY_NS);
    /* A packet that was stamped a second later, and arrives at any time, is due a second later. */
    for (int64_t late_ns = 0; late_ns < 2 * LS_S; late_ns += LS_S / 3) {
      int64_t now_ns = START_NS + LS_S + late_ns;
      int64_t stamp_us = ls__tsbpd_unwrap(&clock_, stamps[i] + 1000000, now_ns);
      assert_int_equal(stamp_us, (int64_t)stamps[i] + 1000000);
      assert_int_equal(ls__tsbpd_due(&clock_, stamp_us, now_ns), START_NS + LS_S + LATENCY_NS);
    }
  }
}

/* The 32-bit stamp wraps each 71 min 35 s: for a day, with a packet each 7 minutes, each second
 * behind by up to a minute, or after pauses longer than the wrap. */
static void test_wrap(void **state) {
  (void)state;
  static const int64_t steps_ns[] = {LS_S, 420 * LS_S, 4000 * LS_S, 9000 * LS_S};
  for (size_t i = 0; i < sizeof steps_ns / sizeof *steps_ns; i++) {
    stamp_start_us = INT64_C(1) << 31;
    struct peer peer = {.there_ns = 10 * LS_MS, .back_ns = 10 * LS_MS};
    start(&peer);
    for (int64_t at_ns = START_NS; at_ns < 90000 * LS_S; at_ns += steps_ns[i]) {
      int64_t sent_ns = at_ns - (int64_t)ls__prng_below(&prng, 60 * LS_S);
      sent_ns = ls__time_max(sent_ns, START_NS);
      int64_t stamp_us = ls__tsbpd_unwrap(&clock_, (uint32_t)stamp_at(&peer, sent_ns), at_ns);
      int64_t due_ns = ls__tsbpd_due(&clock_, stamp_us, at_ns);
      assert_int_equal(due_ns, sent_ns / LS_US * LS_US + 10 * LS_MS + LATENCY_NS);
    }
  }
}

/* No stamp from outside moves the others: it is compared with our own clock. */
static void test_forged_stamps(void **state) {
  (void)state;
  stamp_start_us = 5;
  struct peer peer = {.there_ns = 10 * LS_MS, .back_ns = 10 * LS_MS};
  start(&peer);
  for (int i = 1; i < 20; i++) {
    int64_t now_ns = START_NS + i * LS_S;
    ls__tsbpd_unwrap(&clock_, (uint32_t)i * UINT32_C(1700000000), now_ns);
    ls__tsbpd_sample(&clock_, &peer.link, (uint32_t)i * UINT32_C(1700000000), 0, now_ns);
    assert_int_equal(moved(&peer, now_ns, peer.there_ns), 0);
  }
}

/* Clocks that are wrong by up to 500 ppm are followed: never by a step, never faster than
 * 1000 ppm, and to a fraction of a millisecond. */
static void test_drift(void **state) {
  (void)state;
  static const int64_t rates_ppb[] = {100000, -100000, 200000, -200000, 20000, 500000, -500000};
  for (size_t i = 0; i < sizeof rates_ppb / sizeof *rates_ppb; i++) {
    struct peer peer = {rates_ppb[i], 20 * LS_MS, 20 * LS_MS, {0}};
    start(&peer);
    int64_t limit_ns = llabs(rates_ppb[i]) * 6; /* what the clock gains in six seconds */
    int64_t last_ns = 0;
    for (int64_t at_ns = START_NS; at_ns < START_NS + 1800 * LS_S; at_ns += 10 * LS_MS) {
      sample(&peer, at_ns, 0);
      int64_t moved_ns = moved(&peer, at_ns, peer.there_ns);
      assert_true(llabs(moved_ns) < limit_ns);
      if (at_ns > START_NS + 300 * LS_S)
        assert_true(llabs(moved_ns) < 1000 * LS_US * 6 / 10);
      /* What is said now of half a second from now is true then. */
      int64_t now_ns = at_ns + peer.there_ns, stamp_us = stamp_at(&peer, at_ns + LS_S / 2);
      stamp_us = ls__tsbpd_unwrap(&clock_, (uint32_t)stamp_us, now_ns);
      int64_t due_ns = ls__tsbpd_due(&clock_, stamp_us, now_ns);
      assert_true(llabs(ls__tsbpd_due(&clock_, stamp_us, due_ns) - due_ns) < LS_US);
      int64_t correction_ns = ls__tsbpd_correction(&clock_, at_ns + peer.there_ns);
      assert_true(llabs(correction_ns - last_ns) <= 10 * LS_US);
      last_ns = correction_ns;
    }
    assert_true(llabs(-clock_.integral_ppb - rates_ppb[i]) < 2000);
  }
}

/* A longer path is not a slower clock (libsrt issues 753, 984). */
static void test_round_trip(void **state) {
  (void)state;
  static const int64_t ramps_ns[] = {LS_S / 10, 10 * LS_S, 60 * LS_S};
  for (size_t i = 0; i < sizeof ramps_ns / sizeof *ramps_ns; i++) {
    struct peer peer = {.there_ns = 10 * LS_MS, .back_ns = 10 * LS_MS};
    start(&peer);
    int64_t up_ns = START_NS + 30 * LS_S, down_ns = up_ns + ramps_ns[i] + 60 * LS_S;
    for (int64_t at_ns = START_NS; at_ns < down_ns + ramps_ns[i] + 60 * LS_S; at_ns += 10 * LS_MS) {
      int64_t up = ls__time_max(0, ls__time_min(at_ns - up_ns, ramps_ns[i]));
      int64_t down = ls__time_max(0, ls__time_min(at_ns - down_ns, ramps_ns[i]));
      peer.there_ns = peer.back_ns = 10 * LS_MS + (up - down) * 190 / (ramps_ns[i] / LS_MS);
      sample(&peer, at_ns, 0);
      assert_true(llabs(moved(&peer, at_ns, 10 * LS_MS)) < 5 * LS_MS);
    }
  }
}

struct arrival {
  int64_t sent_ns, extra_ns;
};

static int by_arrival(const void *a, const void *b) {
  const struct arrival *one = a, *other = b;
  int64_t difference = one->sent_ns + one->extra_ns - other->sent_ns - other->extra_ns;
  return (difference > 0) - (difference < 0);
}

/* What was held up on the way, some of it for seconds, moves delivery by little. */
static void test_outliers(void **state) {
  (void)state;
  static const struct {
    int64_t jitter_ns, outlier_ns;
    unsigned one_in;
  } cases[] = {
      {0, 3 * LS_S, 500},       {2 * LS_MS, LS_S, 500},       {10 * LS_MS, 200 * LS_MS, 100},
      {30 * LS_MS, LS_MS, 100}, {20 * LS_MS, 500 * LS_MS, 5},
  };
  enum { COUNT = 60000 };
  static struct arrival arrivals[COUNT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct peer peer = {.there_ns = 20 * LS_MS, .back_ns = 20 * LS_MS};
    start(&peer);
    for (int j = 0; j < COUNT; j++) {
      bool outlier = ls__prng_below(&prng, cases[i].one_in) == 0;
      int64_t limit_ns = outlier ? cases[i].outlier_ns : cases[i].jitter_ns;
      arrivals[j] = (struct arrival){START_NS + j * 10 * LS_MS,
                                     (int64_t)ls__prng_below(&prng, (uint64_t)limit_ns + 1)};
    }
    qsort(arrivals, COUNT, sizeof *arrivals, by_arrival);
    for (int j = 0; j < COUNT; j++) {
      sample(&peer, arrivals[j].sent_ns, arrivals[j].extra_ns);
      int64_t now_ns = arrivals[j].sent_ns + arrivals[j].extra_ns;
      assert_true(llabs(moved(&peer, now_ns, 20 * LS_MS)) < LS_MS);
    }
  }
}

/* Hours of a path that jitters both ways: what each window cannot tell must not add up. */
static void test_jitter(void **state) {
  (void)state;
  static const int64_t rates_ppb[] = {0, 100000};
  for (size_t i = 0; i < 2; i++) {
    struct peer peer = {rates_ppb[i], 20 * LS_MS, 20 * LS_MS, {0}};
    start(&peer);
    for (int64_t at_ns = START_NS; at_ns < START_NS + 7200 * LS_S; at_ns += 30 * LS_MS) {
      peer.back_ns = 20 * LS_MS + (int64_t)ls__prng_below(&prng, 8 * LS_MS);
      sample(&peer, at_ns, (int64_t)ls__prng_below(&prng, 8 * LS_MS));
      assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < 3 * LS_MS / 2);
    }
  }
}

/* Queues that fill for seconds and empty again, on one way only, while the clock drifts: what a
 * queue can explain is no drift. Then a path that is longer on one way for good. */
static void test_queues(void **state) {
  (void)state;
  static const int64_t rates_ppb[] = {0, 60000, -60000};
  for (size_t i = 0; i < 6; i++) {
    struct peer peer = {rates_ppb[i % 3], 20 * LS_MS, 20 * LS_MS, {0}};
    start(&peer);
    int64_t at_ns = START_NS;
    for (; at_ns < START_NS + 600 * LS_S; at_ns += 10 * LS_MS) {
      int64_t phase_ns = at_ns % (20 * LS_S) - 10 * LS_S; /* ten seconds without, then a hill */
      int64_t hill_ns = phase_ns < 0 ? 0 : ls__time_min(phase_ns, 10 * LS_S - phase_ns);
      int64_t queue_ns = hill_ns / 25; /* up to 200 ms */
      peer.back_ns = 20 * LS_MS + (i < 3 ? 0 : queue_ns);
      sample(&peer, at_ns, i < 3 ? queue_ns : 0);
      assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < LS_MS);
    }
    peer.back_ns = 20 * LS_MS;
    for (; at_ns < START_NS + 1200 * LS_S; at_ns += 10 * LS_MS) {
      sample(&peer, at_ns, 30 * LS_MS);
      assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < 2 * LS_MS);
    }
  }
}

/* A path that is never the same for two seconds: what is left is bounded by what it cannot tell. */
static void test_wander(void **state) {
  (void)state;
  static const int64_t rates_ppb[] = {100000, -200000};
  for (size_t i = 0; i < 2; i++) {
    struct peer peer = {rates_ppb[i], 20 * LS_MS, 20 * LS_MS, {0}};
    start(&peer);
    int64_t extra_ns = 0;
    for (int64_t at_ns = START_NS; at_ns < START_NS + 1800 * LS_S; at_ns += 10 * LS_MS) {
      if (at_ns % LS_S == 0) {
        extra_ns = (int64_t)ls__prng_below(&prng, 10 * LS_MS);
        peer.back_ns = 20 * LS_MS + (int64_t)ls__prng_below(&prng, 10 * LS_MS);
      }
      sample(&peer, at_ns, extra_ns);
      assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < 8 * LS_MS);
    }
    assert_true(llabs(-clock_.integral_ppb - rates_ppb[i]) < 40000);
  }
}

/* Two links of different length do not disagree about the clock. */
static void test_two_links(void **state) {
  (void)state;
  struct peer near = {100000, 5 * LS_MS, 5 * LS_MS, {0}};
  start(&near);
  struct peer far = near;
  far.there_ns = far.back_ns = 85 * LS_MS;
  ls__drift_link_init(&far.link, START_NS);
  for (int64_t at_ns = START_NS; at_ns < START_NS + 300 * LS_S; at_ns += 10 * LS_MS) {
    /* Each measures for a while, both for a while. */
    int64_t third = (at_ns - START_NS) / (25 * LS_S) % 3;
    if (third != 0)
      sample(&near, at_ns, 0);
    if (third != 1)
      sample(&far, at_ns, 0);
    assert_true(llabs(moved(&near, at_ns, near.there_ns)) < 3 * LS_MS);
  }
}

/* Nothing measures while nothing is sent: what the last window asked for ends with it, only the
 * rate of the clock goes on. */
static void test_silence(void **state) {
  (void)state;
  static const int64_t rates_ppb[] = {0, 50000};
  for (size_t i = 0; i < 2; i++) {
    struct peer peer = {rates_ppb[i], 20 * LS_MS, 20 * LS_MS, {0}};
    start(&peer);
    int64_t at_ns = START_NS;
    for (; at_ns < START_NS + 300 * LS_S; at_ns += 10 * LS_MS)
      sample(&peer, at_ns, 0);
    for (int j = 0; j < 200; j++, at_ns += 10 * LS_MS)
      sample(&peer, at_ns, 40 * LS_MS); /* a queue just before the pause */
    at_ns += 3600 * LS_S;
    assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < 3600 * 2 * LS_US); /* 2 ppm */
    for (int j = 0; j < 6000; j++, at_ns += 10 * LS_MS) {
      int64_t before_ns = moved(&peer, at_ns, 20 * LS_MS);
      sample(&peer, at_ns, 0);
      assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS) - before_ns) <= 10 * LS_US);
    }
    assert_true(llabs(moved(&peer, at_ns, 20 * LS_MS)) < 5 * LS_MS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_base),          cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_forged_stamps), cmocka_unit_test(test_drift),
      cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_outliers),
      cmocka_unit_test(test_jitter),        cmocka_unit_test(test_queues),
      cmocka_unit_test(test_wander),        cmocka_unit_test(test_two_links),
      cmocka_unit_test(test_silence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
