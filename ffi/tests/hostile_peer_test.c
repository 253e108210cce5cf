/* What one datagram of a hostile peer may cost: no more work than a window of packets. */
#include "base/seq.h"
#include "srt/testing.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_whole_window_is_honest, begin, end),
      cmocka_unit_test_setup_teardown(test_repeated_ranges_stop, begin, end),
      cmocka_unit_test_setup_teardown(test_old_ranges_are_answered, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
