#include "srt/handshake.h"

#include "base/bytes.h"
#include "base/prng.h"
#include "lockstep.h"
#include "srt/packet.h"
#include "srt/reject.h"
#include "srt/testing.h"

#include <stdlib.h>

/* Reads a captured payload from a block of its own, so that reading past its end is seen, and
 * writes it again. */
static struct ls__handshake golden(const char *hex, size_t skip, size_t expected_len) {
  static uint8_t kept[LS_DATAGRAM_MAX]; /* `km` points into it */
  uint8_t again[LS_PAYLOAD_MAX];
  size_t len = ls__test_hex(hex, kept) - skip;
  assert_int_equal(len, expected_len);
  struct ls__handshake hs;
  assert_int_equal(ls__handshake_get(kept + skip, len, &hs), 0);
  assert_int_equal(ls__handshake_put(&hs, again), len);
  assert_memory_equal(kept + skip, again, len);
  return hs;
}

static const struct ls__addr localhost = {.family = 4, .bytes = {127, 0, 0, 1}};

static void expect_basics(const struct ls__handshake *hs) {
  assert_int_equal(hs->encryption, 0);
  assert_int_equal(hs->isn, 0x42cad04a);
  assert_int_equal(hs->mss, 1500);
  assert_int_equal(hs->window_packets, 8192);
  assert_true(ls__addr_equal(&hs->peer, &localhost));
}

static void test_golden_induction(void **state) {
  (void)state;
  struct ls__handshake hs = golden(LS__TEST_INDUCTION_REQUEST, LS_HEADER_BYTES, 48);
  expect_basics(&hs);
  assert_int_equal(hs.version, 4);
  assert_int_equal(hs.extension, LS__HS_DGRAM);
  assert_int_equal(hs.request, LS__REQUEST_INDUCTION);
  assert_int_equal(hs.socket_id, 0x31b9025a);
  assert_int_equal(hs.cookie, 0);
  hs = golden(LS__TEST_INDUCTION_RESPONSE, LS_HEADER_BYTES, 48);
  expect_basics(&hs);
  assert_int_equal(hs.version, 5);
  assert_int_equal(hs.extension, LS__HS_MAGIC);
  assert_int_equal(hs.request, LS__REQUEST_INDUCTION);
  assert_int_equal(hs.socket_id, 0x31b9025a); /* the caller's own, echoed */
  assert_int_equal(hs.cookie, 0x4cf42b17);
}

static void expect_km(const struct ls__handshake *hs, bool response) {
  uint8_t km[56];
  assert_int_equal(ls__test_hex(LS__TEST_KM, km), sizeof km);
  assert_true(hs->has_km);
  assert_int_equal(hs->km_response, response);
  assert_int_equal(hs->km_len, sizeof km);
  assert_memory_equal(hs->km, km, sizeof km);
}

static void test_golden_conclusion(void **state) {
  (void)state;
  struct ls__handshake hs = golden(LS__TEST_CONCLUSION_REQUEST, 0, 136);
  expect_basics(&hs);
  assert_int_equal(hs.version, 5);
  assert_int_equal(hs.extension, LS__HS_EXT_HSREQ | LS__HS_EXT_KMREQ | LS__HS_EXT_CONFIG);
  assert_int_equal(hs.request, LS__REQUEST_CONCLUSION);
  assert_int_equal(hs.cookie, 0x4cf42b17);
  assert_true(hs.has_hs);
  assert_false(hs.hs_response);
  assert_int_equal(hs.srt_version, 0x010501);
  assert_int_equal(hs.flags, 0xbf);
  assert_int_equal(hs.receive_latency_ms, 300);
  assert_int_equal(hs.send_latency_ms, 300);
  assert_int_equal(hs.stream_id_len, 6);
  assert_string_equal(hs.stream_id, "abcdef");
  assert_string_equal(hs.congestion, "");
  assert_string_equal(hs.filter, "");
  assert_false(hs.has_group);
  expect_km(&hs, false);
  assert_int_equal(ls__handshake_refusal(&hs), LS__REJECT_UNSECURE);
  hs.has_km = false;
  assert_int_equal(ls__handshake_refusal(&hs), -1);

  hs = golden(LS__TEST_CONCLUSION_RESPONSE, 0, 124);
  expect_basics(&hs);
  assert_true(hs.hs_response);
  assert_int_equal(hs.socket_id, 0x0db3b291);
  assert_int_equal(hs.stream_id_len, 0);
  expect_km(&hs, true);
}

