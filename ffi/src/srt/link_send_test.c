/* The sending half of a link, packet by packet. */
#include "base/prng.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/link.h"
#include "srt/testing.h"

#define ISN (LS_SEQ_MASK - 20) /* so that each test crosses the wrap */

static struct ls__link link_;

static void sender(uint32_t isn) {
  struct ls__link_config config = ls__test_link_config(isn);
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

/* Sends what is due, as the stream above does; the number of packets, the last one in `*seq`. */
static unsigned send_all(uint32_t end, int64_t now_ns, uint32_t *seq) {
  bool again;
  unsigned count = 0;
  uint32_t next;
  while (ls__link_next_data(&link_, end, now_ns, &next, &again)) {
    ls__link_sent_data(&link_, next, again, 100, now_ns);
    *seq = next;
    count++;
  }
  return count;
}

static struct ls__link_event ack(uint32_t number, uint32_t seq, uint32_t room, int64_t now_ns) {
  const uint32_t cif[7] = {seq, 20000, 1000, room, 0, 0, 0};
  return ls__test_control(&link_, LS__CONTROL_ACK, number, cif, 7, now_ns);
}

static void nak(uint32_t first, uint32_t last, int64_t now_ns) {
  const uint32_t cif[2] = {first == last ? first : first | 0x80000000, last};
  ls__test_control(&link_, LS__CONTROL_NAK, 0, cif, first == last ? 1 : 2, now_ns);
}

/* New data in order, each once, before what is to be repeated. */
static void test_order(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  bool again;
  for (int32_t i = 0; i < 40; i++) {
    assert_true(ls__link_next_data(&link_, seq_at(40), i, &seq, &again));
    assert_int_equal(seq, seq_at(i));
    assert_false(again);
    ls__link_sent_data(&link_, seq, again, 100, i);
  }
  assert_false(ls__link_next_data(&link_, seq_at(40), 40, &seq, &again));
  nak(seq_at(5), seq_at(7), LS_S);
  assert_true(ls__link_next_data(&link_, seq_at(41), LS_S, &seq, &again));
  assert_int_equal(seq, seq_at(40));
  ls__link_sent_data(&link_, seq, again, 100, LS_S);
  for (int32_t i = 5; i <= 7; i++) {
    assert_true(ls__link_next_data(&link_, seq_at(41), LS_S, &seq, &again));
    assert_int_equal(seq, seq_at(i));
    assert_true(again);
    ls__link_sent_data(&link_, seq, again, 100, LS_S);
  }
  assert_false(ls__link_next_data(&link_, seq_at(41), LS_S, &seq, &again));
  assert_int_equal(link_.stats.packets_sent, 44);
  assert_int_equal(link_.stats.packets_sent_unique, 41);
  assert_int_equal(link_.stats.packets_retransmitted, 3);
  assert_int_equal(link_.stats.packets_send_lost, 3);
  assert_int_equal(link_.stats.bytes_sent, 44 * 144);
  assert_int_equal(link_.stats.bytes_retransmitted, 3 * 144);
}

/* The window is what the peer said last; it never shrinks, in whatever order its words arrive. */
static void test_window(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  assert_int_equal(send_all(seq_at(1000), 0, &seq), 64); /* the smaller of 8192 and our own */
  assert_int_equal(ack(1, seq_at(10), 20, LS_S).kind, LS__EVENT_ACKED);
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 0);
  ack(2, seq_at(50), 20, LS_S);
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 6); /* up to 50 + 20 */
  ack(4, seq_at(50), 34, LS_S);
  ack(3, seq_at(50), 2, LS_S); /* overtaken */
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 14);
  assert_int_equal(seq, seq_at(83));
  ack(5, seq_at(84), 0, LS_S);
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 0);
  ack(6, seq_at(84), UINT32_MAX, LS_S);
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 64);
}

/* What the sender gives up does not occupy the peer's buffer: it goes on after it. */
static void test_window_after_floor(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  assert_int_equal(send_all(seq_at(1000), 0, &seq), 64);
  ls__link_send_floor(&link_, seq_at(500)); /* an outage longer than the window */
  assert_int_equal(send_all(seq_at(1000), LS_S, &seq), 64);
  assert_int_equal(seq, seq_at(563));
  assert_int_equal(link_.stats.packets_sent_unique, 128);
}

