#include "media/pcr.h"

#include "base/prng.h"
#include "base/time.h"
#include "lockstep.h"
#include "media/testing.h"

/* A stream for the clock: what each packet is, and the time the clock gave it. */
enum { MOST = 4 * LS_PCR_LOOKAHEAD };

struct stream {
  struct ls__pcr clock;
  uint64_t fed, timed;
  int64_t at_ns[MOST];
};

static struct stream stream;

static void start(int64_t rate_bps) {
  stream.fed = stream.timed = 0;
  ls__pcr_init(&stream.clock, rate_bps);
}

static void collect(void) {
  int64_t at_ns;
  while (ls__pcr_next(&stream.clock, &at_ns)) {
    assert_true(stream.timed < stream.fed);
    assert_true(at_ns >= (stream.timed ? stream.at_ns[stream.timed - 1] : 0));
    stream.at_ns[stream.timed++] = at_ns;
  }
}

static int feed_packet(const uint8_t packet[LS_TS_SIZE]) {
  assert_true(stream.fed < MOST);
  int code = ls__pcr_feed(&stream.clock, packet);
  stream.fed++;
  collect();
  return code;
}

static int feed_pcr(uint16_t pid, int64_t pcr, bool discontinuity) {
  uint8_t packet[LS_TS_SIZE];
  ls__test_packet(packet, pid, 0, 0);
  ls__test_pcr(packet, ls__pcr_add(pcr, 0), discontinuity);
  return feed_packet(packet);
}

static int feed_plain(uint64_t count) {
  uint8_t packet[LS_TS_SIZE];
  ls__test_packet(packet, 0x100, 0, 0);
  int code = 0;
  while (count-- > 0 && code == 0)
    code = feed_packet(packet);
  return code;
}

static int end(void) {
  int code = ls__pcr_end(&stream.clock);
  collect();
  return code;
}

/* floor(ticks · packets / of) in ns, on the exact value. */
static int64_t floor_ns(__int128 start_ticks, __int128 ticks, __int128 packets, __int128 of) {
  return (int64_t)((start_ticks * of + ticks * packets) * 1000 / (27 * of));
}

/* Random PCR distances in packets and ticks, starting anywhere on the circle: every packet from the
 * first PCR on is exact; packets before the first PCR go back at its rate. */
static void test_exact(void **state) {
  (void)state;
  struct ls__prng prng;
  for (unsigned seed = 0; seed < 300; seed++) {
    ls__prng_seed(&prng, seed);
    start(seed % 3 ? 0 : 5000000);
    /* A third of the runs wraps within a second. */
    int64_t pcr = seed % 3 == 1 ? LS_PCR_WRAP - (int64_t)ls__prng_below(&prng, LS_PCR_HZ)
                                : (int64_t)ls__prng_below(&prng, LS_PCR_WRAP);
    uint64_t at = seed % 2 ? ls__prng_below(&prng, 500) : 0;
    enum { PCRS = 40 };
    uint64_t index[PCRS];
    int64_t time[PCRS];
    assert_int_equal(feed_plain(at), 0);
    int64_t elapsed = 0;
    for (unsigned i = 0; i < PCRS; i++) {
      index[i] = at;
      time[i] = elapsed;
      assert_int_equal(feed_pcr(0x100, pcr + elapsed, false), 0);
      uint64_t gap = ls__prng_below(&prng, i % 5 ? 60 : 1000);
      assert_int_equal(feed_plain(gap), 0);
      at += 1 + gap;
      elapsed += 1 + (int64_t)ls__prng_below(&prng, i % 7 ? 3000000 : LS_PCR_GAP_MAX);
    }
    assert_int_equal(stream.timed, index[PCRS - 1]);
    assert_int_equal(end(), 0);
    assert_int_equal(stream.timed, stream.fed);
    assert_int_equal(stream.clock.discontinuities, 0);

    /* The first PCR is where its own rate brings it, and the first interval is rounded up. */
    __int128 first_gap = (__int128)(index[1] - index[0]), first_ticks = time[1];
    int64_t shift = (int64_t)((index[0] * first_ticks + first_gap - 1) / first_gap);
    for (unsigned i = 0; i < PCRS; i++) {
      unsigned from = i + 1 < PCRS ? i : PCRS - 2;
      uint64_t to = i + 1 < PCRS ? index[i + 1] : stream.fed;
      for (uint64_t k = i ? index[i] : 0; k < to; k++) {
        int64_t want =
            i ? floor_ns(shift + time[from], time[from + 1] - time[from],
                         (int64_t)(k - index[from]), (int64_t)(index[from + 1] - index[from]))
              : floor_ns(0, first_ticks, (int64_t)k, first_gap);
        assert_int_equal(stream.at_ns[k], want);
      }
    }
  }
}