/* Refusals captured from libsrt 1.5.5 listeners: the first 48 bytes with another request. */
static void test_golden_refusals(void **state) {
  (void)state;
  static const struct {
    const char *request;
    int code;
  } cases[] = {{"000003f2", LS__REJECT_BADSECRET},
               {"000003f3", LS__REJECT_UNSECURE},
               {"000003f4", LS__REJECT_MESSAGEAPI}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char hex[400];
    snprintf(hex, sizeof hex, "00000005 00000003 42cad04a 000005dc 00002000 %s %s",
             cases[i].request, "31b9025a 4cf42b17 " LS__TEST_LOCALHOST);
    struct ls__handshake hs = golden(hex, 0, 48);
    assert_int_equal(hs.request, LS__REJECT_WIRE + cases[i].code);
    assert_false(hs.has_hs);
  }
}

#define PLAIN_CONCLUSION                                                                           \
  "00000005 00000005 42cad04a 000005dc 00002000 ffffffff 31b9025a 4cf42b17 " LS__TEST_LOCALHOST
#define PLAIN_HSREQ "00010003 00010501 000000bf 00780000 "

/* Group extensions captured from libsrt 1.5.5: request and answer, broadcast, weight 2. */
static void test_golden_group(void **state) {
  (void)state;
  struct ls__handshake hs =
      golden(PLAIN_CONCLUSION PLAIN_HSREQ "00080002 7e84f75a 01000002", 0, 76);
  assert_true(hs.has_group);
  assert_int_equal(hs.group_id, 0x7e84f75a);
  assert_int_equal(hs.group_type, 1);
  assert_int_equal(hs.group_flags, 0);
  assert_int_equal(hs.group_weight, 2);
  assert_int_equal(hs.receive_latency_ms, 120); /* a caller's default: 120 own, 0 proposed */
  assert_int_equal(hs.send_latency_ms, 0);
  assert_int_equal(ls__handshake_refusal(&hs), LS__REJECT_GROUP);
  hs = golden(PLAIN_CONCLUSION PLAIN_HSREQ "00080002 421f5a33 01000001", 0, 76);
  assert_int_equal(hs.group_id, 0x421f5a33);
  hs.group_id &= 0x3fffffff;
  assert_int_equal(ls__handshake_refusal(&hs), LS__REJECT_ROGUE);
}

static int get_hex(const char *hex, struct ls__handshake *hs) {
  static uint8_t kept[LS_DATAGRAM_MAX];
  return ls__handshake_get(kept, ls__test_hex(hex, kept), hs);
}

static void test_extensions(void **state) {
  (void)state;
  struct ls__handshake hs;
  /* Any order; unknown types are skipped, a group of more words is taken. */
  assert_int_equal(get_hex(PLAIN_CONCLUSION "00ff0002 deadbeef deadbeef 00080003 7e84f75a 02000007 "
                                            "ffffffff 00050001 00000041 00630000 " PLAIN_HSREQ,
                           &hs),
                   0);
  assert_true(hs.has_hs && hs.has_group);
  assert_int_equal(hs.group_type, 2);
  assert_int_equal(hs.group_weight, 7);
  assert_string_equal(hs.stream_id, "A");
  /* The others of the string kind. */
  assert_int_equal(get_hex(PLAIN_CONCLUSION PLAIN_HSREQ "00060001 656c6966 00070001 00636566", &hs),
                   0);
  assert_string_equal(hs.congestion, "file");
  assert_string_equal(hs.filter, "fec");
  static const char *malformed[] = {
      PLAIN_CONCLUSION "00010002 00010501 000000bf",          /* HSREQ of two words */
      PLAIN_CONCLUSION "00010004 00010501 000000bf 00780000", /* past the end */
      PLAIN_CONCLUSION PLAIN_HSREQ "00080001 7e84f75a",       /* group of one word */
      PLAIN_CONCLUSION PLAIN_HSREQ "0005",                    /* half an extension's head */
      PLAIN_CONCLUSION PLAIN_HSREQ "0005ffff 41414141",       /* length beyond all */
      PLAIN_CONCLUSION PLAIN_HSREQ "00060005 41414141 41414141 41414141 41414141 41414141",
  };
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
    assert_int_equal(get_hex(malformed[i], &hs), LS_EFORMAT);
}

