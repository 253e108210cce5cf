#include "flow/ts_reader.h"

#include "base/prng.h"
#include "lockstep.h"
#include "media/testing.h"

#include <stdlib.h>

/* More than the reader holds at once. */
#define PACKETS 25000

/* A stream of random rate, changed at each PCR; `every` packets from one PCR to the next. */
static uint8_t (*make_stream(uint64_t seed, unsigned every))[LS_TS_SIZE] {
  uint8_t(*packets)[LS_TS_SIZE] = malloc(PACKETS * sizeof *packets);
  struct ls__prng prng;
  int64_t pcr = 12345;
  ls__prng_seed(&prng, seed);
  for (unsigned i = 0; i < PACKETS; i++) {
    ls__test_packet(packets[i], 100, (uint8_t)(i & 15), (uint8_t)ls__prng_next(&prng));
    if (every && i % every == 0) {
      ls__test_pcr(packets[i], pcr, false);
      pcr += (int64_t)(every * (2000 + ls__prng_below(&prng, 3000)));
    }
    packets[i][100] = (uint8_t)i;
    packets[i][101] = (uint8_t)(i >> 8);
  }
  return packets;
}

/* Takes what has a time and compares it with the stream and with a clock of its own. */
struct model {
  uint8_t (*packets)[LS_TS_SIZE];
  struct ls__pcr clock;
  uint64_t fed, taken;
  bool ended;
};

static int64_t model_time(struct model *model) {
  int64_t at_ns;
  while (!ls__pcr_next(&model->clock, &at_ns)) {
    assert_false(model->ended);
    if (model->fed < PACKETS) {
      assert_int_equal(ls__pcr_feed(&model->clock, model->packets[model->fed++]), 0);
    } else {
      assert_int_equal(ls__pcr_end(&model->clock), 0);
      model->ended = true;
    }
  }
  return at_ns;
}

static void take_some(struct ls__ts_reader *reader, struct model *model, uint64_t most) {
  uint8_t packet[LS_TS_SIZE];
  int64_t at_ns;
  for (uint64_t i = 0; i < most && ls__ts_reader_next(reader, packet, &at_ns); i++) {
    assert_memory_equal(packet, model->packets[model->taken++], LS_TS_SIZE);
    assert_int_equal(at_ns, model_time(model));
  }
}

/* However the bytes are cut and whenever packets are taken: the same packets at the same times. */
static void test_pieces(void **state) {
  (void)state;
  static const unsigned intervals[] = {1, 7, 100, 1999};
  for (unsigned i = 0; i < 4; i++) {
    struct model model = {.packets = make_stream(i, intervals[i])};
    struct ls__ts_reader reader;
    struct ls__prng prng;
    ls__prng_seed(&prng, i);
    ls__pcr_init(&model.clock, 0);
    assert_int_equal(ls__ts_reader_init(&reader, 0), 0);
    const uint8_t *bytes = model.packets[0];
    for (size_t at = 0; at < PACKETS * LS_TS_SIZE;) {
      if (!ls__ts_reader_hungry(&reader)) {
        take_some(&reader, &model, 1 + ls__prng_below(&prng, 3000));
        continue;
      }
      size_t len = 1 + ls__prng_below(&prng, 3000);
      if (len > PACKETS * LS_TS_SIZE - at)
        len = PACKETS * LS_TS_SIZE - at;
      assert_int_equal(ls__ts_reader_feed(&reader, bytes + at, len), 0);
      at += len;
      take_some(&reader, &model, ls__prng_below(&prng, 20));
    }
    assert_int_equal(ls__ts_reader_end(&reader), 0);
    assert_false(ls__ts_reader_hungry(&reader));
    take_some(&reader, &model, PACKETS);
    assert_int_equal(model.taken, PACKETS);
    assert_int_equal(reader.skipped_bytes, 0);
    ls__ts_reader_free(&reader);
    free(model.packets);
  }
}

