/* The life of a link: its phases, its timers, and the packets that carry nothing. */
#include "srt/link.h"

#include "base/prng.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/testing.h"

static struct ls__link link_;
static struct ls__link_event event;
static uint8_t out[LS_DATAGRAM_MAX];

static void connected(void) {
  struct ls__link_config config = ls__test_link_config(1000);
  config.receives = true;
  ls__test_connect(&link_, &config);
}

static int tear_down(void **state) {
  (void)state;
  ls__link_free(&link_);
  return 0;
}

static void expect_golden(const char *hex, int64_t now_ns) {
  uint8_t golden[LS_DATAGRAM_MAX];
  size_t len = ls__test_hex(hex, golden);
  assert_int_equal(ls__link_control(&link_, now_ns, out), len);
  assert_memory_equal(out, golden, len);
}

/* The captured packets without payload, from a link in the state of the captured one. */
static void test_golden(void **state) {
  (void)state;
  struct ls__link_config config = ls__test_link_config(0x42cad04a);
  config.socket_id = LS__TEST_CALLER;
  ls__test_connect(&link_, &config);
  link_.peer_id = LS__TEST_LISTENER;
  uint32_t seq;
  bool again;
  assert_true(ls__link_next_data(&link_, 0x42cad04b, 0, &seq, &again));
  ls__link_sent_data(&link_, seq, again, 100, 0);
  uint8_t golden[LS_DATAGRAM_MAX];
  size_t len = ls__test_hex(LS__TEST_ACK, golden);
  ls__link_input(&link_, golden, len, 0, &event);
  assert_int_equal(event.kind, LS__EVENT_ACKED);
  assert_int_equal(event.first, 0x42cad04b);
  expect_golden(LS__TEST_ACKACK, 0x1b129a * LS_US);
  ls__link_close(&link_, 0x7d5a69 * LS_US);
  expect_golden(LS__TEST_SHUTDOWN, 0x7d5a69 * LS_US);
}

static void test_keepalive(void **state) {
  (void)state;
  connected();
  assert_int_equal(ls__link_timer(&link_, 1000), LS_S);
  assert_int_equal(ls__link_control(&link_, LS_S - 1, out), 0);
  char hex[100];
  for (int second = 1; second < 4; second++) {
    snprintf(hex, sizeof hex, "80010000 00000000 %08x 31b9025a 00000000", 1000000 * second);
    expect_golden(hex, second * LS_S);
    assert_int_equal(ls__link_control(&link_, second * LS_S, out), 0);
  }
  /* Anything sent puts it off. */
  ls__test_data(&link_, 1000, false, 3 * LS_S + 500 * LS_MS);
  assert_int_equal(ls__link_control(&link_, 3 * LS_S + 500 * LS_MS, out), 44);
  assert_int_equal(ls__link_control(&link_, 4 * LS_S, out), 44); /* repeated acknowledgement */
  struct ls__link_event sample =
      ls__test_control(&link_, LS__CONTROL_KEEPALIVE, 0, NULL, 0, 4 * LS_S);
  assert_int_equal(sample.kind, LS__EVENT_SAMPLE);
  assert_int_equal(sample.rtt_ns, 0);
  assert_int_equal(sample.stamp_us, 4000000);
}

/* A peer that has been silent for five seconds is gone: counted from the last thing it said. */
static void test_silence(void **state) {
  (void)state;
  connected();
  ls__test_control(&link_, LS__CONTROL_KEEPALIVE, 0, NULL, 0, 3 * LS_S);
  ls__link_tick(&link_, 1000, 8 * LS_S - 1, &event);
  assert_int_equal(event.kind, LS__EVENT_NONE);
  ls__link_tick(&link_, 1000, 8 * LS_S, &event);
  assert_int_equal(event.kind, LS__EVENT_BROKEN);
  assert_int_equal(event.reject, LS__REJECT_TIMEOUT);
  assert_int_equal(link_.phase, LS__LINK_ENDED);
  assert_int_equal(ls__link_timer(&link_, 1000), LS_NEVER);
  assert_int_equal(ls__link_control(&link_, 9 * LS_S, out), 0);
  ls__link_tick(&link_, 1000, 20 * LS_S, &event);
  assert_int_equal(event.kind, LS__EVENT_NONE);
}

