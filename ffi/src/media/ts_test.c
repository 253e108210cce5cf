#include "media/ts.h"

#include "base/prng.h"
#include "media/testing.h"

/* The first bytes of packets that ffmpeg 5.1.9 has muxed, with what ffprobe says of them. */
static const struct {
  const char *what;
  uint8_t bytes[32];
  uint16_t pid;
  bool unit_start, has_payload;
  uint8_t continuity, adaptation_len, payload_offset;
  int64_t pcr, pts, dts; /* -1: none */
} golden[] = {
    {"programme association table",
     {0x47, 0x40, 0x00, 0x10, 0x00, 0x00, 0xB0, 0x0D, 0x00, 0x01, 0xC1, 0x00,
      0x00, 0x00, 0x01, 0xF0, 0x00, 0x2A, 0xB1, 0x04, 0xB2, 0xFF, 0xFF},
     0x0000,
     true,
     true,
     0,
     0,
     4,
     -1,
     -1,
     -1},
    {"PCR alone",
     {0x47, 0x01, 0x00, 0x2F, 0xB7, 0x10, 0x00, 0x00, 0x7C, 0x2B, 0xFE, 0x00, 0xFF},
     0x0100,
     false,
     false,
     15,
     183,
     188,
     63575 * 300,
     -1,
     -1},
    {"PCR and a video PTS",
     {0x47, 0x41, 0x00, 0x30, 0x07, 0x50, 0x00, 0x00, 0x7F, 0x1B, 0xFE,
      0x00, 0x00, 0x00, 0x01, 0xE0, 0x00, 0x00, 0x80, 0x80, 0x05, 0x21,
      0x00, 0x07, 0xE7, 0x61, 0x00, 0x00, 0x00, 0x01, 0x09, 0xF0},
     0x0100,
     true,
     true,
     0,
     7,
     12,
     65079 * 300,
     127920,
     -1},
    {"PCR, PTS and DTS",
     {0x47, 0x41, 0x00, 0x30, 0x07, 0x50, 0x00, 0x00, 0x7B, 0x0C, 0x7E,
      0x00, 0x00, 0x00, 0x01, 0xE0, 0x00, 0x00, 0x80, 0xC0, 0x0A, 0x31,
      0x00, 0x09, 0x10, 0xA1, 0x11, 0x00, 0x07, 0xD8, 0x61, 0x00},
     0x0100,
     true,
     true,
     0,
     7,
     12,
     63000 * 300,
     133200,
     126000},
    {"PTS and DTS without PCR",
     {0x47, 0x41, 0x00, 0x1B, 0x00, 0x00, 0x01, 0xE0, 0x00, 0x00, 0x80, 0xC0, 0x0A, 0x31, 0x00,
      0x09, 0x65, 0x01, 0x11, 0x00, 0x07, 0xF4, 0x81, 0x00, 0x00, 0x00, 0x01, 0x09, 0xF0, 0x00},
     0x0100,
     true,
     true,
     11,
     0,
     4,
     -1,
     144000,
     129600},
    {"audio PTS behind an adaptation field",
     {0x47, 0x41, 0x01, 0x30, 0x01, 0x40, 0x00, 0x00, 0x01, 0xC0, 0x00, 0xC3,
      0x80, 0x80, 0x05, 0x21, 0x00, 0x07, 0xD8, 0x61, 0xFF, 0xF1, 0x4C, 0x40},
     0x0101,
     true,
     true,
     0,
     1,
     6,
     -1,
     126000,
     -1},
};

