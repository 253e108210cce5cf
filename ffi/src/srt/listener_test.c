#include "base/testing.h"

#include "base/bytes.h"
#include "srt/listener.h"
#include "srt/reject.h"

static const uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const struct ls__addr caller = {.bytes = {127, 0, 0, 1}, .port = 5000, .family = 4};
static const struct ls__addr other = {.bytes = {127, 0, 0, 1}, .port = 5001, .family = 4};

static const struct ls__handshake request = {.version = 4,
                                             .extension = LS__HS_DGRAM,
                                             .isn = 0x42cad04a,
                                             .mss = 1500,
                                             .window_packets = 8192,
                                             .request = LS__REQUEST_INDUCTION,
                                             .socket_id = 0x31b9025a};
static const struct ls__header asked = {.control = true, .stamp_us = 0x138c85};

static struct ls__handshake parse(const uint8_t *out, size_t len, uint32_t to_id) {
  struct ls__header header;
  struct ls__handshake hs;
  assert_int_equal(ls__header_get(out, len, &header), 0);
  assert_true(header.control);
  assert_int_equal(header.type, LS__CONTROL_HANDSHAKE);
  assert_int_equal(header.socket_id, to_id);
  assert_int_equal(ls__handshake_get(out + LS_HEADER_BYTES, len - LS_HEADER_BYTES, &hs), 0);
  return hs;
}

static void test_induction(void **state) {
  (void)state;
  uint8_t out[LS_DATAGRAM_MAX];
  size_t len = ls__listener_induction(key, &caller, &asked, &request, LS__COOKIE_MINUTE_NS, out);
  assert_int_equal(len, 64); /* as long as the request: no amplification */
  struct ls__handshake hs = parse(out, len, request.socket_id);
  assert_int_equal(hs.version, 5);
  assert_int_equal(hs.extension, LS__HS_MAGIC);
  assert_int_equal(hs.isn, request.isn);
  assert_int_equal(hs.socket_id, request.socket_id);
  assert_true(ls__listener_knows(key, &caller, &hs, LS__COOKIE_MINUTE_NS));
  assert_true(ls__listener_knows(key, &caller, &hs, 3 * LS__COOKIE_MINUTE_NS - 1));
  assert_false(ls__listener_knows(key, &caller, &hs, 3 * LS__COOKIE_MINUTE_NS));
  assert_false(ls__listener_knows(key, &other, &hs, LS__COOKIE_MINUTE_NS));
  hs.cookie ^= 1;
  assert_false(ls__listener_knows(key, &caller, &hs, LS__COOKIE_MINUTE_NS));
}

static void test_refusal(void **state) {
  (void)state;
  uint8_t out[LS_DATAGRAM_MAX];
  struct ls__handshake conclusion = request;
  conclusion.version = 5;
  conclusion.extension = LS__HS_EXT_HSREQ | LS__HS_EXT_KMREQ;
  conclusion.request = LS__REQUEST_CONCLUSION;
  size_t len = ls__listener_refuse(&caller, &asked, &conclusion, LS__REJECT_UNSECURE, out);
  assert_int_equal(len, 64);
  struct ls__handshake hs = parse(out, len, request.socket_id);
  assert_int_equal(hs.request, 1011);
  /* As libsrt 1.5.5 sends it: extension field 3 and 0x3f3. */
  assert_int_equal(ls__get16(out + LS_HEADER_BYTES + 6), 3);
  assert_int_equal(ls__get32(out + LS_HEADER_BYTES + 20), 0x3f3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_induction),
                                     cmocka_unit_test(test_refusal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
