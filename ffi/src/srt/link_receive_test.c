/* The receiving half of a link, packet by packet. */
#include "base/prng.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/link.h"
#include "srt/testing.h"

#define ISN (LS_SEQ_MASK - 20) /* so that each test crosses the wrap */

static struct ls__link link_;
static struct ls__header header;
static uint8_t cif[LS_DATAGRAM_MAX];
static size_t len;

static void receiver(uint32_t reorder_tolerance) {
  struct ls__link_config config = ls__test_link_config(ISN);
  config.receives = true;
  config.reorder_tolerance = reorder_tolerance;
  ls__test_connect(&link_, &config);
}

static int tear_down(void **state) {
  (void)state;
  ls__link_free(&link_);
  return 0;
}

static uint32_t seq_at(int32_t offset) {
  return ls__seq_add(ISN, offset);
}

static bool data(int32_t at, int64_t now_ns) {
  return ls__test_data(&link_, seq_at(at), false, now_ns);
}

/* The next control packet is a loss report of exactly [first, last]. */
static void expect_nak(int32_t first, int32_t last, int64_t now_ns) {
  assert_true(ls__test_answer(&link_, now_ns, LS__CONTROL_NAK, &header, cif, &len));
  struct ls__nak_reader reader = {.payload = cif, .len = len};
  uint32_t lo, hi;
  assert_int_equal(ls__nak_next(&reader, &lo, &hi), 1);
  assert_int_equal(lo, seq_at(first));
  assert_int_equal(hi, seq_at(last));
  assert_int_equal(ls__nak_next(&reader, &lo, &hi), 0);
}

static void expect_nothing(int64_t now_ns) {
  assert_false(ls__test_answer(&link_, now_ns, 0, &header, cif, &len));
}

/* The next control packet is a full acknowledgement of all before `position`. */
static void expect_ack(int32_t position, uint32_t number, uint32_t room, int64_t now_ns) {
  struct ls__ack ack;
  assert_true(ls__test_answer(&link_, now_ns, LS__CONTROL_ACK, &header, cif, &len));
  assert_int_equal(header.info, number);
  assert_int_equal(ls__ack_get(cif, len, &ack), 0);
  assert_int_equal(ack.words, 7);
  assert_int_equal(ack.seq, seq_at(position));
  assert_int_equal(ack.room_packets, room);
}

static struct ls__link_event ackack(uint32_t number, int64_t now_ns) {
  const uint32_t zero[1] = {0};
  return ls__test_control(&link_, LS__CONTROL_ACKACK, number, zero, 1, now_ns);
}

static void dropreq(int32_t first, int32_t last) {
  const uint32_t range[2] = {seq_at(first), seq_at(last)};
  ls__test_control(&link_, LS__CONTROL_DROPREQ, 0, range, 2, 0);
}

static void test_gap(void **state) {
  (void)state;
  receiver(0);
  link_.ack_at_ns = LS_S; /* no acknowledgement in between */
  assert_true(data(0, 0));
  assert_true(data(1, 0));
  expect_nothing(0);
  assert_true(data(4, 1));
  assert_int_equal(ls__link_receive_timer(&link_), 1);
  expect_nak(2, 3, 1); /* at once */
  expect_nothing(1);
  assert_true(data(7, 2));
  expect_nak(5, 6, 2); /* the new gap alone */
  assert_true(ls__test_data(&link_, seq_at(3), true, 3));
  assert_true(data(6, 3)); /* late, not repeated */
  assert_int_equal(link_.stats.packets_recovered, 2);
  assert_int_equal(link_.stats.packets_receive_lost, 4);
  assert_int_equal(link_.stats.packets_received_retransmitted, 1);
  /* Each is asked again when its answer is overdue: 100 ms is the guess before a measurement. */
  assert_int_equal(link_.nak_at_ns, 100 * LS_MS + 1);
  expect_nothing(100 * LS_MS);
  expect_nak(2, 2, 100 * LS_MS + 1);
  expect_nak(5, 5, 100 * LS_MS + 2);
  assert_true(data(2, 101 * LS_MS));
  assert_true(data(5, 101 * LS_MS));
  expect_nothing(300 * LS_MS);
  assert_int_equal(ls__link_ack_position(&link_), seq_at(8));
  assert_int_equal(link_.nak_at_ns, LS_NEVER);
}

