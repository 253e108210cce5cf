/* A running stream, into which a stranger who knows the sockets throws packets that no honest peer
 * sends: they are counted, nothing breaks, nothing is lost, no delivery moves. */
#include "base/prng.h"
#include "base/seq.h"
#include "stream/testing.h"

static struct ls__test_pair pair;
static struct ls__prng prng;

static int set_up(void **state) {
  (void)state;
  ls__test_pair_defaults(&pair);
  pair.isn = LS_SEQ_MASK - 700; /* the wrap comes in the middle */
  pair.ends[0].stamp_us = pair.ends[1].stamp_us = UINT32_MAX - 2000000;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  ls__test_free(&pair);
  return 0;
}

static struct ls__link *link_of(unsigned end) {
  return &pair.ends[end].stream.links[0].link;
}

/* Throws a datagram at an end, now. */
static void throw_at(unsigned end, struct ls__header header, const void *cif, size_t len) {
  uint8_t data[LS_DATAGRAM_MAX];
  header.socket_id = link_of(end)->config.socket_id;
  ls__header_put(&header, data);
  if (len)
    memcpy(data + LS_HEADER_BYTES, cif, len);
  ls__test_deliver_at(&pair, 0, end, data, LS_HEADER_BYTES + len, pair.now_ns);
}

static void throw_words(unsigned end, uint16_t type, uint32_t info, const uint32_t *words,
                        size_t count) {
  uint8_t cif[LS_PAYLOAD_MAX];
  for (size_t i = 0; i < count; i++)
    ls__put32(cif + 4 * i, words[i]);
  throw_at(end, (struct ls__header){.control = true, .type = type, .info = info}, cif, 4 * count);
}

static uint64_t counted(unsigned end) {
  const struct ls__stats_link *stats = &link_of(end)->stats;
  return stats->packets_unexpected + stats->packets_no_room + stats->packets_belated;
}

/* The stream goes on for half a second and nothing of it is missing; what was thrown at `end` was
 * counted `times`. */
static void expect_unharmed(unsigned end, uint64_t before, uint64_t times) {
  uint32_t delivered = pair.delivered;
  ls__test_run(&pair, pair.now_ns + 500 * LS_MS);
  assert_int_equal(counted(end), before + times);
  assert_in_range(pair.delivered - delivered, 249, 251);
  assert_true(pair.most_latency_ns - pair.least_latency_ns <= 2 * LS_US);
  assert_int_equal(pair.ends[0].broken + pair.ends[1].broken, 0);
  assert_int_equal(pair.ends[0].closed + pair.ends[1].closed, 0);
  assert_int_equal(link_of(0)->stats.packets_retransmitted, 0);
}

/* At the sender: acknowledgements and reports of what was not sent, malformed ones, all of this
 * with offsets over the whole circle. */
static void test_at_the_sender(void **state) {
  (void)state;
  static const int32_t ahead[] = {1000, 100000, 0x1fffffff, 0x20000000, 0x3ffffeff};
  for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
    uint32_t far = ls__seq_add(link_of(0)->next, ahead[i]);
    uint32_t farther = ls__seq_add(far, 0x10000000);
    uint32_t near = link_of(0)->acked;
    uint64_t before = counted(0);
    const uint32_t ack[7] = {far, 20000, 1000, 1000, 0, 0, 0};
    throw_words(0, LS__CONTROL_ACK, 7, ack, 7);
    throw_words(0, LS__CONTROL_ACK, 0, ack, 1);
    throw_words(0, LS__CONTROL_ACK, 0, ack, 0);
    throw_words(0, LS__CONTROL_NAK, 0, &far, 1);
    const uint32_t range[2] = {far | 0x80000000, farther};
    throw_words(0, LS__CONTROL_NAK, 0, range, 2);
    const uint32_t backwards[2] = {near | 0x80000000, ls__seq_add(near, -ahead[i])};
    throw_words(0, LS__CONTROL_NAK, 0, backwards, 2);
    const uint32_t half[1] = {near | 0x80000000};
    throw_words(0, LS__CONTROL_NAK, 0, half, 1);
    throw_at(0, (struct ls__header){.control = true, .type = LS__CONTROL_NAK}, "\x01\x02\x03", 3);
    expect_unharmed(0, before, 8);
  }
}

/* At the receiver: data from outside the window, or of no form that live mode has; drop requests of
 * the same kinds; answers to acknowledgements that were never sent. */
static void test_at_the_receiver(void **state) {
  (void)state;
  static const int32_t ahead[] = {1024,    100000,      0x1fffffff,  0x20000000, 0x3fffffff,
                                  -100000, -0x1fffffff, -0x3fffff00, -0x3fffffff};
  static const uint8_t payload[LS_PAYLOAD_MAX] = {0};
  for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
    uint32_t base = pair.ends[1].stream.rx.first, far = ls__seq_add(base, ahead[i]);
    uint64_t before = counted(1);
    struct ls__header data = {.seq = far, .msgno = 5, .position = 3};
    for (int j = 0; j < 20; j++, data.seq = ls__seq_next(data.seq))
      throw_at(1, data, payload, 100); /* a row, but not one that playout follows */
    struct ls__header wrong = {.seq = ls__seq_add(base, 100), .msgno = 5, .position = 3};
    throw_at(1, wrong, payload, 0);
    wrong.key = 1;
    throw_at(1, wrong, payload, 100);
    wrong.key = 0;
    wrong.position = 1;
    throw_at(1, wrong, payload, 100);
    wrong.position = 3;
    wrong.msgno = 0;
    throw_at(1, wrong, payload, 100);
    if (ahead[i] > 0) {
      const uint32_t drop[2] = {ls__seq_add(base, 5), far};
      throw_words(1, LS__CONTROL_DROPREQ, 0, drop, ahead[i] == 0x3fffffff ? 1 : 2);
      const uint32_t backwards[2] = {ls__seq_add(base, 5), ls__seq_add(base, -ahead[i])};
      throw_words(1, LS__CONTROL_DROPREQ, 0, backwards, 2);
      const uint32_t zero[1] = {0};
      throw_words(1, LS__CONTROL_ACKACK, link_of(1)->ack_number + (uint32_t)ahead[i], zero, 1);
    }
    expect_unharmed(1, before, 24 + (ahead[i] > 0 ? 3 : 0));
  }
}

