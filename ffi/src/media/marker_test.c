#include "media/marker.h"

#include "base/bytes.h"
#include "base/prng.h"
#include "base/time.h"
#include "media/testing.h"

enum { MOST = 4000 };

/* A stream as it was sent: every third packet or so is a marker. */
static uint8_t sent[MOST][LS_TS_SIZE];
static bool is_marker[MOST];

static void send_stream(uint64_t seed, uint32_t stream_id, int64_t start_ns, int64_t step_ns) {
  struct ls__prng prng;
  struct ls__marker_writer writer;
  ls__prng_seed(&prng, seed);
  ls__marker_writer_init(&writer, stream_id);
  for (uint32_t i = 0; i < MOST; i++) {
    bool null = ls__prng_below(&prng, 3) == 0;
    if (null) {
      ls__ts_null(sent[i]);
    } else {
      ls__test_packet(sent[i], 0x100, (uint8_t)i, 0);
      for (uint32_t at = 4; at < LS_TS_SIZE; at++)
        sent[i][at] = (uint8_t)ls__prng_next(&prng);
    }
    is_marker[i] = ls__marker_write(&writer, sent[i], start_ns + i * step_ns);
    assert_int_equal(is_marker[i], null);
  }
}

static bool receive(struct ls__marker_checker *checker, uint32_t i, int64_t arrival_ns) {
  int64_t latency_ns;
  return ls__marker_check(checker, sent[i], arrival_ns, &latency_ns);
}

/* The layout of the header comment, byte by byte; the hashes were computed by a second program
 * that follows the same comment. */
static void test_golden(void **state) {
  (void)state;
  uint8_t packet[LS_TS_SIZE];
  struct ls__marker_writer writer;
  ls__marker_writer_init(&writer, 0xC0FFEE01);
  ls__test_packet(packet, 0x100, 5, 0xA5);
  assert_false(ls__marker_write(&writer, packet, 1));
  ls__test_packet(packet, LS_TS_PID_NULL, 7, 0);
  assert_true(ls__marker_write(&writer, packet, INT64_C(0x0123456789ABCDEF)));
  static const uint8_t head[] = {0x47, 0x1F, 0xFF, 0x10, 'L',  'S',  'm',  'a',  'r',  'k', '0',
                                 '1',  0xC0, 0xFF, 0xEE, 0x01, 0,    0,    0,    0,    0,   0,
                                 0,    1,    0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF};
  assert_memory_equal(packet, head, sizeof head);
  assert_true(ls__get64(packet + 32) == UINT64_C(0xF0DDA06E099E1F54));
  for (uint32_t i = 40; i < 180; i++)
    assert_int_equal(packet[i], 0xFF);
  assert_true(ls__get64(packet + 180) == UINT64_C(0xE40712379682BFD1));
}

/* All arrives: nothing lost, nothing wrong, whatever was before the first marker. */
static void test_clean(void **state) {
  (void)state;
  send_stream(1, 7, 1000, 10);
  for (uint32_t from = 0; from < 20; from++) {
    struct ls__marker_checker checker;
    ls__marker_checker_init(&checker);
    uint32_t first = MOST, last = 0, markers = 0;
    for (uint32_t i = from; i < MOST; i++) {
      if (is_marker[i]) {
        first = first == MOST ? i : first;
        last = i;
        markers++;
      }
      assert_int_equal(receive(&checker, i, 5000 + i * 10), is_marker[i]);
    }
    assert_int_equal(checker.ts_packets, MOST - first);
    assert_int_equal(checker.since, MOST - 1 - last);
    assert_int_equal(checker.markers, markers);
    assert_int_equal(checker.measured, markers);
    assert_int_equal(checker.ts_lost + checker.ts_extra + checker.wrong, 0);
    assert_int_equal(checker.streams, 1);
    assert_int_equal(checker.latency_min_ns, 4000);
    assert_int_equal(checker.latency_max_ns, 4000);
    assert_int_equal(ls__marker_jitter_ns(&checker), 0);
  }
}

/* Random loss, markers too: the count is exact, and loss is not called wrong. */
static void test_loss(void **state) {
  (void)state;
  struct ls__prng prng;
  for (uint64_t seed = 0; seed < 50; seed++) {
    send_stream(seed, 7, 0, 10);
    ls__prng_seed(&prng, seed);
    struct ls__marker_checker checker;
    ls__marker_checker_init(&checker);
    uint64_t lost = 0, waiting = 0;
    bool started = false;
    for (uint32_t i = 0; i < MOST; i++) {
      if (ls__prng_below(&prng, 100) < 1 + seed) {
        waiting += started;
        continue;
      }
      receive(&checker, i, i);
      if (is_marker[i]) {
        started = true;
        lost += waiting;
        waiting = 0;
      }
      assert_int_equal(checker.ts_lost, lost);
    }
    assert_true(lost > 0);
    assert_int_equal(checker.ts_extra + checker.wrong, 0);
  }
}