/* A first packet that is lost is missing as well: the connection began at the ISN. */
static void test_first_lost(void **state) {
  (void)state;
  receiver(0);
  assert_true(data(2, 0));
  expect_nak(0, 1, 0);
  assert_int_equal(ls__link_ack_position(&link_), ISN);
}

static void test_asked_once(void **state) {
  (void)state;
  receiver(0);
  link_.config.nak_report = false;
  link_.ack_at_ns = 1000 * LS_S;
  data(5, 0);
  expect_nak(0, 4, 0);
  expect_nothing(999 * LS_S);
}

/* More single losses than a packet holds: the rest goes into the next ones at once, all are asked
 * once, and none again before its time. */
static void test_many_losses(void **state) {
  (void)state;
  struct ls__link_config config = ls__test_link_config(ISN);
  config.receives = true;
  ls__test_connect(&link_, &config);
  ls__link_free(&link_);
  assert_int_equal(ls__link_init(&link_, 2048), 0);
  struct ls__handshake hs = ls__test_conclusion(ISN);
  struct ls__link_event event;
  ls__link_accept(&link_, &config, &hs, 0, 0, &event);
  assert_int_equal(ls__link_control(&link_, 0, cif), 80);
  link_.ack_at_ns = LS_S;
  link_.light_acks = 1000;
  for (int32_t i = 1; i < 2000; i += 2)
    assert_true(data(i, 0));
  static unsigned asked[2000];
  memset(asked, 0, sizeof asked);
  unsigned packets = 0;
  while (ls__test_answer(&link_, 0, LS__CONTROL_NAK, &header, cif, &len)) {
    struct ls__nak_reader reader = {.payload = cif, .len = len};
    uint32_t lo, hi;
    assert_true(len <= LS_PAYLOAD_MAX);
    while (ls__nak_next(&reader, &lo, &hi) > 0)
      for (; !ls__seq_before(hi, lo); lo = ls__seq_next(lo))
        asked[ls__seq_diff(lo, ISN)]++;
    packets++;
  }
  assert_int_equal(packets, 3); /* 1000 words of 364 a packet */
  for (int i = 0; i < 2000; i++)
    assert_int_equal(asked[i], i % 2 == 0);
  assert_int_equal(link_.nak_at_ns, 100 * LS_MS);
}

/* With a tolerance of 3, a packet may be overtaken by three others; the fourth, or 20 ms, makes it
 * a loss. */
static void test_reorder_tolerance(void **state) {
  (void)state;
  receiver(3);
  link_.ack_at_ns = LS_S;
  data(0, 0);
  data(2, 0);
  data(3, 0);
  expect_nothing(1);
  assert_true(data(1, 1)); /* in time */
  data(5, 2);
  data(6, 2);
  data(7, 2);
  expect_nothing(2);
  data(8, 2);
  expect_nak(4, 4, 2);
  data(10, 3);
  expect_nothing(3 + 20 * LS_MS - 1);
  expect_nak(9, 9, 3 + 20 * LS_MS);
  assert_int_equal(link_.stats.packets_receive_lost, 3);
}

static void test_ack_cadence(void **state) {
  (void)state;
  receiver(0);
  assert_int_equal(ls__link_receive_timer(&link_), LS_NEVER);
  expect_nothing(LS_S / 2);
  data(0, LS_S);
  expect_ack(1, 1, 63, LS_S);
  data(1, LS_S);
  assert_int_equal(ls__link_receive_timer(&link_), LS_S + 10 * LS_MS);
  expect_nothing(LS_S + 10 * LS_MS - 1);
  expect_ack(2, 2, 62, LS_S + 10 * LS_MS);
  /* Nothing new: again only when the answer is overdue (100 + 4 · 50 ms). */
  assert_int_equal(ls__link_receive_timer(&link_), LS_S + 310 * LS_MS);
  expect_nothing(LS_S + 310 * LS_MS - 1);
  expect_ack(2, 3, 62, LS_S + 310 * LS_MS);
  struct ls__link_event event = ackack(3, LS_S + 330 * LS_MS);
  assert_int_equal(event.kind, LS__EVENT_SAMPLE);
  assert_int_equal(event.rtt_ns, 20 * LS_MS);
  assert_int_equal(event.time_ns, LS_S + 330 * LS_MS);
  assert_int_equal(event.stamp_us, 1330000);
  assert_int_equal(ls__link_receive_timer(&link_), LS_NEVER);
  assert_int_equal(link_.stats.acks_sent, 3);
}