static void test_golden(void **state) {
  (void)state;
  for (unsigned i = 0; i < sizeof golden / sizeof *golden; i++) {
    uint8_t packet[LS_TS_SIZE] = {0};
    memcpy(packet, golden[i].bytes, sizeof golden[i].bytes);
    print_message("  %s\n", golden[i].what);
    assert_true(ls__ts_synced(packet));
    assert_int_equal(ls__ts_pid(packet), golden[i].pid);
    assert_int_equal(ls__ts_unit_start(packet), golden[i].unit_start);
    assert_int_equal(ls__ts_has_payload(packet), golden[i].has_payload);
    assert_int_equal(ls__ts_continuity(packet), golden[i].continuity);
    assert_int_equal(ls__ts_adaptation_len(packet), golden[i].adaptation_len);
    assert_int_equal(ls__ts_payload_offset(packet), golden[i].payload_offset);
    assert_false(ls__ts_scrambled(packet));
    assert_false(ls__ts_discontinuity(packet));

    uint8_t copy[LS_TS_SIZE];
    memcpy(copy, packet, sizeof copy);
    int64_t pcr = -1;
    assert_int_equal(ls__ts_pcr_get(packet, &pcr), golden[i].pcr >= 0);
    assert_int_equal(pcr, golden[i].pcr);
    assert_int_equal(ls__ts_pcr_put(packet, pcr < 0 ? 0 : pcr), golden[i].pcr >= 0);
    struct ls__ts_stamps stamps = {.pts = -1};
    assert_int_equal(ls__ts_stamps_get(packet, &stamps), golden[i].pts >= 0);
    assert_int_equal(stamps.pts, golden[i].pts);
    if (golden[i].pts >= 0) {
      assert_int_equal(stamps.dts_at ? stamps.dts : -1, golden[i].dts);
      ls__ts_stamps_put(packet, &stamps);
    }
    /* What was read, written again, is the same bytes. */
    assert_memory_equal(packet, copy, LS_TS_SIZE);
  }
}

/* A PCR by hand: base 2^33 - 1 and extension 299 fill all bits but the top one of the extension. */
static void test_pcr_bytes(void **state) {
  (void)state;
  uint8_t packet[LS_TS_SIZE];
  ls__test_packet(packet, 33, 0, 0);
  ls__test_pcr(packet, LS_PCR_WRAP - 1, false);
  static const uint8_t most[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x2B};
  assert_memory_equal(packet + 6, most, sizeof most);
  ls__test_pcr(packet, INT64_C(0x123456789) * 300 + 1, false);
  static const uint8_t some[] = {0x91, 0xA2, 0xB3, 0xC4, 0xFE, 0x01};
  assert_memory_equal(packet + 6, some, sizeof some);
  /* An extension of 300 is no PCR. */
  packet[10] |= 1;
  packet[11] = 300 - 256;
  int64_t pcr;
  assert_false(ls__ts_pcr_get(packet, &pcr));
}

/* Every value of the circle comes back, and nothing but its own bits is touched. */
static void test_round_trips(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (unsigned i = 0; i < 100000; i++) {
    uint8_t packet[LS_TS_SIZE];
    ls__test_packet(packet, 0x100, 3, 0xA5);
    bool with_pcr = i & 1, with_dts = i & 2;
    int64_t pcr = i < 4 ? LS_PCR_WRAP - 1 : (int64_t)ls__prng_below(&prng, LS_PCR_WRAP);
    int64_t pts = i < 4 ? LS_STAMP_WRAP - 1 : (int64_t)ls__prng_below(&prng, LS_STAMP_WRAP);
    int64_t dts = (int64_t)ls__prng_below(&prng, LS_STAMP_WRAP);
    if (with_pcr)
      ls__test_pcr(packet, 0, i & 4);
    ls__test_pes(packet, 0xE0, 0, with_dts ? 0 : -1);
    uint8_t before[LS_TS_SIZE];
    memcpy(before, packet, sizeof before);

    struct ls__ts_stamps stamps;
    assert_int_equal(ls__ts_pcr_put(packet, pcr), with_pcr);
    assert_true(ls__ts_stamps_get(packet, &stamps));
    stamps.pts = pts;
    stamps.dts = with_dts ? dts : 0;
    ls__ts_stamps_put(packet, &stamps);

    int64_t pcr_back = pcr;
    struct ls__ts_stamps back;
    assert_int_equal(ls__ts_pcr_get(packet, &pcr_back), with_pcr);
    assert_true(ls__ts_stamps_get(packet, &back));
    assert_int_equal(pcr_back, pcr);
    assert_int_equal(back.pts, pts);
    assert_int_equal(back.dts, with_dts ? dts : 0);
    assert_int_equal(ls__ts_discontinuity(packet), with_pcr && (i & 4));

    ls__ts_pcr_put(packet, 0);
    back.pts = back.dts = 0;
    ls__ts_stamps_put(packet, &back);
    assert_memory_equal(packet, before, LS_TS_SIZE);
  }
}

