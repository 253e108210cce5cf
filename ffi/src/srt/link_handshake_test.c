/* The caller's half of the handshake against scripted listeners, and the repeated answer. */
#include "base/seq.h"
#include "lockstep.h"
#include "srt/link.h"
#include "srt/testing.h"

#define ISN UINT32_C(0x42cad04a)

static struct ls__link link_;
static struct ls__link_event event;
static uint8_t out[LS_DATAGRAM_MAX];

static void call(void) {
  struct ls__link_config config = ls__test_link_config(ISN);
  config.socket_id = LS__TEST_CALLER;
  config.receive_latency_ns = config.peer_latency_ns = 300 * LS_MS;
  strcpy(config.stream_id, "abcdef");
  assert_int_equal(ls__link_init(&link_, 8192), 0);
  config.flow_window = 8192;
  ls__link_call(&link_, &config, 0);
}

static int tear_down(void **state) {
  (void)state;
  ls__link_free(&link_);
  return 0;
}

/* Feeds a handshake; the event is in `event`. */
static void answer(const struct ls__handshake *hs, int64_t now_ns) {
  uint8_t data[LS_DATAGRAM_MAX];
  struct ls__header header = {.control = true,
                              .type = LS__CONTROL_HANDSHAKE,
                              .stamp_us = (uint32_t)(now_ns / LS_US) + 77,
                              .socket_id = LS__TEST_CALLER};
  ls__header_put(&header, data);
  size_t len = LS_HEADER_BYTES + ls__handshake_put(hs, data + LS_HEADER_BYTES);
  ls__link_input(&link_, data, len, now_ns, &event);
}

static struct ls__handshake induction_answer(void) {
  return (struct ls__handshake){.version = 5,
                                .extension = LS__HS_MAGIC,
                                .isn = ISN,
                                .mss = 1500,
                                .window_packets = 8192,
                                .request = LS__REQUEST_INDUCTION,
                                .socket_id = LS__TEST_CALLER,
                                .cookie = 0x4cf42b17};
}

static struct ls__handshake conclusion_answer(void) {
  struct ls__handshake hs = ls__test_conclusion(ISN);
  hs.hs_response = true;
  hs.socket_id = LS__TEST_LISTENER;
  hs.cookie = 0x4cf42b17;
  hs.receive_latency_ms = 400;
  hs.send_latency_ms = 350;
  return hs;
}

/* The request that is due at `now_ns` (and none more), without its header. */
static struct ls__handshake request(int64_t now_ns, size_t *len) {
  struct ls__handshake hs;
  struct ls__header header;
  *len = ls__link_control(&link_, now_ns, out);
  assert_true(*len > LS_HEADER_BYTES);
  assert_int_equal(ls__header_get(out, *len, &header), 0);
  assert_int_equal(header.socket_id, 0); /* a caller's requests ask for a connection */
  *len -= LS_HEADER_BYTES;
  assert_int_equal(ls__handshake_get(out + LS_HEADER_BYTES, *len, &hs), 0);
  uint8_t more[LS_DATAGRAM_MAX];
  assert_int_equal(ls__link_control(&link_, now_ns, more), 0);
  return hs;
}

/* What libsrt 1.5.1 sent with the same settings, but for the address of the peer, which is not
 * filled in, its version, and the flag of a packet filter, which is not served. */
static void test_golden(void **state) {
  (void)state;
  uint8_t golden[LS_DATAGRAM_MAX];
  size_t len, golden_len = ls__test_hex(LS__TEST_INDUCTION_REQUEST, golden);
  call();
  request(0x138c85 * LS_US, &len);
  assert_int_equal(len + LS_HEADER_BYTES, golden_len);
  memset(golden + LS_HEADER_BYTES + 32, 0, 16);
  assert_memory_equal(out, golden, golden_len);

  golden_len = ls__test_hex(LS__TEST_INDUCTION_RESPONSE, golden);
  ls__link_input(&link_, golden, golden_len, 0x138c85 * LS_US, &event);
  assert_int_equal(event.kind, LS__EVENT_NONE);
  struct ls__handshake hs = request(0x138c85 * LS_US, &len);
  assert_int_equal(hs.srt_version, LS_SRT_VERSION);
  assert_int_equal(hs.flags, 0xbf);
  hs.srt_version = 0x010501;
  hs.flags = 0xbf;
  uint8_t again[LS_PAYLOAD_MAX];
  assert_int_equal(ls__handshake_put(&hs, again), len);
  golden_len = ls__test_hex(LS__TEST_CONCLUSION_REQUEST, golden);
  ls__put16(golden + 6, LS__HS_EXT_HSREQ | LS__HS_EXT_CONFIG); /* the capture had a key, too */
  memset(golden + 32, 0, 16);
  assert_int_equal(len, golden_len - 60);
  assert_memory_equal(again, golden, len);
}