/* On a path of no length the answer is overdue at once: not before the interval all the same. */
static void test_ack_of_short_path(void **state) {
  (void)state;
  receiver(0);
  for (int32_t i = 0; i < 40; i++) {
    data(i, (i + 1) * LS_S);
    expect_ack(i + 1, (uint32_t)i + 1, 63 - (uint32_t)i, (i + 1) * LS_S);
    ackack((uint32_t)i + 1, (i + 1) * LS_S);
  }
  assert_int_equal(ls__rtt_timeout(&link_.rtt), 0);
  data(40, 50 * LS_S);
  expect_ack(41, 41, 23, 50 * LS_S);
  expect_nothing(50 * LS_S);
  assert_int_equal(ls__link_receive_timer(&link_), 50 * LS_S + 10 * LS_MS);
}

/* A missing packet holds the position; what playout skips moves it. */
static void test_ack_position(void **state) {
  (void)state;
  receiver(0);
  data(0, 0);
  data(5, 0);
  assert_int_equal(ls__link_ack_position(&link_), seq_at(1));
  ls__link_satisfied(&link_, seq_at(1)); /* came by another link */
  assert_int_equal(ls__link_ack_position(&link_), seq_at(2));
  ls__link_receive_floor(&link_, seq_at(4));
  assert_int_equal(ls__link_ack_position(&link_), seq_at(4));
  /* Other links have brought more: this one is not acknowledged beyond what came on it, or its
   * sender would take that for an attack. */
  ls__link_receive_floor(&link_, seq_at(9));
  assert_int_equal(ls__link_ack_position(&link_), seq_at(6));
  assert_false(data(8, 0));
  assert_int_equal(ls__link_ack_position(&link_), seq_at(9));
  assert_true(data(9, 0));
  ls__link_receive_floor(&link_, seq_at(3)); /* never back */
  assert_int_equal(ls__link_ack_position(&link_), seq_at(10));
}

/* At a high rate the sender is told each 64 packets, by four bytes without a number. */
static void test_light_ack(void **state) {
  (void)state;
  receiver(0);
  link_.ack_at_ns = LS_S;
  for (int32_t i = 0; i < 200; i++) {
    data(i, LS_S);
    ls__link_receive_floor(&link_, seq_at(i)); /* played at once */
    if (i % 64 != 63) {
      expect_nothing(LS_S);
      continue;
    }
    assert_int_equal(ls__link_receive_timer(&link_), 0);
    assert_true(ls__test_answer(&link_, LS_S, LS__CONTROL_ACK, &header, cif, &len));
    assert_int_equal(len, 4);
    assert_int_equal(header.info, 0);
    assert_int_equal(ls__get32(cif), seq_at(i + 1));
  }
  expect_nothing(LS_S);
  assert_true(ls__test_answer(&link_, 2 * LS_S, LS__CONTROL_ACK, &header, cif, &len));
  assert_int_equal(len, 28);
}

/* After 0x7fffffff comes 1: 0 means "not numbered". */
static void test_ack_number_wrap(void **state) {
  (void)state;
  receiver(0);
  link_.ack_number = LS_SEQ_MASK - 2;
  static const uint32_t numbers[] = {LS_SEQ_MASK - 1, LS_SEQ_MASK, 1, 2};
  for (int32_t i = 0; i < 4; i++) {
    int64_t now_ns = (i + 1) * LS_S;
    data(i, now_ns);
    expect_ack(i + 1, numbers[i], 63 - (uint32_t)i, now_ns);
    assert_int_equal(ackack(numbers[i], now_ns + LS_MS).kind, LS__EVENT_SAMPLE);
    assert_int_equal(link_.ack_confirmed, seq_at(i + 1));
  }
  assert_int_equal(link_.stats.packets_unexpected, 0);
}