/* At either end: types that live mode has no use for, key material of every length, wild stamps,
 * handshakes in mid-stream, datagrams shorter than a header. */
static void test_at_both(void **state) {
  (void)state;
  static const uint16_t types[] = {LS__CONTROL_USER, 0x0009, 0x1000, 0x7ffe};
  uint32_t words[364] = {0x12202901, 0, 0x02000200, 0x00000404};
  for (unsigned end = 0; end < 2; end++) {
    uint64_t before = counted(end);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
      for (size_t len = 0; len <= 364; len += 52)
        throw_words(end, types[i], 3, words, len);
    expect_unharmed(end, before, 4 * 8);
    for (uint32_t i = 0; i < 50; i++) {
      struct ls__header header = {.control = true,
                                  .type = i % 2 ? LS__CONTROL_KEEPALIVE : LS__CONTROL_CONGESTION,
                                  .stamp_us = i * UINT32_C(1700000000)};
      throw_at(end, header, words, i % 3 ? 4 : 0);
    }
    expect_unharmed(end, before, 4 * 8);
    struct ls__handshake hs = ls__test_conclusion(pair.isn);
    static const int32_t requests[] = {LS__REQUEST_INDUCTION, LS__REQUEST_AGREEMENT,
                                       LS__REQUEST_WAVEAHAND, 1002};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
      uint8_t cif[LS_PAYLOAD_MAX];
      hs.request = requests[i];
      throw_at(end, (struct ls__header){.control = true}, cif, ls__handshake_put(&hs, cif));
    }
    expect_unharmed(end, before, 4 * 8);
    uint8_t runt[LS_HEADER_BYTES] = {0};
    for (size_t len = 0; len < sizeof runt; len++)
      ls__test_deliver_at(&pair, 0, end, runt, len, pair.now_ns);
    expect_unharmed(end, before, 4 * 8 + 16);
  }
}

/* Random bytes behind a random type, thousands of them at both ends, while the path loses and
 * overtakes: whatever else happens, the process goes on and both ends come to an end. What passes
 * for honest may harm the stream, so that nothing is said about what arrives. */
static void test_noise(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    ls__test_free(&pair);
    ls__test_pair_defaults(&pair);
    ls__prng_seed(&prng, seed);
    pair.isn = LS_SEQ_MASK - (uint32_t)ls__prng_below(&prng, 1000);
    for (unsigned i = 0; i < 2; i++)
      pair.ways[0][i] = (struct ls__model_config){.delay_ns = 10 * LS_MS, .loss = 0.02};
    pair.lossy = true;
    pair.hostile = true;
    ls__test_start(&pair, seed);
    ls__test_run(&pair, 500 * LS_MS);
    for (int i = 0; i < 1000; i++) {
      unsigned end = (unsigned)ls__prng_below(&prng, 2);
      const struct ls__link *link = link_of(end);
      uint32_t near = ls__prng_below(&prng, 2) ? link->expected : link->next, words[20];
      for (size_t j = 0; j < 20; j++) {
        uint32_t at = ls__seq_add(near, (int32_t)ls__prng_below(&prng, 200) - 100);
        words[j] = ls__prng_below(&prng, 3) ? at : (uint32_t)ls__prng_next(&prng);
        words[j] |= ls__prng_below(&prng, 4) ? 0 : 0x80000000;
      }
      uint16_t type = (uint16_t)ls__prng_below(&prng, 10);
      if (type == LS__CONTROL_SHUTDOWN)
        continue;
      if (type == 9)
        throw_at(end,
                 (struct ls__header){.seq = words[0] & LS_SEQ_MASK,
                                     .msgno = 7,
                                     .position = 3,
                                     .stamp_us = (uint32_t)ls__prng_next(&prng)},
                 words, sizeof words);
      else
        throw_words(end, type, words[1], words, ls__prng_below(&prng, 21));
      ls__test_run(&pair, pair.now_ns + (int64_t)ls__prng_below(&prng, 3 * LS_MS));
    }
    pair.source_ns = LS_NEVER;
    for (unsigned i = 0; i < 2; i++)
      ls__stream_close(&pair.ends[i].stream, ls__test_clock(&pair.ends[i], pair.now_ns));
    ls__test_run(&pair, pair.now_ns + LS_S);
    assert_int_equal(link_of(0)->phase, LS__LINK_ENDED);
    assert_int_equal(link_of(1)->phase, LS__LINK_ENDED);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_at_the_sender),
      TEST(test_at_the_receiver),
      TEST(test_at_both),
      TEST(test_noise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