static void test_connect(void **state) {
  (void)state;
  size_t len;
  call();
  assert_int_equal(ls__link_timer(&link_, ISN), 0);
  struct ls__handshake hs = request(0, &len);
  assert_int_equal(hs.version, 4);
  assert_int_equal(len, 48);
  assert_int_equal(ls__link_timer(&link_, ISN), 250 * LS_MS);
  hs = induction_answer();
  answer(&hs, 40 * LS_MS);
  assert_int_equal(ls__link_timer(&link_, ISN), 40 * LS_MS);
  hs = request(40 * LS_MS, &len);
  assert_int_equal(hs.cookie, 0x4cf42b17);
  assert_int_equal(hs.request, LS__REQUEST_CONCLUSION);
  assert_int_equal(ls__link_timer(&link_, ISN), 290 * LS_MS);
  hs = conclusion_answer();
  answer(&hs, 80 * LS_MS);
  assert_int_equal(event.kind, LS__EVENT_CONNECTED);
  assert_int_equal(event.time_ns, 80 * LS_MS);
  assert_int_equal(event.stamp_us, 80077);
  assert_int_equal(link_.receive_latency_ns, 350 * LS_MS); /* what the answer proposes for us */
  assert_int_equal(link_.send_latency_ns, 400 * LS_MS);
  assert_int_equal(link_.peer_id, LS__TEST_LISTENER);
  assert_int_equal(link_.peer_version, 0x010505);
  assert_int_equal(ls__link_control(&link_, 80 * LS_MS, out), 0);
  /* The answer again, and again: the connection is not disturbed. */
  answer(&hs, 90 * LS_MS);
  assert_int_equal(event.kind, LS__EVENT_NONE);
  assert_int_equal(ls__link_control(&link_, 90 * LS_MS, out), 0);
  assert_int_equal(link_.stats.connections, 1);
}

/* A request goes out each 250 ms until it is answered, for three seconds. */
static void test_time_out(void **state) {
  (void)state;
  for (int phase = 0; phase < 2; phase++) {
    call();
    size_t len;
    int64_t now_ns = 0;
    request(0, &len);
    struct ls__handshake hs = induction_answer();
    if (phase) {
      answer(&hs, 0);
      request(0, &len);
    }
    for (int i = 1; i < 12; i++) {
      now_ns = ls__link_timer(&link_, ISN);
      assert_int_equal(now_ns, i * 250 * LS_MS);
      ls__link_tick(&link_, ISN, now_ns, &event);
      assert_int_equal(event.kind, LS__EVENT_NONE);
      hs = request(now_ns, &len);
      assert_int_equal(hs.request, phase ? LS__REQUEST_CONCLUSION : LS__REQUEST_INDUCTION);
    }
    assert_int_equal(ls__link_timer(&link_, ISN), 3 * LS_S);
    ls__link_tick(&link_, ISN, 3 * LS_S, &event);
    assert_int_equal(event.kind, LS__EVENT_BROKEN);
    assert_int_equal(event.reject, LS__REJECT_TIMEOUT);
    assert_int_equal(ls__link_control(&link_, 3 * LS_S, out), 0);
    assert_int_equal(ls__link_control(&link_, 4 * LS_S, out), 0);
    ls__link_free(&link_);
  }
}

static void expect_refused(int code) {
  assert_int_equal(event.kind, LS__EVENT_BROKEN);
  assert_int_equal(event.reject, code);
  assert_int_equal(link_.phase, LS__LINK_ENDED);
  assert_int_equal(ls__link_timer(&link_, ISN), LS_NEVER);
  assert_int_equal(ls__link_control(&link_, 10 * LS_S, out), 0);
  ls__link_free(&link_);
}

/* The same of an answer by which the listener takes us for connected: it hears a goodbye. */
static void expect_declined(int code) {
  struct ls__header header;
  assert_int_equal(event.kind, LS__EVENT_BROKEN);
  assert_int_equal(event.reject, code);
  for (int i = 0; i < LS__GOODBYES; i++) {
    int64_t now_ns = i * LS__GOODBYE_NS;
    assert_int_equal(link_.phase, LS__LINK_CLOSING);
    assert_int_equal(ls__link_timer(&link_, ISN), now_ns);
    assert_int_equal(ls__link_control(&link_, now_ns, out), LS_HEADER_BYTES + 4);
    assert_int_equal(ls__header_get(out, LS_HEADER_BYTES + 4, &header), 0);
    assert_int_equal(header.type, LS__CONTROL_SHUTDOWN);
    assert_int_equal(header.socket_id, LS__TEST_LISTENER);
    assert_int_equal(ls__link_control(&link_, now_ns, out), 0);
  }
  expect_refused(code);
}