/* Lengths that point outside, headers that end early, what must not be read. */
static void test_refused(void **state) {
  (void)state;
  uint8_t packet[LS_TS_SIZE];
  struct ls__ts_stamps stamps;
  int64_t pcr;

  ls__test_packet(packet, 0x100, 0, 0);
  ls__test_pcr(packet, 5, true);
  packet[5] = 0xEF; /* all flags but the PCR's */
  assert_false(ls__ts_pcr_get(packet, &pcr));
  assert_false(ls__ts_pcr_put(packet, 1));
  packet[5] = 0x90;
  packet[4] = 6; /* one byte short of a PCR */
  assert_false(ls__ts_pcr_get(packet, &pcr));
  packet[4] = 184; /* leaves the packet */
  assert_int_equal(ls__ts_adaptation_len(packet), 0);
  assert_int_equal(ls__ts_payload_offset(packet), LS_TS_SIZE);
  assert_false(ls__ts_discontinuity(packet));
  assert_false(ls__ts_pcr_get(packet, &pcr));
  packet[4] = 183; /* fills it: no room for the payload that the header announces */
  assert_int_equal(ls__ts_adaptation_len(packet), 183);
  assert_int_equal(ls__ts_payload_offset(packet), LS_TS_SIZE);
  assert_true(ls__ts_discontinuity(packet));
  ls__ts_clear_discontinuity(packet);
  assert_false(ls__ts_discontinuity(packet));
  assert_true(ls__ts_pcr_get(packet, &pcr));
  assert_int_equal(pcr, 5);

  for (unsigned room = 0; room < 40; room++) {
    /* A PES header at the end of the packet: it needs 14 bytes for a PTS, 19 with a DTS. */
    ls__test_packet(packet, 0x100, 0, 0);
    packet[1] |= 0x40;
    packet[3] |= 0x20;
    packet[4] = (uint8_t)(183 - room);
    const uint8_t pes[] = {0, 0, 1, 0xE0, 0, 0, 0x80, 0xC0, 10, 0x31};
    memcpy(packet + 188 - room, pes, room < sizeof pes ? room : sizeof pes);
    assert_int_equal(ls__ts_stamps_get(packet, &stamps), room >= 19);
    if (room >= 12) {
      packet[188 - room + 7] = 0x80;
      assert_int_equal(ls__ts_stamps_get(packet, &stamps), room >= 14);
    }
  }

  ls__test_packet(packet, 0x100, 0, 0);
  ls__test_pes(packet, 0xE0, 1, 2);
  static const struct {
    uint8_t at, value;
  } spoilt[] = {
      {1, 0x01},  /* no unit start */
      {3, 0x90},  /* scrambled */
      {3, 0x00},  /* no payload */
      {4, 0x01},  /* no start code prefix */
      {5, 0x01},  /* nor here */
      {6, 0x02},  /* nor here */
      {7, 0xBE},  /* padding_stream has no stamps */
      {7, 0xBF},  /* private_stream_2 neither */
      {10, 0x40}, /* not '10': MPEG-1 */
      {11, 0x40}, /* DTS without PTS is forbidden */
      {11, 0x00}, /* no stamps */
      {12, 9},    /* header ends inside the DTS */
  };
  for (unsigned i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
    uint8_t copy[LS_TS_SIZE];
    memcpy(copy, packet, sizeof copy);
    assert_true(ls__ts_stamps_get(copy, &stamps));
    copy[spoilt[i].at] = spoilt[i].value;
    assert_false(ls__ts_stamps_get(copy, &stamps));
  }
}