/* A step back, a step too far, the same value again, or the indicator: no gap and no hurry, the
 * last rate goes on, and the new time base counts from there. */
static void test_discontinuity(void **state) {
  (void)state;
  static const struct {
    int64_t jump;
    bool indicator;
  } jumps[] = {{-1, false},
               {-50 * LS_PCR_HZ, false},
               {LS_PCR_GAP_MAX + 1, false},
               {LS_PCR_WRAP / 2, false},
               {0, false},
               {2700, true},
               {LS_PCR_HZ * 3600, true}};
  for (unsigned i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    start(0);
    int64_t pcr = LS_PCR_WRAP - 1000;
    assert_int_equal(feed_pcr(0x100, pcr, false), 0);
    assert_int_equal(feed_plain(9), 0);
    pcr += 27000; /* 100 µs a packet */
    assert_int_equal(feed_pcr(0x100, pcr, false), 0);
    assert_int_equal(feed_plain(4), 0);
    assert_int_equal(stream.timed, 10);
    pcr += jumps[i].jump;
    assert_int_equal(feed_pcr(0x100, pcr, jumps[i].indicator), 0);
    assert_int_equal(stream.timed, 15);
    assert_int_equal(stream.clock.discontinuities, 1);
    assert_int_equal(feed_plain(9), 0);
    assert_int_equal(feed_pcr(0x100, pcr + 54000, false), 0); /* 200 µs a packet */
    assert_int_equal(stream.timed, 25);
    assert_int_equal(end(), 0);
    for (unsigned k = 0; k < 26; k++)
      assert_int_equal(stream.at_ns[k], k <= 15 ? k * 100000 : 1500000 + (k - 15) * 200000);
    assert_int_equal(stream.clock.discontinuities, 1);
  }
  /* The largest step that is none. */
  start(0);
  assert_int_equal(feed_pcr(0x100, 7, false), 0);
  assert_int_equal(feed_pcr(0x100, 7 + LS_PCR_GAP_MAX, false), 0);
  assert_int_equal(feed_pcr(0x100, 7 + 2 * LS_PCR_GAP_MAX, false), 0);
  assert_int_equal(stream.at_ns[1], LS_S);
  assert_int_equal(stream.clock.discontinuities, 0);
}

/* A jump before any rate is known: all wait for the first good pair. */
static void test_jump_first(void **state) {
  (void)state;
  start(0);
  assert_int_equal(feed_pcr(0x100, 1000000, false), 0);
  assert_int_equal(feed_plain(3), 0);
  assert_int_equal(feed_pcr(0x100, 0, true), 0);
  assert_int_equal(stream.timed, 0);
  assert_int_equal(feed_plain(9), 0);
  assert_int_equal(feed_pcr(0x100, 27000, false), 0);
  assert_int_equal(stream.timed, 14);
  for (unsigned k = 0; k < 14; k++)
    assert_int_equal(stream.at_ns[k], k * 100000);
  /* With a given rate the packets before the jump leave at it. */
  start(15040000);
  assert_int_equal(feed_pcr(0x100, 1000000, false), 0);
  assert_int_equal(feed_plain(3), 0);
  assert_int_equal(feed_pcr(0x100, 0, true), 0);
  assert_int_equal(stream.timed, 4);
  for (unsigned k = 0; k < 4; k++)
    assert_int_equal(stream.at_ns[k], k * 100000);
}