/* Answers to the induction that no listener of today gives. */
static void test_bad_induction(void **state) {
  (void)state;
  struct ls__handshake hs = induction_answer();
  hs.version = 4;
  hs.extension = LS__HS_DGRAM;
  call();
  answer(&hs, 0);
  expect_refused(LS__REJECT_VERSION);
  hs = induction_answer();
  hs.extension = 0;
  call();
  answer(&hs, 0);
  expect_refused(LS__REJECT_ROGUE);
}

/* Refusals reach the caller with their code, whichever request they answer: those of the protocol,
 * the predefined and the user's. */
static void test_refused(void **state) {
  (void)state;
  static const int codes[] = {0,  1,  4,  8,    10,   11,   12,   13,   14,
                              15, 17, 18, 1000, 1401, 1404, 1409, 2000, 2147482647};
  for (int phase = 0; phase < 2; phase++)
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
      call();
      struct ls__handshake hs = induction_answer();
      if (phase)
        answer(&hs, 0);
      hs.request = LS__REJECT_WIRE + codes[i];
      answer(&hs, 0);
      expect_refused(codes[i]);
    }
}

/* Answers to the conclusion that cannot be taken. */
static void test_bad_conclusion(void **state) {
  (void)state;
  struct ls__handshake hs;
  uint8_t km[56] = {0x12};
#define ANSWERED(change, code, expect)                                                             \
  do {                                                                                             \
    call();                                                                                        \
    hs = induction_answer();                                                                       \
    answer(&hs, 0);                                                                                \
    hs = conclusion_answer();                                                                      \
    change;                                                                                        \
    answer(&hs, 0);                                                                                \
    expect(code);                                                                                  \
  } while (0)
  ANSWERED(hs.version = 4, LS__REJECT_VERSION, expect_declined);
  ANSWERED(hs.isn++, LS__REJECT_ROGUE, expect_declined); /* a listener echoes the caller's */
  ANSWERED(hs.hs_response = false, LS__REJECT_ROGUE, expect_declined);
  ANSWERED(hs.has_hs = false, LS__REJECT_ROGUE, expect_declined);
  ANSWERED(hs.socket_id = 0, LS__REJECT_ROGUE, expect_refused);
  ANSWERED(hs.mss = 1501, LS__REJECT_ROGUE, expect_declined);
  ANSWERED(hs.window_packets = 0, LS__REJECT_ROGUE, expect_declined);
  ANSWERED(hs.srt_version = 0x010200, LS__REJECT_VERSION, expect_declined);
  ANSWERED(hs.flags |= LS__FLAG_STREAM, LS__REJECT_MESSAGEAPI, expect_declined);
  ANSWERED(strcpy(hs.filter, "fec"), LS__REJECT_FILTER, expect_declined);
  ANSWERED((hs.has_km = true, hs.km = km, hs.km_len = sizeof km), LS__REJECT_UNSECURE,
           expect_declined);
#undef ANSWERED
  /* The captured answer of a listener with a passphrase. */
  call();
  hs = induction_answer();
  answer(&hs, 0);
  uint8_t data[LS_DATAGRAM_MAX] = {0x80};
  size_t len = LS_HEADER_BYTES + ls__test_hex(LS__TEST_CONCLUSION_RESPONSE, data + LS_HEADER_BYTES);
  ls__link_input(&link_, data, len, 0, &event);
  expect_declined(LS__REJECT_UNSECURE);
}