/* Each number is good for one sample: the network may repeat a packet, and one second later that
 * would be a second of round trip. */
static void test_ackack(void **state) {
  (void)state;
  receiver(0);
  data(0, LS_S);
  expect_ack(1, 1, 63, LS_S);
  assert_int_equal(ackack(0, LS_S).kind, LS__EVENT_NONE);
  assert_int_equal(ackack(2, LS_S).kind, LS__EVENT_NONE);
  assert_int_equal(ackack(1 + LS__ACKS_REMEMBERED, LS_S).kind, LS__EVENT_NONE);
  assert_int_equal(link_.stats.packets_unexpected, 3);
  assert_int_equal(ackack(1, LS_S + 30 * LS_MS).kind, LS__EVENT_SAMPLE);
  assert_int_equal(ackack(1, LS_S + 900 * LS_MS).kind, LS__EVENT_NONE);
  assert_int_equal(link_.rtt.smoothed_ns, 30 * LS_MS);
  assert_int_equal(link_.stats.packets_unexpected, 3);
}

/* Room is counted from the acknowledged position, as libsrt counts it: a missing packet keeps its
 * place, those behind it do not close the window twice. */
static void test_room(void **state) {
  (void)state;
  receiver(0);
  data(0, LS_S);
  data(40, LS_S);
  expect_nak(1, 39, LS_S);
  expect_ack(1, 1, 63, LS_S);
}

/* A sender that was stopped hears of new room, and hears it again until it confirms: that word may
 * be lost, and there is nothing else to say (libsrt issue 2297). */
static void test_room_again(void **state) {
  (void)state;
  receiver(0);
  for (int32_t i = 0; i < 64; i++)
    assert_true(data(i, 0));
  assert_false(data(64, 0));
  int64_t now_ns = LS_S;
  expect_ack(64, 1, 0, now_ns);
  ackack(1, now_ns + 20 * LS_MS);
  assert_int_equal(ls__link_receive_timer(&link_), LS_NEVER);
  link_.room_end = seq_at(64 + 10); /* ten were played */
  now_ns += LS_S;
  expect_ack(64, 2, 10, now_ns);
  int64_t again_ns = now_ns + ls__rtt_timeout(&link_.rtt);
  assert_int_equal(ls__link_receive_timer(&link_), again_ns);
  link_.room_end = seq_at(64 + 12); /* and two more */
  assert_int_equal(ls__link_receive_timer(&link_), now_ns + 10 * LS_MS);
  expect_ack(64, 3, 12, now_ns + 10 * LS_MS);
  now_ns = ls__link_receive_timer(&link_);
  assert_int_equal(now_ns, again_ns + 10 * LS_MS);
  expect_ack(64, 4, 12, now_ns);
  ackack(4, now_ns + 20 * LS_MS);
  assert_int_equal(ls__link_receive_timer(&link_), LS_NEVER);
}