/* Nothing to go by: an error at the limit, and for good. */
static void test_no_rate(void **state) {
  (void)state;
  start(0);
  assert_int_equal(feed_pcr(0x100, 1, false), 0);
  assert_int_equal(feed_plain(LS_PCR_LOOKAHEAD - 2), 0);
  assert_int_equal(feed_plain(1), LS_EFORMAT);
  assert_int_equal(feed_pcr(0x100, 2, false), LS_EFORMAT);
  assert_int_equal(end(), LS_EFORMAT);
  assert_int_equal(stream.timed, 0);

  start(0);
  assert_int_equal(feed_plain(5), 0);
  assert_int_equal(end(), LS_EFORMAT);
  start(0);
  assert_int_equal(end(), 0);
}

/* No PCR at all: the given rate, exact to the end although the limit is met again and again. */
static void test_given_rate(void **state) {
  (void)state;
  static const int64_t rates[] = {LS_TS_RATE_MIN, 1234567, 8000000, 999999937, LS_TS_RATE_MAX};
  for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
    start(rates[i]);
    assert_int_equal(feed_plain(MOST - 10), 0);
    assert_int_equal(stream.clock.lookahead_reached, 3);
    assert_int_equal(end(), 0);
    assert_int_equal(stream.timed, MOST - 10);
    for (uint64_t k = 0; k < stream.timed; k++)
      assert_int_equal(stream.at_ns[k], (__int128)k * LS_TS_BITS * LS_S / rates[i]);
  }
}

/* PCRs stay away: the last rate goes on from the limit; when they come back their rate holds. */
static void test_lookahead(void **state) {
  (void)state;
  start(0);
  assert_int_equal(feed_pcr(0x100, 0, false), 0);
  assert_int_equal(feed_plain(9), 0);
  assert_int_equal(feed_pcr(0x100, 2700, false), 0); /* 10 µs a packet */
  assert_int_equal(feed_plain(LS_PCR_LOOKAHEAD - 2), 0);
  assert_int_equal(stream.timed, 10);
  assert_int_equal(feed_plain(1), 0);
  assert_int_equal(stream.clock.lookahead_reached, 1);
  assert_int_equal(stream.timed, 10 + LS_PCR_LOOKAHEAD);
  assert_int_equal(feed_plain(16), 0);
  /* LS_PCR_LOOKAHEAD + 16 packets after the last PCR: 20 µs a packet, known too late for most. */
  assert_int_equal(feed_pcr(0x100, 2700 + 540 * (LS_PCR_LOOKAHEAD + 16), false), 0);
  assert_int_equal(stream.timed, 26 + LS_PCR_LOOKAHEAD);
  assert_int_equal(end(), 0);
  for (uint64_t k = 0; k < stream.timed; k++)
    assert_int_equal(stream.at_ns[k],
                     k * 10000 +
                         (k > LS_PCR_LOOKAHEAD + 10 ? k - LS_PCR_LOOKAHEAD - 10 : 0) * 10000);
  assert_int_equal(stream.clock.discontinuities, 0);
}