/* Key material longer than any (two 256-bit keys make 104 bytes) is not taken. */
static void test_key_length(void **state) {
  (void)state;
  uint8_t data[LS_PAYLOAD_MAX];
  struct ls__handshake hs;
  size_t len = ls__test_hex(PLAIN_CONCLUSION PLAIN_HSREQ, data);
  for (size_t words = 0; words < 60; words++) {
    ls__put16(data + len, 3);
    ls__put16(data + len + 2, (uint16_t)words);
    memset(data + len + 4, 1, 4 * words);
    int result = ls__handshake_get(data, len + 4 + 4 * words, &hs);
    assert_int_equal(result, words <= 26 ? 0 : LS_EFORMAT);
    if (result == 0)
      assert_int_equal(hs.km_len, 4 * words);
  }
}

/* Cut anywhere, the captured request is either refused or lacks whole extensions. */
static void test_truncated(void **state) {
  (void)state;
  uint8_t data[LS_DATAGRAM_MAX];
  size_t full = ls__test_hex(LS__TEST_CONCLUSION_REQUEST, data);
  for (size_t len = 0; len < full; len++) {
    uint8_t *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    memcpy(exact, data, len);
    struct ls__handshake hs;
    int result = ls__handshake_get(exact, len, &hs);
    free(exact);
    bool whole = len == 48 || len == 64 || len == 76;
    assert_int_equal(result, whole ? 0 : LS_EFORMAT);
    if (!whole)
      continue;
    assert_int_equal(hs.has_hs, len >= 64);
    assert_int_equal(hs.stream_id_len, len >= 76 ? 6 : 0);
    assert_false(hs.has_km);
  }
}

/* Extensions belong to conclusions of version 5 alone. */
static void test_no_extensions(void **state) {
  (void)state;
  uint8_t data[LS_DATAGRAM_MAX], again[LS_PAYLOAD_MAX];
  struct ls__handshake hs;
  size_t len = ls__test_hex(LS__TEST_CONCLUSION_REQUEST, data);
  ls__put32(data, 4);
  assert_int_equal(ls__handshake_get(data, len, &hs), 0);
  assert_false(hs.has_hs || hs.has_km || hs.stream_id_len);
  assert_int_equal(ls__handshake_refusal(&hs), LS__REJECT_VERSION);
  hs.has_hs = true;
  assert_int_equal(ls__handshake_put(&hs, again), LS_HANDSHAKE_BYTES);
  ls__put32(data, 5);
  ls__put32(data + 20, (uint32_t)LS__REQUEST_INDUCTION);
  assert_int_equal(ls__handshake_get(data, len, &hs), 0);
  assert_false(hs.has_hs);
}

static void test_stream_id(void **state) {
  (void)state;
  struct ls__handshake hs = {.version = 5, .request = LS__REQUEST_CONCLUSION}, read;
  uint8_t data[LS_PAYLOAD_MAX];
  for (uint16_t len = 1; len <= LS_STREAM_ID_MAX; len++) {
    hs.stream_id_len = len;
    for (int i = 0; i < len; i++)
      hs.stream_id[i] = (char)(1 + (i * 7 + len) % 255);
    size_t used = ls__handshake_put(&hs, data);
    assert_int_equal(used, LS_HANDSHAKE_BYTES + 4 + (len + 3) / 4 * 4);
    assert_int_equal(ls__handshake_get(data, used, &read), 0);
    assert_int_equal(read.stream_id_len, len);
    assert_memory_equal(read.stream_id, hs.stream_id, len);
    assert_int_equal(read.stream_id[len], 0);
  }
  /* One word more than 512 bytes, with a byte in it. */
  ls__put16(data + LS_HANDSHAKE_BYTES + 2, 129);
  memset(data + LS_HANDSHAKE_BYTES + 4, 'x', 516);
  assert_int_equal(ls__handshake_get(data, LS_HANDSHAKE_BYTES + 4 + 516, &read), LS_EFORMAT);
}