/* Any 188 bytes, in a block of exactly that size for the address sanitizer. */
static void test_any_bytes(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 2);
  uint8_t *packet = test_malloc(LS_TS_SIZE);
  unsigned pcrs = 0, stamped = 0;
  for (unsigned round = 0; round < 200000; round++) {
    for (unsigned i = 0; i < LS_TS_SIZE; i++)
      packet[i] = (uint8_t)ls__prng_next(&prng);
    if (round & 1) {
      /* Bring a PES header near, so that the deep paths are walked too. */
      packet[1] |= 0x40;
      packet[3] = (uint8_t)(0x10 | (packet[3] & 0x20));
      uint8_t at = ls__ts_payload_offset(packet);
      if (at <= LS_TS_SIZE - 9)
        memcpy(packet + at, (uint8_t[]){0, 0, 1, 0xE0, 0, 0, 0x80, 0xC0}, 8);
    }
    assert_in_range(ls__ts_payload_offset(packet), 4, LS_TS_SIZE);
    assert_in_range(ls__ts_adaptation_len(packet), 0, 183);
    int64_t pcr;
    if (ls__ts_pcr_get(packet, &pcr)) {
      assert_in_range(pcr, 0, LS_PCR_WRAP - 1);
      assert_true(ls__ts_pcr_put(packet, pcr));
      pcrs++;
    }
    struct ls__ts_stamps stamps;
    if (ls__ts_stamps_get(packet, &stamps)) {
      assert_in_range(stamps.pts, 0, LS_STAMP_WRAP - 1);
      assert_in_range(stamps.dts, 0, LS_STAMP_WRAP - 1);
      assert_in_range(stamps.pts_at, 13, LS_TS_SIZE - 5);
      ls__ts_stamps_put(packet, &stamps);
      stamped++;
    }
    ls__ts_clear_discontinuity(packet);
    assert_false(ls__ts_discontinuity(packet));
  }
  assert_true(pcrs > 1000 && stamped > 1000);
  test_free(packet);
}

static void test_continuity(void **state) {
  (void)state;
  uint8_t packet[LS_TS_SIZE];
  ls__test_packet(packet, 0x1ABC, 0, 0);
  packet[3] = 0xB0;
  for (unsigned i = 0; i < 40; i++) {
    ls__ts_set_continuity(packet, (uint8_t)i);
    assert_int_equal(ls__ts_continuity(packet), i % 16);
    assert_int_equal(packet[3] & 0xF0, 0xB0);
  }
}

static void test_null_packet(void **state) {
  (void)state;
  /* As ffmpeg writes it with -muxrate. */
  static const uint8_t head[] = {0x47, 0x1F, 0xFF, 0x10, 0xFF, 0xFF};
  uint8_t packet[LS_TS_SIZE] = {0};
  ls__ts_null(packet);
  assert_memory_equal(packet, head, sizeof head);
  for (unsigned i = 4; i < LS_TS_SIZE; i++)
    assert_int_equal(packet[i], 0xFF);
  assert_int_equal(ls__ts_pid(packet), LS_TS_PID_NULL);
}