/* Any one bit of any packet: one stretch is wrong. A spoilt marker is no marker any more, so the
 * two stretches beside it are one. */
static void test_altered(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  send_stream(1, 7, 0, 10);
  uint32_t first = 0, end = MOST - 1;
  while (!is_marker[first])
    first++;
  while (!is_marker[end])
    end--;
  for (uint32_t round = 0; round < 300; round++) {
    uint32_t spoilt = first + 1 + (uint32_t)ls__prng_below(&prng, end - first - 1);
    uint32_t bit = (uint32_t)ls__prng_below(&prng, LS_TS_SIZE * 8);
    /* The low bits of a null packet's fourth byte mean nothing (§2.4.3.3), and a multiplexer may
     * change them. */
    if (is_marker[spoilt] && bit / 8 == 3)
      continue;
    sent[spoilt][bit / 8] ^= (uint8_t)(1 << bit % 8);
    struct ls__marker_checker checker;
    ls__marker_checker_init(&checker);
    for (uint32_t i = 0; i <= end; i++)
      receive(&checker, i, i);
    sent[spoilt][bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_int_equal(checker.wrong, 1);
    assert_int_equal(checker.ts_lost + checker.ts_extra, 0);
  }
}

/* Two packets of a stretch swapped: the right count, the wrong order. */
static void test_swapped(void **state) {
  (void)state;
  send_stream(3, 7, 0, 10);
  struct ls__marker_checker checker;
  ls__marker_checker_init(&checker);
  uint32_t swaps = 0;
  for (uint32_t i = 0; i < MOST; i++) {
    if (checker.markers > 0 && i + 2 < MOST && !is_marker[i] && !is_marker[i + 1] &&
        is_marker[i + 2]) {
      receive(&checker, i + 1, i);
      receive(&checker, i, i);
      swaps++;
      i++;
    } else {
      receive(&checker, i, i);
    }
  }
  assert_true(swaps > 100);
  assert_int_equal(checker.wrong, swaps);
  assert_int_equal(checker.ts_lost + checker.ts_extra, 0);
}

/* A packet that comes twice, marker or not, and nothing else amiss. */
static void test_twice(void **state) {
  (void)state;
  send_stream(4, 7, 0, 10);
  for (uint32_t twice = 10; twice < 40; twice++) {
    struct ls__marker_checker checker;
    ls__marker_checker_init(&checker);
    uint32_t first = MOST;
    for (uint32_t i = 0; i < 100; i++) {
      first = first == MOST && is_marker[i] ? i : first;
      receive(&checker, i, 2 * i);
      if (i == twice)
        assert_false(receive(&checker, i, 2 * i + 1));
    }
    assert_int_equal(checker.ts_packets, 101 - first);
    assert_int_equal(checker.ts_extra, 1);
    assert_int_equal(checker.wrong, 1);
    assert_int_equal(checker.ts_lost, 0);
    assert_int_equal(checker.streams, 1);
  }
}

/* Datagrams of seven packets, some lost, some twice, some late: the books balance at every marker,
 * and what is not as sent shows. */
static void test_reordered(void **state) {
  (void)state;
  struct ls__prng prng;
  for (uint64_t seed = 0; seed < 50; seed++) {
    send_stream(seed, 7, 0, 10);
    ls__prng_seed(&prng, seed);
    struct ls__marker_checker checker;
    ls__marker_checker_init(&checker);
    uint32_t late = MOST, faults = 0;
    uint64_t first = 0;
    for (uint32_t i = 0; i + 7 <= MOST; i += 7) {
      uint32_t parts[3] = {i, MOST, MOST};
      /* The first datagram and the last come well. */
      uint64_t fate = i > 0 && i + 14 <= MOST ? ls__prng_below(&prng, 40) : 40;
      if (fate == 0) /* lost */
        parts[0] = MOST;
      if (fate == 1) /* twice */
        parts[1] = i;
      if (fate == 2 && late == MOST) { /* behind the next one */
        late = i;
        parts[0] = MOST;
      } else if (late < MOST) {
        parts[2] = late;
        late = MOST;
      }
      faults += fate <= 2;
      for (uint32_t part = 0; part < 3; part++)
        for (uint32_t k = parts[part]; k < MOST && k < parts[part] + 7; k++) {
          bool starts = checker.markers == 0;
          receive(&checker, k, i);
          if (starts && checker.markers == 1)
            first = checker.index;
          if (checker.markers > 0 && checker.since == 0)
            assert_int_equal(checker.ts_packets + checker.ts_lost - checker.ts_extra,
                             checker.index - first + 1);
        }
    }
    assert_true(faults > 5);
    assert_true(checker.ts_lost + checker.wrong > 0);
  }
}

/* Another stream id starts anew: what lies between is not lost. */
static void test_new_stream(void **state) {
  (void)state;
  struct ls__marker_checker checker;
  ls__marker_checker_init(&checker);
  send_stream(1, 7, 0, 10);
  for (uint32_t i = 0; i < 1000; i++)
    receive(&checker, i, i);
  send_stream(2, 8, 0, 10);
  for (uint32_t i = 500; i < 1500; i++)
    receive(&checker, i, i);
  assert_int_equal(checker.streams, 2);
  assert_int_equal(checker.ts_lost + checker.ts_extra + checker.wrong, 0);
  for (uint32_t i = 1700; i < 2700; i++)
    receive(&checker, i, i);
  assert_int_equal(checker.ts_lost, 200);
}

/* The jitter of RFC 3550 §A.8 against the formula of §6.4.1 in floating point; the markers of one
 * datagram are measured once. */
static void test_latency(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 5);
  send_stream(5, 7, 1000, 1000);
  struct ls__marker_checker checker;
  ls__marker_checker_init(&checker);
  double jitter = 0, last = 0;
  int64_t least = INT64_MAX, most = INT64_MIN;
  uint32_t measured = 0;
  for (uint32_t i = 0; i + 7 <= MOST; i += 7) {
    int64_t arrival_ns = 1000 + i * 1000 + 300000 + (int64_t)ls__prng_below(&prng, 100000);
    bool done = false;
    for (uint32_t k = i; k < i + 7; k++) {
      int64_t latency_ns = 0;
      bool fresh = ls__marker_check(&checker, sent[k], arrival_ns, &latency_ns);
      assert_int_equal(fresh, is_marker[k] && !done);
      if (!fresh)
        continue;
      done = true;
      assert_int_equal(latency_ns, arrival_ns - (1000 + k * 1000));
      least = latency_ns < least ? latency_ns : least;
      most = latency_ns > most ? latency_ns : most;
      if (measured++ > 0)
        jitter +=
            ((double)latency_ns > last ? latency_ns - last : last - latency_ns) / 16 - jitter / 16;
      last = (double)latency_ns;
      assert_true(ls__marker_jitter_ns(&checker) - jitter < 10 &&
                  ls__marker_jitter_ns(&checker) - jitter > -10);
    }
  }
  assert_int_equal(checker.measured, measured);
  assert_int_equal(checker.latency_min_ns, least);
  assert_int_equal(checker.latency_max_ns, most);
  assert_true(jitter > 10000);
}