static void test_peer_address(void **state) {
  (void)state;
  struct ls__handshake hs = {.version = 4, .peer = {.family = 6}}, read;
  for (int i = 0; i < 16; i++)
    hs.peer.bytes[i] = (uint8_t)(0x20 + i);
  uint8_t data[LS_PAYLOAD_MAX];
  size_t len = ls__handshake_put(&hs, data);
  static const uint8_t wire[16] = {0x23, 0x22, 0x21, 0x20, 0x27, 0x26, 0x25, 0x24,
                                   0x2b, 0x2a, 0x29, 0x28, 0x2f, 0x2e, 0x2d, 0x2c};
  assert_memory_equal(data + 32, wire, 16);
  assert_int_equal(ls__handshake_get(data, len, &read), 0);
  assert_true(ls__addr_equal(&read.peer, &hs.peer));
}

static struct ls__handshake servable(void) {
  struct ls__handshake hs;
  assert_int_equal(get_hex(PLAIN_CONCLUSION PLAIN_HSREQ, &hs), 0);
  return hs;
}

/* One thing wrong at a time. */
static void test_refusals(void **state) {
  (void)state;
  struct ls__handshake hs = servable();
  assert_int_equal(ls__handshake_refusal(&hs), -1);
#define REFUSED(change, code)                                                                      \
  do {                                                                                             \
    hs = servable();                                                                               \
    change;                                                                                        \
    assert_int_equal(ls__handshake_refusal(&hs), code);                                            \
  } while (0)
  REFUSED(hs.version = 4, LS__REJECT_VERSION);
  REFUSED(hs.version = 0, LS__REJECT_VERSION);
  REFUSED(hs.version = 6, -1);
  REFUSED(hs.isn = 0, -1);
  REFUSED(hs.isn = 0x7ffffffe, -1);
  REFUSED(hs.isn = 0x7fffffff, LS__REJECT_ROGUE); /* libsrt's bound: the last number is no ISN */
  REFUSED(hs.isn = 0x80000000, LS__REJECT_ROGUE);
  REFUSED(hs.mss = 75, LS__REJECT_ROGUE);
  REFUSED(hs.mss = 76, -1);
  REFUSED(hs.mss = 1501, LS__REJECT_ROGUE);
  REFUSED(hs.window_packets = 1, LS__REJECT_ROGUE);
  REFUSED(hs.window_packets = 2, -1);
  REFUSED(hs.window_packets = UINT32_MAX, -1);
  REFUSED(hs.has_hs = false, LS__REJECT_ROGUE);
  REFUSED(hs.srt_version = 0x0102ff, LS__REJECT_VERSION);
  REFUSED(hs.srt_version = 0x010300, -1);
  REFUSED(hs.flags |= LS__FLAG_STREAM, LS__REJECT_MESSAGEAPI);
  REFUSED(hs.flags &= ~LS__FLAG_REXMIT, LS__REJECT_ROGUE);
  REFUSED(strcpy(hs.congestion, "file"), LS__REJECT_CONGESTION);
  REFUSED(strcpy(hs.congestion, "live"), -1);
  REFUSED(strcpy(hs.filter, "fec"), LS__REJECT_FILTER);
  REFUSED(hs.has_km = true, LS__REJECT_UNSECURE);
#undef REFUSED
}