static void test_find_sync(void **state) {
  (void)state;
  enum { PACKETS = 8, MOST = 400 };
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  static uint8_t bytes[MOST + PACKETS * LS_TS_SIZE];
  for (unsigned junk = 0; junk < MOST; junk++) {
    /* Junk full of sync bytes that lead nowhere, since the packets hold none but their own. */
    for (unsigned i = 0; i < sizeof bytes; i++)
      bytes[i] = i < junk && ls__prng_below(&prng, 2) ? LS_TS_SYNC : 0x11;
    for (unsigned i = 0; i < PACKETS; i++)
      bytes[junk + i * LS_TS_SIZE] = LS_TS_SYNC;
    /* A byte at the packets' own distance would be a packet. */
    for (unsigned i = junk; i >= LS_TS_SIZE;)
      bytes[i -= LS_TS_SIZE] = 0x11;
    assert_int_equal(ls__ts_find_sync(bytes, junk + PACKETS * LS_TS_SIZE), junk);
    /* The last packet alone is believed when whole. */
    assert_int_equal(ls__ts_find_sync(bytes + junk, LS_TS_SIZE), 0);
    assert_int_equal(ls__ts_find_sync(bytes + junk, LS_TS_SIZE - 1), LS_TS_SIZE - 1);
  }
  assert_int_equal(ls__ts_find_sync(bytes, 0), 0);
}

/* The circles against plain arithmetic, at every distance around the wrap and at random. */
static void test_circles(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 4);
  const int64_t edges[] = {
      0, 1, 2, LS_STAMP_WRAP / 2 - 1, LS_STAMP_WRAP / 2, LS_STAMP_WRAP - 2, LS_STAMP_WRAP - 1};
  for (unsigned i = 0; i < 200000; i++) {
    int64_t a = i < 49 ? edges[i % 7] : (int64_t)ls__prng_below(&prng, LS_STAMP_WRAP);
    int64_t b = i < 49 ? edges[i / 7] : (int64_t)ls__prng_below(&prng, LS_STAMP_WRAP);
    int64_t d = ls__stamp_diff(a, b);
    assert_true(d >= -LS_STAMP_WRAP / 2 && d < LS_STAMP_WRAP / 2);
    assert_int_equal(ls__stamp_add(b, d), a);
    /* Any number of whole turns changes nothing. */
    int64_t turns = (int64_t)ls__prng_below(&prng, 1000) - 500;
    assert_int_equal(ls__stamp_add(b, d + turns * LS_STAMP_WRAP), a);

    int64_t p = a * 300 + (int64_t)ls__prng_below(&prng, 300);
    int64_t q = b * 300 + (int64_t)ls__prng_below(&prng, 300);
    d = ls__pcr_diff(p, q);
    assert_true(d >= -LS_PCR_WRAP / 2 && d < LS_PCR_WRAP / 2);
    assert_int_equal(ls__pcr_add(q, d), p);
    assert_int_equal(ls__pcr_add(q, d + turns * LS_PCR_WRAP), p);
  }
  assert_int_equal(ls__pcr_diff(1, LS_PCR_WRAP - 1), 2);
  assert_int_equal(ls__pcr_diff(LS_PCR_WRAP - 1, 1), -2);
  assert_int_equal(ls__stamp_add(LS_STAMP_WRAP - 1, 1), 0);
  assert_int_equal(ls__stamp_add(0, -1), LS_STAMP_WRAP - 1);
}

static void put_pcr_beyond(void) {
  uint8_t packet[LS_TS_SIZE] = {0};
  ls__ts_pcr_put(packet, LS_PCR_WRAP);
}

static void put_stamp_beyond(void) {
  uint8_t packet[LS_TS_SIZE] = {0};
  ls__ts_stamps_put(packet, &(struct ls__ts_stamps){.pts = LS_STAMP_WRAP, .pts_at = 13});
}

static void put_stamp_outside(void) {
  uint8_t packet[LS_TS_SIZE] = {0};
  ls__ts_stamps_put(packet, &(struct ls__ts_stamps){.pts_at = LS_TS_SIZE - 4});
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(put_pcr_beyond));
  assert_true(ls__test_aborts(put_stamp_beyond));
  assert_true(ls__test_aborts(put_stamp_outside));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),      cmocka_unit_test(test_pcr_bytes),
      cmocka_unit_test(test_round_trips), cmocka_unit_test(test_refused),
      cmocka_unit_test(test_any_bytes),   cmocka_unit_test(test_continuity),
      cmocka_unit_test(test_null_packet), cmocka_unit_test(test_find_sync),
      cmocka_unit_test(test_circles),     cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
