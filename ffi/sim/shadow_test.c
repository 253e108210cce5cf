#include "sim/shadow.h"

#include "base/bytes.h"
#include "base/testing.h"

#include <string.h>

static struct ls__shadow shadow;

static const char *data(uint32_t seq, bool again) {
  uint8_t out[LS_HEADER_BYTES + 100] = {0};
  struct ls__header header = {.seq = seq, .msgno = 1, .position = 3, .retransmitted = again};
  ls__header_put(&header, out);
  return ls__shadow_sent(&shadow, 0, out, sizeof out);
}

static const char *control(unsigned end, uint16_t type, uint32_t info, const uint32_t *words,
                           size_t count) {
  uint8_t out[LS_HEADER_BYTES + 64] = {0};
  struct ls__header header = {.control = true, .type = type, .info = info};
  ls__header_put(&header, out);
  for (size_t i = 0; i < count; i++)
    ls__put32(out + LS_HEADER_BYTES + 4 * i, words[i]);
  return ls__shadow_sent(&shadow, end, out, LS_HEADER_BYTES + 4 * count);
}

static const char *ack(uint32_t seq, uint32_t number) {
  uint32_t words[7] = {seq};
  return control(1, LS__CONTROL_ACK, number, words, number ? 7 : 1);
}

static void test_data(void **state) {
  (void)state;
  memset(&shadow, 0, sizeof shadow);
  assert_non_null(data(5, true)); /* again, before ever */
  assert_null(data(0x7FFFFFFF, false));
  assert_null(data(0, false)); /* over the wrap */
  assert_null(data(7, false)); /* a jump ahead is allowed */
  assert_null(data(0, true));
  assert_non_null(data(7, false));
  assert_non_null(data(6, false));
  assert_non_null(data(8, true));
}

static void test_acknowledgements(void **state) {
  (void)state;
  memset(&shadow, 0, sizeof shadow);
  assert_null(data(10, false));
  assert_null(ack(11, 1));
  assert_non_null(ack(12, 2));
  assert_non_null(ack(10, 2)); /* back */
  assert_null(ack(11, 0));     /* light */
  const uint32_t zero = 0;
  assert_null(control(0, LS__CONTROL_ACKACK, 1, &zero, 1));
  assert_non_null(control(0, LS__CONTROL_ACKACK, 99, &zero, 1));
  assert_non_null(control(0, LS__CONTROL_ACKACK, 0, &zero, 1));
}

static void test_reports(void **state) {
  (void)state;
  memset(&shadow, 0, sizeof shadow);
  const uint32_t one[] = {4}, range[] = {0x80000003, 5}, far[] = {6}, back[] = {0x80000005, 3};
  assert_non_null(control(1, LS__CONTROL_NAK, 0, one, 1)); /* nothing was sent yet */
  assert_null(data(5, false));
  assert_null(control(1, LS__CONTROL_NAK, 0, one, 1));
  assert_null(control(1, LS__CONTROL_NAK, 0, range, 2));
  assert_non_null(control(1, LS__CONTROL_NAK, 0, far, 1));
  assert_non_null(control(1, LS__CONTROL_NAK, 0, back, 2));
  assert_non_null(control(1, LS__CONTROL_NAK, 0, one, 0));
  const uint32_t drop[] = {3, 5}, wrong[] = {5, 3};
  assert_null(control(0, LS__CONTROL_DROPREQ, 0, drop, 2));
  assert_non_null(control(0, LS__CONTROL_DROPREQ, 0, wrong, 2));
}

static void test_empty(void **state) {
  (void)state;
  memset(&shadow, 0, sizeof shadow);
  const uint32_t zero[2] = {0};
  assert_null(control(0, LS__CONTROL_KEEPALIVE, 0, zero, 1));
  assert_non_null(control(0, LS__CONTROL_KEEPALIVE, 0, zero, 0));
  assert_non_null(control(0, LS__CONTROL_SHUTDOWN, 0, zero, 2));
  assert_non_null(ls__shadow_sent(&shadow, 0, (const uint8_t *)zero, 8));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_data),
                                     cmocka_unit_test(test_acknowledgements),
                                     cmocka_unit_test(test_reports), cmocka_unit_test(test_empty)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