static void test_ack(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  send_all(seq_at(30), 0, &seq);
  struct ls__link_event event = ack(7, seq_at(10), 64, 0);
  assert_int_equal(event.kind, LS__EVENT_ACKED);
  assert_int_equal(event.first, seq_at(10));
  assert_int_equal(ack(8, seq_at(10), 64, 0).kind, LS__EVENT_NONE); /* again */
  assert_int_equal(ack(9, seq_at(9), 64, 0).kind, LS__EVENT_NONE);  /* behind */
  assert_int_equal(link_.acked, seq_at(10));
  assert_int_equal(link_.rtt.smoothed_ns, 20 * LS_MS);
  const uint32_t light[1] = {seq_at(15)};
  assert_int_equal(ls__test_control(&link_, LS__CONTROL_ACK, 0, light, 1, 0).kind, LS__EVENT_ACKED);
  assert_int_equal(link_.stats.acks_received, 4);
  /* Full ones are answered, the light one is not. */
  struct ls__header header;
  uint8_t cif[LS_DATAGRAM_MAX];
  size_t len;
  uint32_t numbers = 0;
  while (ls__test_answer(&link_, 0, LS__CONTROL_ACKACK, &header, cif, &len)) {
    assert_int_equal(len, 4);
    assert_int_equal(ls__get32(cif), 0);
    numbers |= 1u << header.info;
  }
  assert_int_equal(numbers, 1u << 7 | 1u << 8 | 1u << 9);
}

/* 100/50 ms is what a receiver says before it has measured. */
static void test_initial_rtt(void **state) {
  (void)state;
  sender(ISN);
  const uint32_t cif[7] = {ISN, 100000, 50000, 64, 0, 0, 0};
  ls__test_control(&link_, LS__CONTROL_ACK, 1, cif, 7, 0);
  assert_false(link_.rtt.measured);
}