/* What is no answer to the request in hand is passed over: the caller goes on asking. */
static void test_ignored(void **state) {
  (void)state;
  call();
  size_t len;
  request(0, &len);
  struct ls__handshake hs = conclusion_answer();
  answer(&hs, 0); /* before a cookie was given */
  assert_int_equal(event.kind, LS__EVENT_NONE);
  assert_int_equal(link_.phase, LS__LINK_INDUCTION);
  static const int32_t requests[] = {LS__REQUEST_WAVEAHAND, LS__REQUEST_AGREEMENT, 2, 999, -3};
  for (int phase = 0; phase < 2; phase++) {
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
      hs = induction_answer();
      hs.request = requests[i];
      answer(&hs, 0);
      assert_int_equal(event.kind, LS__EVENT_NONE);
    }
    assert_int_equal(link_.phase, phase ? LS__LINK_CONCLUSION : LS__LINK_INDUCTION);
    hs = induction_answer();
    answer(&hs, 0); /* the second time: repeated by the network */
  }
  uint8_t data[LS_DATAGRAM_MAX] = {0x80};
  ls__link_input(&link_, data, LS_HEADER_BYTES + 47, 0, &event);
  assert_int_equal(event.kind, LS__EVENT_NONE);
  assert_int_equal(link_.stats.packets_unexpected, 1);
  /* Payload and control packets before the answer: it was lost, and so are these. */
  static const uint16_t types[] = {LS__CONTROL_KEEPALIVE, LS__CONTROL_ACK,
                                   LS__CONTROL_NAK,       LS__CONTROL_ACKACK,
                                   LS__CONTROL_DROPREQ,   LS__CONTROL_SHUTDOWN};
  const uint32_t cif[7] = {ISN, ISN};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    assert_int_equal(ls__test_control(&link_, types[i], 1, cif, 7, 0).kind, LS__EVENT_NONE);
  assert_false(ls__test_data(&link_, ISN, false, 0));
  assert_int_equal(link_.phase, LS__LINK_CONCLUSION);
  hs = conclusion_answer();
  answer(&hs, 100 * LS_MS);
  assert_int_equal(event.kind, LS__EVENT_CONNECTED);
  assert_int_equal(link_.missing.count, 0);
  assert_int_equal(link_.expected, ISN);
}

/* The listener's side: the same bytes for each time it is asked, but for the time stamp. */
static void test_answer_again(void **state) {
  (void)state;
  struct ls__link_config config = ls__test_link_config(ISN);
  config.peer_latency_ns = 500 * LS_MS;
  struct ls__handshake hs = ls__test_conclusion(ISN), read;
  hs.cookie = 0x4cf42b17;
  hs.mss = 1400;
  hs.receive_latency_ms = 200;
  hs.send_latency_ms = 250;
  assert_int_equal(ls__link_init(&link_, 64), 0);
  ls__link_accept(&link_, &config, &hs, 0, 0, &event);
  assert_int_equal(link_.receive_latency_ns, 250 * LS_MS); /* the larger of 120 and 250 */
  assert_int_equal(link_.send_latency_ns, 500 * LS_MS);    /* the larger of 500 and 200 */
  uint8_t first[LS_DATAGRAM_MAX];
  size_t len = ls__link_control(&link_, 0, first);
  assert_int_equal(len, 80);
  assert_int_equal(ls__get32(first + 12), LS__TEST_CALLER);
  assert_int_equal(ls__handshake_get(first + LS_HEADER_BYTES, len - LS_HEADER_BYTES, &read), 0);
  assert_true(read.has_hs && read.hs_response);
  assert_int_equal(read.isn, ISN);
  assert_int_equal(read.mss, 1400);
  assert_int_equal(read.socket_id, LS__TEST_LISTENER);
  assert_int_equal(read.receive_latency_ms, 250);
  assert_int_equal(read.send_latency_ms, 500);
  uint8_t data[LS_DATAGRAM_MAX] = {0x80};
  size_t asked = LS_HEADER_BYTES + ls__handshake_put(&hs, data + LS_HEADER_BYTES);
  for (int i = 1; i < 5; i++) {
    ls__link_input(&link_, data, asked, i * LS_S, &event);
    assert_int_equal(event.kind, LS__EVENT_NONE);
    assert_int_equal(ls__link_timer(&link_, ISN), i * LS_S);
    assert_int_equal(ls__link_control(&link_, i * LS_S, out), len);
    assert_memory_equal(out + LS_HEADER_BYTES, first + LS_HEADER_BYTES, len - LS_HEADER_BYTES);
    assert_int_equal(ls__get32(out + 8), i * 1000000);
    assert_int_equal(ls__link_control(&link_, i * LS_S, out), 0);
  }
  assert_int_equal(link_.stats.connections, 1);
  ls__link_close(&link_, 5 * LS_S);
  ls__link_answer_again(&link_, 5 * LS_S);
  assert_int_equal(ls__link_control(&link_, 5 * LS_S, out), 20); /* a goodbye */
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_golden),  TEST(test_connect),        TEST(test_time_out), TEST(test_bad_induction),
      TEST(test_refused), TEST(test_bad_conclusion), TEST(test_ignored),  TEST(test_answer_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