/* A departure that no clock can have set is not measured; the stretch is checked all the same. The
 * largest that are measured, alternating, drive the jitter as high as it gets. */
static void test_absurd_departure(void **state) {
  (void)state;
  static const struct {
    int64_t at_ns;
    bool measured;
  } departures[] = {{INT64_MIN, false},
                    {-LS_MARKER_LATENCY_MAX + 7000, true},
                    {INT64_MAX, false},
                    {LS_MARKER_LATENCY_MAX, true},
                    {-LS_MARKER_LATENCY_MAX - 1, false},
                    {LS_MARKER_LATENCY_MAX, true},
                    {LS_MARKER_LATENCY_MAX + 7000, false}};
  struct ls__marker_checker checker;
  struct ls__marker_writer writer;
  ls__marker_checker_init(&checker);
  ls__marker_writer_init(&writer, 1);
  for (uint32_t i = 0; i < 7000; i++) {
    uint8_t packet[LS_TS_SIZE];
    int64_t latency_ns;
    ls__ts_null(packet);
    ls__marker_write(&writer, packet, departures[i % 7].at_ns);
    assert_int_equal(ls__marker_check(&checker, packet, i, &latency_ns),
                     departures[i % 7].measured);
  }
  assert_in_range(ls__marker_jitter_ns(&checker), LS_MARKER_LATENCY_MAX / 2,
                  2 * LS_MARKER_LATENCY_MAX);
  assert_int_equal(checker.markers, 7000);
  assert_int_equal(checker.wrong + checker.ts_lost, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),    cmocka_unit_test(test_clean),
      cmocka_unit_test(test_loss),      cmocka_unit_test(test_altered),
      cmocka_unit_test(test_swapped),   cmocka_unit_test(test_twice),
      cmocka_unit_test(test_reordered), cmocka_unit_test(test_new_stream),
      cmocka_unit_test(test_latency),   cmocka_unit_test(test_absurd_departure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