/* A round of everything that no honest peer sends: it is counted, and nothing changes. */
static void test_forged(void **state) {
  (void)state;
  static const struct {
    uint16_t type;
    unsigned words;
    uint32_t cif[3]; /* offsets to seq_at(0); bit 31 marks a range */
  } cases[] = {
      {LS__CONTROL_ACK, 1, {31}},             /* beyond what was sent */
      {LS__CONTROL_ACK, 1, {1000}},           /* far beyond */
      {LS__CONTROL_ACK, 1, {0x3fffffff}},     /* half the circle beyond */
      {LS__CONTROL_ACK, 0, {0}},              /* nothing in it */
      {LS__CONTROL_NAK, 1, {30}},             /* never sent */
      {LS__CONTROL_NAK, 2, {0x80000005, 30}}, /* its end never sent */
      {LS__CONTROL_NAK, 2, {0x80000005, 1030}},
      {LS__CONTROL_NAK, 2, {0x80000009, 8}},          /* backwards */
      {LS__CONTROL_NAK, 2, {0xa000001e, 0x4000001e}}, /* a quarter ahead to half the circle */
      {LS__CONTROL_NAK, 2, {0xbfffffff, 0x7ffffff0}}, /* nearly all the way round */
      {LS__CONTROL_NAK, 1, {0x80000005}},             /* half a range */
      {LS__CONTROL_NAK, 3, {0x80000003, 3, 0x80000005}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sender(ISN);
    uint32_t seq, cif[3];
    send_all(seq_at(30), 0, &seq);
    for (unsigned word = 0; word < cases[i].words; word++) {
      uint32_t at = cases[i].cif[word];
      cif[word] = seq_at((int32_t)(at & LS_SEQ_MASK)) | (at & 0x80000000);
    }
    struct ls__link_event event =
        ls__test_control(&link_, cases[i].type, 1, cif, cases[i].words, 0);
    assert_int_equal(event.kind, LS__EVENT_NONE);
    assert_int_equal(link_.stats.packets_unexpected, 1);
    assert_int_equal(link_.acked, ISN);
    assert_int_equal(link_.lost.count, i == 11 ? 1 : 0);
    /* The connection goes on. */
    assert_int_equal(ack(2, seq_at(30), 64, LS_S).kind, LS__EVENT_ACKED);
    assert_int_equal(send_all(seq_at(60), LS_S, &seq), 30);
    ls__link_free(&link_);
  }
}

/* An acknowledgement of half the number space ago is old, and so is the room that it tells of. */
static void test_ack_of_long_ago(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  send_all(seq_at(30), 0, &seq);
  for (int32_t back = 0x3fffff00; back < 0x3fffffff; back++) {
    ack(1, seq_at(30 - back), 0, 0);
    assert_int_equal(link_.peer_window_end, seq_at(64));
  }
  assert_int_equal(send_all(seq_at(1000), 0, &seq), 34);
}

/* What was acknowledged or given up is answered by a drop request, the rest is repeated
 * (libsrt issue 2011: the range that straddles the mark). */
static void test_straddling_nak(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  send_all(seq_at(40), 0, &seq);
  ack(1, seq_at(20), 64, 0);
  nak(seq_at(15), seq_at(25), LS_S);
  assert_int_equal(link_.lost.count, 6);
  struct ls__header header;
  uint8_t cif[LS_DATAGRAM_MAX];
  size_t len;
  assert_true(ls__test_answer(&link_, LS_S, LS__CONTROL_ACKACK, &header, cif, &len));
  assert_true(ls__test_answer(&link_, LS_S, LS__CONTROL_DROPREQ, &header, cif, &len));
  assert_int_equal(header.info, 0);
  assert_int_equal(len, 8);
  assert_int_equal(ls__get32(cif), seq_at(15));
  assert_int_equal(ls__get32(cif + 4), seq_at(19));
  assert_int_equal(send_all(seq_at(40), LS_S, &seq), 6);
  assert_int_equal(link_.stats.packets_unexpected, 0);
  /* More than fit into the queue: what is left out is asked again. */
  uint32_t many[40];
  for (uint32_t i = 0; i < 40; i++)
    many[i] = seq_at((int32_t)i / 2);
  ls__test_control(&link_, LS__CONTROL_NAK, 0, many, 40, LS_S);
  int count = 0;
  while (ls__test_answer(&link_, LS_S, LS__CONTROL_DROPREQ, &header, cif, &len))
    count++;
  assert_int_equal(count, LS__ANSWERS_MAX);
}

/* A packet that was repeated less than a round trip ago is on its way; one that was sent for the
 * first time only is not, however short the time since (libsrt: "retransmit algorithm 1"). */
static void test_recent(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  bool again;
  send_all(seq_at(10), 0, &seq);
  link_.rtt = (struct ls__rtt){.smoothed_ns = 400 * LS_MS, .variation_ns = LS_MS, .measured = true};
  nak(seq_at(3), seq_at(3), 20 * LS_MS); /* the path has become short */
  assert_true(ls__link_next_data(&link_, seq_at(10), 20 * LS_MS, &seq, &again));
  assert_int_equal(seq, seq_at(3));
  ls__link_sent_data(&link_, seq, again, 100, 20 * LS_MS);
  nak(seq_at(3), seq_at(3), 40 * LS_MS);
  assert_false(ls__link_next_data(&link_, seq_at(10), 40 * LS_MS, &seq, &again));
  assert_int_equal(link_.lost.count, 0);
  nak(seq_at(3), seq_at(3), 416 * LS_MS);
  assert_true(ls__link_next_data(&link_, seq_at(10), 416 * LS_MS, &seq, &again));
}

/* When the last packet or all of a window is lost, no later one shows the gap. */
/* A peer that reports once, and whose report was lost: all in flight is repeated when no
 * acknowledgement moves, also while new data goes on. */
static void test_reports_once(void **state) {
  (void)state;
  sender(ISN);
  link_.peer_flags &= ~LS__FLAG_NAKREPORT;
  uint32_t seq;
  struct ls__link_event event;
  int64_t due_ns = 320 * LS_MS; /* 100 + 4 · 50 + 2 · 10 */
  assert_int_equal(ls__link_tail_timer(&link_, seq_at(1)), LS_NEVER);
  for (int32_t i = 1; i <= 3; i++)
    assert_int_equal(send_all(seq_at(i), (i - 1) * 100 * LS_MS, &seq), 1);
  assert_int_equal(ls__link_tail_timer(&link_, seq_at(3)), due_ns);
  ls__link_tick(&link_, seq_at(3), due_ns - 1, &event);
  assert_int_equal(send_all(seq_at(3), due_ns - 1, &seq), 0);
  ls__link_tick(&link_, seq_at(3), due_ns, &event);
  assert_int_equal(send_all(seq_at(3), due_ns, &seq), 3);
  assert_int_equal(ls__link_tail_timer(&link_, seq_at(3)), 2 * due_ns);
  ack(1, seq_at(3), 8192, due_ns + 1);
  assert_int_equal(ls__link_tail_timer(&link_, seq_at(3)), LS_NEVER);
}

/* What is answered between two sendings is bounded, and the rest counted. */
static void test_answers_bounded(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  send_all(seq_at(40), 0, &seq);
  for (uint32_t i = 1; i <= LS__ANSWERS_MAX + 3; i++)
    ack(i, seq_at((int32_t)i), 8192, LS_MS * i);
  assert_int_equal(link_.stats.answers_dropped, 3);
  for (int32_t i = 0; i < LS__ANSWERS_MAX + 2; i++)
    nak(seq_at(i), seq_at(i), LS_S);
  assert_int_equal(link_.stats.answers_dropped, 5);
}

static void test_tail(void **state) {
  (void)state;
  static const int32_t ends[] = {10, 1000}; /* all was sent; the window stops the rest */
  for (size_t i = 0; i < 2; i++) {
    sender(ISN);
    uint32_t seq, end = seq_at(ends[i]);
    struct ls__link_event event;
    unsigned sent = send_all(end, 0, &seq);
    int64_t due_ns = 320 * LS_MS; /* 100 + 4 · 50 + 2 · 10 */
    assert_int_equal(ls__link_tail_timer(&link_, end), due_ns);
    ls__link_tick(&link_, end, due_ns - 1, &event);
    assert_int_equal(send_all(end, due_ns - 1, &seq), 0);
    ls__link_tick(&link_, end, due_ns, &event);
    assert_int_equal(send_all(end, due_ns, &seq), 1);
    assert_int_equal(seq, seq_at((int32_t)sent - 1));
    /* Again, as long as nothing is heard, and no more once all is acknowledged. */
    assert_int_equal(ls__link_tail_timer(&link_, end), 2 * due_ns);
    ack(1, seq_at((int32_t)sent), 0, due_ns + 1);
    assert_int_equal(ls__link_tail_timer(&link_, end), LS_NEVER);
    ls__link_free(&link_);
  }
}

/* Nothing below the floor is sent or repeated. */
static void test_floor(void **state) {
  (void)state;
  sender(ISN);
  uint32_t seq;
  send_all(seq_at(40), 0, &seq);
  nak(seq_at(10), seq_at(19), LS_S);
  ls__link_send_floor(&link_, seq_at(15));
  assert_int_equal(link_.lost.count, 5);
  ls__link_send_floor(&link_, seq_at(14)); /* never back */
  assert_int_equal(link_.acked, seq_at(15));
  assert_int_equal(send_all(seq_at(40), LS_S, &seq), 5);
  assert_int_equal(ack(1, seq_at(12), 64, LS_S).kind, LS__EVENT_NONE);
  assert_int_equal(ack(2, seq_at(16), 64, LS_S).kind, LS__EVENT_ACKED);
}

/* Random acknowledgements, reports, floors and forgeries against a model of arrays: the set of what
 * is to be repeated is the model's, and the window is kept. */
static void test_model(void **state) {
  (void)state;
  enum { SPAN = 4000 };
  static bool lost[SPAN];
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    sender(ISN);
    memset(lost, 0, sizeof lost);
    int32_t acked = 0, next = 0, end = 0, window = 64;
    for (int64_t now_ns = LS_S; now_ns < 600 * LS_S && end < SPAN - 200; now_ns += LS_S) {
      end += (int32_t)ls__prng_below(&prng, 20);
      uint32_t seq;
      bool again;
      while (ls__link_next_data(&link_, seq_at(end), now_ns, &seq, &again)) {
        int32_t at = ls__seq_diff(seq, ISN);
        assert_int_equal(again, at < next);
        assert_true(again ? lost[at] : at == next && at < window);
        lost[at] = false;
        next += !again;
        ls__link_sent_data(&link_, seq, again, 100, now_ns);
        if (ls__prng_below(&prng, 8) == 0)
          break; /* the rate law lets no more out now */
      }
      int32_t first = acked - 5 + (int32_t)ls__prng_below(&prng, 80);
      int32_t last = first + (int32_t)ls__prng_below(&prng, 10);
      switch (ls__prng_below(&prng, 4)) {
      case 0:
        nak(seq_at(first), seq_at(last), now_ns);
        for (int32_t i = first; last < next && i <= last; i++)
          if (i >= acked)
            lost[i] = true;
        break;
      case 1:
        ack(1, seq_at(first), 30, now_ns);
        if (first >= acked && first <= next) {
          acked = first;
          window = first + 30 > window ? first + 30 : window;
        }
        break;
      case 2:
        if (ls__prng_below(&prng, 10) == 0 && first > acked && first <= end) {
          ls__link_send_floor(&link_, seq_at(first));
          window += first - acked;
          acked = first;
          next = first > next ? first : next;
        }
      }
      uint32_t count = 0;
      for (int32_t i = 0; i < SPAN; i++) {
        lost[i] = lost[i] && i >= acked;
        count += lost[i];
      }
      assert_int_equal(link_.lost.count, count);
      assert_int_equal(link_.acked, seq_at(acked));
      assert_int_equal(link_.next, seq_at(next));
    }
    ls__link_free(&link_);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_order, tear_down),
      cmocka_unit_test_teardown(test_window, tear_down),
      cmocka_unit_test_teardown(test_window_after_floor, tear_down),
      cmocka_unit_test_teardown(test_ack, tear_down),
      cmocka_unit_test_teardown(test_initial_rtt, tear_down),
      cmocka_unit_test_teardown(test_forged, tear_down),
      cmocka_unit_test_teardown(test_ack_of_long_ago, tear_down),
      cmocka_unit_test_teardown(test_straddling_nak, tear_down),
      cmocka_unit_test_teardown(test_recent, tear_down),
      cmocka_unit_test_teardown(test_tail, tear_down),
      cmocka_unit_test_teardown(test_reports_once, tear_down),
      cmocka_unit_test_teardown(test_answers_bounded, tear_down),
      cmocka_unit_test_teardown(test_floor, tear_down),
      cmocka_unit_test_teardown(test_model, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