/* The cookie of this minute and of the last one, for this address only. */
static void test_cookie(void **state) {
  (void)state;
  const uint8_t key[16] = {1, 2, 3}, other_key[16] = {1, 2, 4};
  struct ls__addr peer = {.family = 4, .bytes = {10, 0, 0, 1}, .port = 5000};
  uint32_t cookie = ls__cookie(key, &peer, 1000);
  assert_true(ls__cookie_valid(key, &peer, 1000, cookie));
  assert_true(ls__cookie_valid(key, &peer, 1001, cookie));
  assert_false(ls__cookie_valid(key, &peer, 1002, cookie));
  assert_false(ls__cookie_valid(key, &peer, 999, cookie));
  assert_false(ls__cookie_valid(other_key, &peer, 1000, cookie));
  struct ls__addr other = peer;
  other.port++;
  assert_false(ls__cookie_valid(key, &other, 1000, cookie));
  other = peer;
  other.bytes[3]++;
  assert_false(ls__cookie_valid(key, &other, 1000, cookie));
  other = peer;
  other.scope++;
  assert_false(ls__cookie_valid(key, &other, 1000, cookie));
}

/* A table driven from random fields: what is written is read again. */
static void test_round_trip(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  for (int i = 0; i < 20000; i++) {
    uint8_t km[104], data[LS_PAYLOAD_MAX], again[LS_PAYLOAD_MAX];
    struct ls__handshake hs = {.version = 5,
                               .request = LS__REQUEST_CONCLUSION,
                               .encryption = (uint16_t)ls__prng_next(&prng),
                               .extension = (uint16_t)ls__prng_next(&prng),
                               .isn = (uint32_t)ls__prng_next(&prng),
                               .mss = (uint32_t)ls__prng_next(&prng),
                               .window_packets = (uint32_t)ls__prng_next(&prng),
                               .socket_id = (uint32_t)ls__prng_next(&prng),
                               .cookie = (uint32_t)ls__prng_next(&prng),
                               .has_hs = ls__prng_below(&prng, 2),
                               .srt_version = (uint32_t)ls__prng_next(&prng),
                               .flags = (uint32_t)ls__prng_next(&prng),
                               .receive_latency_ms = (uint16_t)ls__prng_next(&prng),
                               .send_latency_ms = (uint16_t)ls__prng_next(&prng),
                               .has_group = ls__prng_below(&prng, 2),
                               .group_id = (uint32_t)ls__prng_next(&prng),
                               .group_weight = (uint16_t)ls__prng_next(&prng),
                               .has_km = ls__prng_below(&prng, 2),
                               .km_response = ls__prng_below(&prng, 2),
                               .km = km,
                               .km_len = 4 * ls__prng_below(&prng, sizeof km / 4 + 1)};
    memset(km, i, sizeof km);
    hs.stream_id_len = (uint16_t)ls__prng_below(&prng, LS_STREAM_ID_MAX + 1);
    memset(hs.stream_id, 'a' + i % 26, hs.stream_id_len);
    memset(hs.congestion, 'c', ls__prng_below(&prng, sizeof hs.congestion));
    memset(hs.filter, 'f', ls__prng_below(&prng, sizeof hs.filter));
    size_t len = ls__handshake_put(&hs, data);
    struct ls__handshake read;
    assert_int_equal(ls__handshake_get(data, len, &read), 0);
    assert_int_equal(read.has_hs, hs.has_hs);
    assert_int_equal(read.has_group, hs.has_group);
    assert_string_equal(read.filter, hs.filter);
    assert_string_equal(read.stream_id, hs.stream_id);
    assert_int_equal(ls__handshake_put(&read, again), len);
    assert_memory_equal(data, again, len);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_induction), cmocka_unit_test(test_golden_conclusion),
      cmocka_unit_test(test_golden_refusals),  cmocka_unit_test(test_golden_group),
      cmocka_unit_test(test_extensions),       cmocka_unit_test(test_key_length),
      cmocka_unit_test(test_truncated),        cmocka_unit_test(test_no_extensions),
      cmocka_unit_test(test_stream_id),        cmocka_unit_test(test_peer_address),
      cmocka_unit_test(test_refusals),         cmocka_unit_test(test_cookie),
      cmocka_unit_test(test_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
