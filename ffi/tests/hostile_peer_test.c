/* What a hostile peer may do by one datagram: cost no more work than a window of packets, name no
 * stream by a text that hides a part of itself, and give no statistic a value that cannot be. */
#include "base/seq.h"
#include "lockstep.h"
#include "srt/testing.h"
#include "stream/stream.h"

#define ISN UINT32_C(0x7FFFFFE0) /* the wrap lies inside the window */
#define WINDOW 64
#define WORDS_MAX (LS_PAYLOAD_MAX / 4)

static struct ls__link link_;

static uint32_t seq_at(int32_t offset) {
  return ls__seq_add(ISN, offset);
}

/* A link that has sent a whole window, of which nothing is acknowledged. */
static int begin(void **state) {
  (void)state;
  struct ls__link_config config = ls__test_link_config(ISN);
  uint32_t seq;
  bool again;
  ls__test_connect(&link_, &config);
  while (ls__link_next_data(&link_, seq_at(WINDOW), 0, &seq, &again))
    ls__link_sent_data(&link_, seq, again, 100, 0);
  assert_int_equal(link_.next, seq_at(WINDOW));
  return 0;
}

static int end(void **state) {
  (void)state;
  ls__link_free(&link_);
  return 0;
}

static void report(const uint32_t *words, size_t count) {
  struct ls__link_event event = ls__test_control(&link_, LS__CONTROL_NAK, 0, words, count, LS_MS);
  assert_int_equal(event.kind, LS__EVENT_NONE);
}

static void test_whole_window_is_honest(void **state) {
  (void)state;
  uint32_t words[WINDOW];
  for (int32_t i = 0; i < WINDOW; i++)
    words[i] = seq_at(i);
  report(words, WINDOW);
  assert_int_equal(link_.lost.count, WINDOW);
  assert_int_equal(link_.stats.packets_unexpected, 0);
}

/* 182 ranges of the whole window each would be 182 windows of work. The last range names one packet
 * that the others do not: it must not be reached. */
static void test_repeated_ranges_stop(void **state) {
  (void)state;
  uint32_t words[WORDS_MAX];
  for (size_t i = 0; i < WORDS_MAX; i += 2) {
    words[i] = seq_at(0) | UINT32_C(0x80000000);
    words[i + 1] = seq_at(WINDOW - 2);
  }
  words[WORDS_MAX - 2] = words[WORDS_MAX - 1] = seq_at(WINDOW - 1);
  report(words, WORDS_MAX);
  assert_int_equal(link_.lost.count, WINDOW - 1);
  assert_int_equal(link_.stats.packets_send_lost, WINDOW - 1);
  assert_int_equal(link_.stats.packets_unexpected, 1);
  /* The connection goes on, and an honest report is taken. */
  uint32_t honest = seq_at(WINDOW - 1);
  report(&honest, 1);
  assert_int_equal(link_.lost.count, WINDOW);
  assert_int_equal(link_.stats.packets_unexpected, 1);
}

/* Ranges that were acknowledged cost nothing but an answer, of which few are kept. */
static void test_old_ranges_are_answered(void **state) {
  (void)state;
  uint32_t words[WORDS_MAX];
  ls__link_send_floor(&link_, seq_at(10));
  for (size_t i = 0; i < WORDS_MAX; i += 2) {
    words[i] = seq_at(0) | UINT32_C(0x80000000);
    words[i + 1] = seq_at(9);
  }
  report(words, WORDS_MAX);
  assert_int_equal(link_.lost.count, 0);
  assert_int_equal(link_.drop_count, LS__ANSWERS_MAX);
}

/* An answer to socket 0 would look like a request. */
static void test_no_connection_with_socket_0(void **state) {
  (void)state;
  struct ls__handshake hs = ls__test_conclusion(ISN);
  assert_int_equal(ls__handshake_refusal(&hs), -1);
  hs.socket_id = 0;
  assert_int_equal(ls__handshake_refusal(&hs), LS__REJECT_ROGUE);
}

static void test_no_zero_inside_a_text(void **state) {
  (void)state;
  uint8_t out[LS_PAYLOAD_MAX];
  struct ls__handshake hs = ls__test_conclusion(ISN), got;
  memcpy(hs.stream_id, "cam1", 4);
  hs.stream_id_len = 4;
  assert_int_equal(ls__handshake_get(out, ls__handshake_put(&hs, out), &got), 0);
  assert_string_equal(got.stream_id, "cam1");
  memcpy(hs.stream_id, "cam1\0,m=", 8);
  hs.stream_id_len = 8;
  assert_int_equal(ls__handshake_get(out, ls__handshake_put(&hs, out), &got), LS_EFORMAT);
}

static void feed(struct ls__stream *stream, uint32_t seq, uint32_t stamp_us) {
  uint8_t data[LS_HEADER_BYTES + 100] = {0};
  struct ls__header header = {
      .seq = seq, .position = 3, .msgno = 1, .stamp_us = stamp_us, .socket_id = LS__TEST_LISTENER};
  ls__header_put(&header, data);
  ls__stream_input(stream, 0, data, sizeof data, LS_MS);
}

/* Between the oldest and the newest packet lie no 584 years, whatever their stamps say. */
static void test_stamps_that_run_backwards(void **state) {
  (void)state;
  struct ls__stream stream;
  struct ls__stream_config config = {.buffer_packets = WINDOW, .too_late_drop = true};
  struct ls__handshake hs = ls__test_conclusion(ISN);
  assert_int_equal(ls__stream_init(&stream, &config, 1), 0);
  ls__stream_open(&stream, ISN, 0);
  ls__stream_accept(&stream, 0, ls__test_link_config(ISN), &hs, 0, 0);
  feed(&stream, seq_at(0), 5000);
  feed(&stream, seq_at(1), 7000);
  assert_int_equal(ls__stream_statistics(&stream, 0, LS_MS).receive_buffer_ns, 2 * LS_MS);
  feed(&stream, seq_at(2), 1000);
  assert_int_equal(ls__stream_statistics(&stream, 0, LS_MS).receive_buffer_packets, 3);
  assert_int_equal(ls__stream_statistics(&stream, 0, LS_MS).receive_buffer_ns, 0);
  ls__stream_free(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_whole_window_is_honest, begin, end),
      cmocka_unit_test_setup_teardown(test_repeated_ranges_stop, begin, end),
      cmocka_unit_test_setup_teardown(test_old_ranges_are_answered, begin, end),
      cmocka_unit_test(test_no_connection_with_socket_0),
      cmocka_unit_test(test_no_zero_inside_a_text),
      cmocka_unit_test(test_stamps_that_run_backwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