static void test_dropreq(void **state) {
  (void)state;
  static const struct {
    int32_t first, last;
    int32_t position, missing, expected; /* after it; 10, 11, 15 missing and 20 expected before */
    bool unexpected;
  } cases[] = {
      {10, 10, 11, 2, 20, false},
      {5, 14, 15, 1, 20, false},
      {10, 19, 20, 0, 20, false},
      {10, 22, 23, 0, 23, false},  /* it ends what it begins below */
      {20, 22, 10, 3, 23, false},  /* the next ones will not come */
      {21, 25, 10, 3, 20, false},  /* 20 is on its way, and then the gap is asked for */
      {-50, -1, 10, 3, 20, false}, /* of long ago */
      {5 - 0x40000000, 5 - 0x40000000, 10, 3, 20, true}, /* so long that it is ahead of 20 */
      {0, 63, 64, 0, 64, false},
      {0, 64, 10, 3, 20, true}, /* more than the buffer holds */
      {70, 75, 10, 3, 20, true},
      {1000, 2000, 10, 3, 20, true},
      {9, 5, 10, 3, 20, true},
      {0x20000000, 0x40000000, 10, 3, 20, true},
      {0x3fffffff, 0x7ffffffe, 10, 3, 20, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    receiver(0);
    for (int32_t at = 0; at < 20; at++)
      if (at != 10 && at != 11 && at != 15)
        data(at, 0);
    dropreq(cases[i].first, cases[i].last);
    assert_int_equal(link_.stats.packets_unexpected, cases[i].unexpected);
    assert_int_equal(ls__link_ack_position(&link_), seq_at(cases[i].position));
    assert_int_equal(link_.missing.count, cases[i].missing);
    assert_int_equal(link_.expected, seq_at(cases[i].expected));
    ls__link_free(&link_);
  }
  receiver(0);
  const uint32_t half[1] = {ISN};
  ls__test_control(&link_, LS__CONTROL_DROPREQ, 0, half, 1, 0);
  assert_int_equal(link_.stats.packets_unexpected, 1);
}

/* A drop request that comes before the packets ahead of its range does not give those up. */
static void test_dropreq_ahead(void **state) {
  (void)state;
  receiver(0);
  data(0, 0);
  dropreq(3, 5);
  data(6, 0);
  expect_nak(1, 5, 0);
  assert_true(data(1, 1));
  assert_true(ls__test_data(&link_, seq_at(2), true, 1));
  dropreq(3, 5); /* the answer to our report */
  assert_int_equal(ls__link_ack_position(&link_), seq_at(7));
}

/* What no live sender sends, or not to us. */
static void test_refused_data(void **state) {
  (void)state;
  static const struct {
    struct ls__header header;
    size_t payload;
  } cases[] = {
      {{.seq = ISN, .position = 3, .msgno = 1}, 0},
      {{.seq = ISN, .position = 3, .msgno = 1}, LS_PAYLOAD_MAX + 1},
      {{.seq = ISN, .position = 3, .msgno = 1, .key = 1}, 100},
      {{.seq = ISN, .position = 2, .msgno = 1}, 100},
      {{.seq = ISN, .position = 0, .msgno = 1}, 100},
      {{.seq = ISN, .position = 3, .msgno = 0}, 100}, /* of a packet filter */
  };
  uint8_t datagram[LS_DATAGRAM_MAX + 1] = {0};
  struct ls__link_event event;
  receiver(0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ls__header_put(&cases[i].header, datagram);
    ls__link_input(&link_, datagram, LS_HEADER_BYTES + cases[i].payload, 0, &event);
    assert_int_equal(event.kind, LS__EVENT_NONE);
    assert_int_equal(link_.stats.packets_unexpected, i + 1);
  }
  link_.config.receives = false;
  assert_false(data(0, 0));
  assert_int_equal(link_.stats.packets_unexpected, 7);
  link_.config.receives = true;
  assert_true(data(0, 0));
  assert_int_equal(link_.stats.packets_received, 1);
}

/* Before the window by nearly half the number space, which is ahead of what is expected: the window
 * decides, and no gap of half the space is opened. */
static void test_far_behind(void **state) {
  (void)state;
  receiver(0);
  for (int32_t at = 0; at < 20; at++)
    data(at, 0);
  for (int32_t at = -2; at < 22; at++) {
    assert_false(data(at - 0x40000000, 0));
    assert_int_equal(link_.expected, seq_at(20));
    assert_int_equal(link_.missing.count, 0);
  }
  assert_true(data(20, 0));
}

/* Far ahead: discarded, told to the stream with how many came in a row. A genuine packet ends the
 * row, so that forged ones do not make one between those of a running stream. */
static void test_beyond_window(void **state) {
  (void)state;
  receiver(0);
  data(0, 0);
  uint8_t datagram[LS_HEADER_BYTES + 100] = {0};
  static const struct {
    int32_t at;
    unsigned row; /* 0: in the window */
  } cases[] = {{64, 1}, {65, 2}, {66, 3},   {63, 0},   {67, 1},   {70, 2},
               {70, 1}, {69, 1}, {1000, 1}, {1063, 2}, {1200, 1}, {0x3fffffff, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__link_event event;
    ls__header_put(&(struct ls__header){.seq = seq_at(cases[i].at), .position = 3, .msgno = 1},
                   datagram);
    ls__link_input(&link_, datagram, sizeof datagram, 0, &event);
    assert_int_equal(event.kind, cases[i].row ? LS__EVENT_BEYOND : LS__EVENT_DATA);
    assert_int_equal(event.row, cases[i].row);
  }
  assert_int_equal(link_.stats.packets_no_room, 11);
  assert_int_equal(link_.expected, seq_at(64));
}

static void test_rate(void **state) {
  (void)state;
  receiver(0);
  for (int32_t i = 0; i < 3000; i++) {
    data(i, i * LS_MS);
    ls__link_receive_floor(&link_, seq_at(i));
  }
  assert_in_range(link_.rate_pps, 999, 1001);
  assert_in_range(link_.rate_bytes_ps, 143900, 144100);
}

/* Random arrivals (lost, late, repeated, out of order), drop requests and floors against arrays:
 * what is missing, what is acknowledged, and each packet new exactly once. */
static void test_model(void **state) {
  (void)state;
  enum { SPAN = 3000 };
  static enum { UNKNOWN, MISSING, HERE } places[SPAN];
  for (uint64_t seed = 0; seed < 300; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    receiver((uint32_t)ls__prng_below(&prng, 4));
    memset(places, 0, sizeof places);
    int32_t floor = 0, expected = 0;
    for (int64_t now_ns = 0; floor < SPAN - 100 && now_ns < 3 * LS_S; now_ns += LS_MS) {
      int32_t at = expected - 8 + (int32_t)ls__prng_below(&prng, 12);
      if (ls__prng_below(&prng, 100) == 0)
        at += (int32_t)ls__prng_below(&prng, 100);
      at = at < 0 ? 0 : at;
      if (ls__prng_below(&prng, 30) == 0) {
        int32_t last = at + (int32_t)ls__prng_below(&prng, 5);
        dropreq(at, last);
        for (int32_t i = at; last - floor < 64 && i <= last; i++)
          places[i] = places[i] == MISSING || (i >= expected && at <= expected) ? HERE : places[i];
        if (last - floor < 64 && at <= expected && last >= expected)
          expected = last + 1;
      } else if (at - floor < 64) {
        bool fresh = at >= expected || (at >= floor && places[at] == MISSING);
        assert_int_equal(data(at, now_ns), fresh);
        for (int32_t i = expected; i < at; i++)
          places[i] = MISSING;
        places[at] = HERE;
        expected = at >= expected ? at + 1 : expected;
      } else {
        assert_false(data(at, now_ns));
      }
      if (ls__prng_below(&prng, 10) == 0 && floor < expected) {
        floor += 1 + (int32_t)ls__prng_below(&prng, (uint64_t)(expected - floor));
        ls__link_receive_floor(&link_, seq_at(floor));
      }
      while (ls__link_control(&link_, now_ns, cif) > 0)
        ;
      int32_t position = expected;
      uint32_t missing = 0;
      for (int32_t i = expected - 1; i >= floor; i--)
        if (places[i] == MISSING) {
          position = i;
          missing++;
        }
      assert_int_equal(link_.expected, seq_at(expected));
      assert_int_equal(link_.missing.count, missing);
      assert_int_equal(ls__link_ack_position(&link_), seq_at(position));
    }
    ls__link_free(&link_);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_gap),
      TEST(test_first_lost),
      TEST(test_asked_once),
      TEST(test_many_losses),
      TEST(test_reorder_tolerance),
      TEST(test_ack_cadence),
      TEST(test_ack_of_short_path),
      TEST(test_ack_position),
      TEST(test_light_ack),
      TEST(test_ack_number_wrap),
      TEST(test_ackack),
      TEST(test_room),
      TEST(test_room_again),
      TEST(test_dropreq),
      TEST(test_dropreq_ahead),
      TEST(test_refused_data),
      TEST(test_far_behind),
      TEST(test_beyond_window),
      TEST(test_rate),
      TEST(test_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