/* Bytes that belong to no packet are skipped and counted: before, between, and a broken end. */
static void test_out_of_step(void **state) {
  (void)state;
  struct ls__ts_reader reader;
  uint8_t packet[LS_TS_SIZE], got[LS_TS_SIZE];
  static const uint8_t noise[] = {1, 2, 3, 0x46, 0x48};
  int64_t at_ns;
  assert_int_equal(ls__ts_reader_init(&reader, 1000000), 0);
  for (unsigned i = 0; i < 3; i++) {
    ls__test_packet(packet, 33, (uint8_t)i, 0x47); /* sync bytes inside do not confuse it */
    ls__test_pcr(packet, 27000 * i, false);
    assert_int_equal(ls__ts_reader_feed(&reader, noise, sizeof noise), 0);
    assert_int_equal(ls__ts_reader_feed(&reader, packet, LS_TS_SIZE), 0);
  }
  assert_int_equal(ls__ts_reader_feed(&reader, packet, 100), 0);
  assert_int_equal(ls__ts_reader_end(&reader), 0);
  assert_int_equal(reader.skipped_bytes, 3 * sizeof noise + 100);
  for (unsigned i = 0; i < 3; i++) {
    assert_true(ls__ts_reader_next(&reader, got, &at_ns));
    assert_int_equal(ls__ts_continuity(got), i);
    assert_int_equal(at_ns, i * 1000000);
  }
  assert_false(ls__ts_reader_next(&reader, got, &at_ns));
  ls__ts_reader_free(&reader);
}

/* An empty file is an empty stream; a file of something else is not. */
static void test_no_packet(void **state) {
  (void)state;
  static const uint8_t noise[1000] = {0};
  for (size_t len = 0; len <= sizeof noise; len += sizeof noise) {
    struct ls__ts_reader reader;
    assert_int_equal(ls__ts_reader_init(&reader, 0), 0);
    assert_int_equal(ls__ts_reader_feed(&reader, noise, len), 0);
    assert_int_equal(ls__ts_reader_end(&reader), len ? LS_EFORMAT : 0);
    ls__ts_reader_free(&reader);
  }
}

/* Without PCRs there is no time: an error at the end, or when too much waits; with a rate both
 * work. */
static void test_without_pcr(void **state) {
  (void)state;
  for (int64_t rate_bps = 0; rate_bps <= 1504000; rate_bps += 1504000) {
    struct ls__ts_reader reader;
    uint8_t packet[LS_TS_SIZE];
    int64_t at_ns;
    int result = 0;
    ls__test_packet(packet, 33, 0, 0);
    assert_int_equal(ls__ts_reader_init(&reader, rate_bps), 0);
    for (unsigned i = 0; i < 10; i++)
      assert_int_equal(ls__ts_reader_feed(&reader, packet, LS_TS_SIZE), 0);
    assert_int_equal(ls__ts_reader_end(&reader), rate_bps ? 0 : LS_EFORMAT);
    for (unsigned i = 0; rate_bps && i < 10; i++) {
      assert_true(ls__ts_reader_next(&reader, packet, &at_ns));
      assert_int_equal(at_ns, i * 1000000);
    }
    ls__ts_reader_free(&reader);
    assert_int_equal(ls__ts_reader_init(&reader, rate_bps), 0);
    unsigned fed = 0;
    for (; result == 0 && fed < LS_PCR_LOOKAHEAD + 10 && ls__ts_reader_hungry(&reader); fed++)
      result = ls__ts_reader_feed(&reader, packet, LS_TS_SIZE);
    assert_int_equal(result, rate_bps ? 0 : LS_EFORMAT);
    assert_in_range(fed, LS_PCR_LOOKAHEAD, LS_PCR_LOOKAHEAD + 1);
    ls__ts_reader_free(&reader);
  }
}

static void test_empty(void **state) {
  (void)state;
  struct ls__ts_reader reader;
  uint8_t packet[LS_TS_SIZE];
  int64_t at_ns;
  assert_int_equal(ls__ts_reader_init(&reader, 0), 0);
  assert_true(ls__ts_reader_hungry(&reader));
  assert_int_equal(ls__ts_reader_feed(&reader, packet, 0), 0);
  assert_int_equal(ls__ts_reader_end(&reader), 0); /* an empty file is no error */
  assert_false(ls__ts_reader_next(&reader, packet, &at_ns));
  ls__ts_reader_free(&reader);
  ls__ts_reader_free(&reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces),    cmocka_unit_test(test_out_of_step),
      cmocka_unit_test(test_no_packet), cmocka_unit_test(test_without_pcr),
      cmocka_unit_test(test_empty),
  };
  return cmocka_run_group_tests_name("flow/ts_reader", tests, NULL, NULL);
}