/* Other PIDs' PCRs are ignored while the first goes on, and followed when it has ended. */
static void test_pids(void **state) {
  (void)state;
  start(0);
  for (unsigned i = 0; i < 20; i++) {
    assert_int_equal(feed_pcr(0x100, 27000 * i, false), 0);
    assert_int_equal(feed_pcr(0x200, 12345678 + 999 * i, i % 3 == 0), 0);
    assert_int_equal(feed_plain(8), 0);
  }
  assert_int_equal(stream.timed, 190);
  assert_int_equal(stream.clock.discontinuities, 0);
  /* Now only the second PID, at 200 µs a packet; the first is given up at the limit. */
  for (unsigned i = 0; stream.fed < LS_PCR_LOOKAHEAD + 1000; i++) {
    assert_int_equal(feed_pcr(0x200, 54000 * i, false), 0);
    assert_int_equal(feed_plain(9), 0);
  }
  assert_int_equal(stream.clock.discontinuities, 1);
  assert_int_equal(stream.clock.lookahead_reached, 1);
  assert_int_equal(stream.clock.pid, 0x200);
  for (uint64_t k = 1; k < stream.timed; k++) {
    int64_t step = stream.at_ns[k] - stream.at_ns[k - 1];
    /* The limit is met with packet 190 + LOOKAHEAD - 1; the next PCR of 0x200 stands at a multiple
     * of ten, and the rate changes from there. */
    assert_int_equal(step, k <= (190 + LS_PCR_LOOKAHEAD + 9) / 10 * 10 ? 100000 : 200000);
  }
}

/* Packets out of sync carry no PCR. */
static void test_sync(void **state) {
  (void)state;
  start(15040000);
  uint8_t packet[LS_TS_SIZE];
  for (unsigned i = 0; i < 10; i++) {
    ls__test_packet(packet, 0x100, 0, 0);
    ls__test_pcr(packet, 27 * i, false);
    packet[0] = 0x48;
    assert_int_equal(feed_packet(packet), 0);
  }
  assert_int_equal(end(), 0);
  assert_int_equal(stream.at_ns[9], 900000);
}

/* Anything at all: times never step back, none is missing at the end. */
static void test_random(void **state) {
  (void)state;
  struct ls__prng prng;
  for (unsigned seed = 0; seed < 100; seed++) {
    ls__prng_seed(&prng, seed);
    start(seed % 2 ? LS_TS_RATE_MAX : 10000000);
    while (stream.fed < 20000) {
      uint16_t pid = (uint16_t)ls__prng_below(&prng, 3);
      switch (ls__prng_below(&prng, 4)) {
      case 0:
        assert_int_equal(feed_pcr(pid, (int64_t)ls__prng_below(&prng, LS_PCR_WRAP), false), 0);
        break;
      case 1:
        assert_int_equal(
            feed_pcr(pid, stream.clock.anchor_pcr + (int64_t)ls__prng_below(&prng, 3), false), 0);
        break;
      case 2:
        assert_int_equal(feed_pcr(pid, stream.clock.anchor_pcr + 40000, seed % 5 == 0), 0);
        break;
      default:
        assert_int_equal(feed_plain(ls__prng_below(&prng, seed % 7 ? 100 : 17000)), 0);
      }
    }
    assert_int_equal(end(), 0);
    assert_int_equal(stream.timed, stream.fed);
  }
}

static void feed_without_taking(void) {
  uint8_t packet[LS_TS_SIZE];
  struct ls__pcr clock;
  ls__pcr_init(&clock, 0);
  ls__test_packet(packet, 0x100, 0, 0);
  for (unsigned i = 0; i < 3; i++) {
    ls__test_pcr(packet, 27000 * i, false);
    ls__pcr_feed(&clock, packet);
  }
}

static void rate_beyond(void) {
  struct ls__pcr clock;
  ls__pcr_init(&clock, LS_TS_RATE_MAX + 1);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(feed_without_taking));
  assert_true(ls__test_aborts(rate_beyond));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),      cmocka_unit_test(test_discontinuity),
      cmocka_unit_test(test_jump_first), cmocka_unit_test(test_no_rate),
      cmocka_unit_test(test_given_rate), cmocka_unit_test(test_lookahead),
      cmocka_unit_test(test_pids),       cmocka_unit_test(test_sync),
      cmocka_unit_test(test_random),     cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