/* Three goodbyes, 10 ms apart, whatever is asked in between; then nothing. */
static void test_goodbye(void **state) {
  (void)state;
  connected();
  ls__link_close(&link_, LS_S);
  for (int i = 0; i < LS__GOODBYES; i++) {
    int64_t now_ns = LS_S + i * LS__GOODBYE_NS;
    assert_int_equal(ls__link_timer(&link_, 1000), now_ns);
    if (i)
      assert_int_equal(ls__link_control(&link_, now_ns - 1, out), 0);
    assert_int_equal(ls__link_control(&link_, now_ns, out), 20);
    assert_int_equal(out[1], LS__CONTROL_SHUTDOWN);
    assert_false(ls__test_data(&link_, 1000, false, now_ns));
    ls__link_close(&link_, now_ns); /* said already */
  }
  assert_int_equal(link_.phase, LS__LINK_ENDED);
  assert_int_equal(ls__link_control(&link_, 2 * LS_S, out), 0);
  assert_int_equal(ls__link_timer(&link_, 1000), LS_NEVER);
}

static void test_peer_goodbye(void **state) {
  (void)state;
  connected();
  assert_int_equal(ls__test_control(&link_, LS__CONTROL_SHUTDOWN, 0, NULL, 0, LS_S).kind,
                   LS__EVENT_CLOSED);
  assert_int_equal(link_.phase, LS__LINK_ENDED);
  assert_int_equal(ls__test_control(&link_, LS__CONTROL_SHUTDOWN, 0, NULL, 0, LS_S).kind,
                   LS__EVENT_NONE);
  assert_int_equal(ls__link_control(&link_, LS_S, out), 0);
  ls__link_free(&link_);
  /* Both at once: no event follows our own goodbye. */
  connected();
  ls__link_close(&link_, LS_S);
  assert_int_equal(ls__test_control(&link_, LS__CONTROL_SHUTDOWN, 0, NULL, 0, LS_S).kind,
                   LS__EVENT_NONE);
  assert_int_equal(link_.phase, LS__LINK_ENDED);
}

/* A link that was never connected just ends. */
static void test_close_while_calling(void **state) {
  (void)state;
  struct ls__link_config config = ls__test_link_config(1000);
  assert_int_equal(ls__link_init(&link_, 64), 0);
  ls__link_call(&link_, &config, 0);
  assert_int_equal(ls__link_control(&link_, 0, out), 64);
  ls__link_close(&link_, LS_MS);
  assert_int_equal(link_.phase, LS__LINK_ENDED);
  assert_int_equal(ls__link_control(&link_, LS_S, out), 0);
  assert_int_equal(ls__link_timer(&link_, 1000), LS_NEVER);
}

/* Too short, of types that a live peer has no use for, key material without a key: the connection
 * goes on. */
static void test_unexpected(void **state) {
  (void)state;
  static const struct {
    uint16_t type;
    unsigned counted;
  } cases[] = {{LS__CONTROL_CONGESTION, 0},
               {LS__CONTROL_PEERERROR, 0},
               {LS__CONTROL_USER, 1},
               {0x0009, 1},
               {0x1234, 1},
               {LS__CONTROL_HANDSHAKE, 1}};
  connected();
  uint64_t counted = 0;
  uint32_t cif[360] = {0x12202901, 0, 0x02000200, 0x00000404};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t words = 0; words <= 360; words += 4) {
      if (cases[i].type == LS__CONTROL_HANDSHAKE && words >= 12)
        break;
      counted += cases[i].counted;
      struct ls__link_event got = ls__test_control(&link_, cases[i].type, 0, cif, words, LS_MS);
      assert_int_equal(got.kind, LS__EVENT_NONE);
      assert_int_equal(link_.stats.packets_unexpected, counted);
    }
  for (size_t len = 0; len < LS_HEADER_BYTES; len++) {
    ls__link_input(&link_, out, len, LS_MS, &event);
    assert_int_equal(event.kind, LS__EVENT_NONE);
    assert_int_equal(link_.stats.packets_unexpected, ++counted);
  }
  assert_int_equal(link_.phase, LS__LINK_CONNECTED);
  assert_true(ls__test_data(&link_, 1000, false, LS_MS));
}

/* A link is used for one connection after the other: nothing of the last one is left. */
static void test_again(void **state) {
  (void)state;
  connected();
  for (uint32_t seq = 1000; seq < 1060; seq += 2)
    ls__test_data(&link_, seq + 1, false, 0);
  while (ls__link_control(&link_, LS_S, out) > 0)
    ;
  assert_true(link_.missing.count > 0);
  struct ls__link_config config = ls__test_link_config(5000);
  config.receives = true;
  struct ls__handshake hs = ls__test_conclusion(5000);
  ls__link_accept(&link_, &config, &hs, 7, 10 * LS_S, &event);
  assert_int_equal(event.kind, LS__EVENT_CONNECTED);
  assert_int_equal(event.stamp_us, 7);
  assert_int_equal(event.time_ns, 10 * LS_S);
  assert_int_equal(link_.missing.count + link_.fresh.count + link_.lost.count, 0);
  assert_int_equal(ls__link_control(&link_, 10 * LS_S, out), 80);
  assert_int_equal(ls__link_control(&link_, 10 * LS_S, out), 0);
  assert_int_equal(ls__link_timer(&link_, 5000), 11 * LS_S);
  const uint32_t zero[1] = {0};
  ls__test_control(&link_, LS__CONTROL_ACKACK, 1, zero, 1, 10 * LS_S); /* of the last one */
  assert_int_equal(link_.stats.packets_unexpected, 1);
  assert_true(ls__test_data(&link_, 5000, false, 10 * LS_S));
  assert_int_equal(link_.stats.connections, 2);
}

/* Whatever comes, a timer that is due is served by control or tick: no busy loop. */
static void test_timers_progress(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    connected();
    uint32_t newest = 1000;
    int64_t now_ns = 0;
    for (int step = 0; step < 500 && link_.phase == LS__LINK_CONNECTED; step++) {
      now_ns += (int64_t)ls__prng_below(&prng, 20 * LS_MS);
      const uint32_t zero[1] = {0};
      if (ls__prng_below(&prng, 4))
        ls__test_data(&link_, newest += (uint32_t)ls__prng_below(&prng, 3), false, now_ns);
      else
        ls__test_control(&link_, LS__CONTROL_ACKACK, link_.ack_number, zero, 1, now_ns);
      int calls = 0;
      while (ls__link_timer(&link_, 1000) <= now_ns) {
        assert_true(calls++ < 100);
        ls__link_tick(&link_, 1000, now_ns, &event);
        ls__link_control(&link_, now_ns, out);
      }
      ls__link_receive_floor(&link_, ls__seq_add(newest, -40));
    }
    ls__link_free(&link_);
  }
}

static void call_wide_id(void) {
  struct ls__link_config config = ls__test_link_config(1000);
  config.socket_id = 0x40000000;
  ls__link_call(&link_, &config, 0);
}

static void accept_other_isn(void) {
  struct ls__link_config config = ls__test_link_config(1000);
  struct ls__handshake hs = ls__test_conclusion(1001);
  ls__link_accept(&link_, &config, &hs, 0, 0, &event);
}

static void test_misuse(void **state) {
  (void)state;
  connected();
  assert_true(ls__test_aborts(call_wide_id));
  assert_true(ls__test_aborts(accept_other_isn));
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_golden),     TEST(test_keepalive),    TEST(test_silence),
      TEST(test_goodbye),    TEST(test_peer_goodbye), TEST(test_close_while_calling),
      TEST(test_unexpected), TEST(test_again),        TEST(test_timers_progress),
      TEST(test_misuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
