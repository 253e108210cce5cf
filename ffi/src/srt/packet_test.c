#include "srt/packet.h"

#include "base/bytes.h"
#include "base/prng.h"
#include "base/seq.h"
#include "lockstep.h"
#include "srt/testing.h"

#include <stdlib.h>

/* Reads the header of captured bytes and writes it again. */
static struct ls__header header_of(const char *hex) {
  uint8_t data[LS_DATAGRAM_MAX], again[LS_HEADER_BYTES];
  struct ls__header header;
  assert_int_equal(ls__header_get(data, ls__test_hex(hex, data), &header), 0);
  ls__header_put(&header, again);
  assert_memory_equal(data, again, LS_HEADER_BYTES);
  return header;
}

static void test_golden_headers(void **state) {
  (void)state;
  struct ls__header data = header_of(LS__TEST_DATA_HEADER);
  assert_false(data.control);
  assert_int_equal(data.seq, 0x42cad04a);
  assert_int_equal(data.msgno, 1);
  assert_int_equal(data.position, 3);
  assert_int_equal(data.key, 1);
  assert_false(data.in_order);
  assert_false(data.retransmitted);
  assert_int_equal(data.stamp_us, 0x1b0d5d);
  assert_int_equal(data.socket_id, 0x0db3b291);

  static const struct {
    const char *hex;
    uint16_t type;
    uint32_t info, stamp_us, socket_id;
  } cases[] = {
      {LS__TEST_INDUCTION_REQUEST, LS__CONTROL_HANDSHAKE, 0, 0x138c85, 0},
      {LS__TEST_INDUCTION_RESPONSE, LS__CONTROL_HANDSHAKE, 0, 0x1f3883, 0x31b9025a},
      {LS__TEST_ACK, LS__CONTROL_ACK, 1, 0x077a0f, 0x31b9025a},
      {LS__TEST_ACKACK, LS__CONTROL_ACKACK, 1, 0x1b129a, 0x0db3b291},
      {LS__TEST_SHUTDOWN, LS__CONTROL_SHUTDOWN, 0, 0x7d5a69, 0x0db3b291},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__header header = header_of(cases[i].hex);
    assert_true(header.control);
    assert_int_equal(header.type, cases[i].type);
    assert_int_equal(header.subtype, 0);
    assert_int_equal(header.info, cases[i].info);
    assert_int_equal(header.stamp_us, cases[i].stamp_us);
    assert_int_equal(header.socket_id, cases[i].socket_id);
  }
}

/* Any four words are a header: what is read is written again, bit for bit. */
static void test_header_round_trip(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (int i = 0; i < 100000; i++) {
    uint8_t data[LS_HEADER_BYTES], again[LS_HEADER_BYTES];
    for (int word = 0; word < 4; word++)
      ls__put32(data + 4 * word, (uint32_t)ls__prng_next(&prng));
    struct ls__header header;
    assert_int_equal(ls__header_get(data, sizeof data, &header), 0);
    assert_int_equal(header.control, data[0] >> 7);
    ls__header_put(&header, again);
    assert_memory_equal(data, again, sizeof data);
  }
  uint8_t data[LS_HEADER_BYTES] = {0};
  struct ls__header header;
  for (size_t len = 0; len < LS_HEADER_BYTES; len++)
    assert_int_equal(ls__header_get(data, len, &header), LS_EFORMAT);
}

static void put_wide_seq(void) {
  uint8_t out[LS_HEADER_BYTES];
  ls__header_put(&(struct ls__header){.seq = LS_SEQ_MASK + 1}, out);
}

static void put_wide_msgno(void) {
  uint8_t out[LS_HEADER_BYTES];
  ls__header_put(&(struct ls__header){.msgno = LS_MSGNO_MAX + 1}, out);
}

static void test_header_refuses(void **state) {
  (void)state;
  assert_true(ls__test_aborts(put_wide_seq));
  assert_true(ls__test_aborts(put_wide_msgno));
}

static void test_golden_ack(void **state) {
  (void)state;
  uint8_t data[64], again[64];
  size_t len = ls__test_hex(LS__TEST_ACK, data);
  assert_int_equal(len, 44);
  struct ls__ack ack;
  assert_int_equal(ls__ack_get(data + LS_HEADER_BYTES, len - LS_HEADER_BYTES, &ack), 0);
  assert_int_equal(ack.words, 7);
  assert_int_equal(ack.seq, 0x42cad04b);
  assert_int_equal(ack.rtt_us, 100000);
  assert_int_equal(ack.rtt_var_us, 50000);
  assert_int_equal(ack.room_packets, 8190);
  assert_int_equal(ack.rate_pps, 2);
  assert_int_equal(ack.capacity_pps, 1000);
  assert_int_equal(ack.rate_bytes_ps, 1541);
  assert_int_equal(ls__ack_put(&ack, again), 28);
  assert_memory_equal(data + LS_HEADER_BYTES, again, 28);
}

/* The length says what is there; what is longer is cut, what is between is the shorter form. */
static void test_ack_lengths(void **state) {
  (void)state;
  uint8_t data[64], again[64];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (uint8_t)(i + 1);
  for (size_t len = 0; len <= 40; len++) {
    uint8_t *exact = malloc(len ? len : 1); /* so that reading past the end is seen */
    assert_non_null(exact);
    memcpy(exact, data, len);
    struct ls__ack ack;
    int result = ls__ack_get(exact, len, &ack);
    free(exact);
    assert_int_equal(result, len < 4 ? LS_EFORMAT : 0);
    if (result < 0)
      continue;
    assert_int_equal(ack.words, len >= 28 ? 7 : len >= 16 ? 4 : 1);
    assert_int_equal(ls__ack_put(&ack, again), 4 * ack.words);
    assert_memory_equal(data, again, 4 * ack.words);
  }
  data[0] = 0x80; /* no sequence number has 32 bits */
  struct ls__ack ack;
  assert_int_equal(ls__ack_get(data, 28, &ack), LS_EFORMAT);
}

static struct ls__nak_reader reader_of(const char *hex, uint8_t *data) {
  size_t len = ls__test_hex(hex, data);
  return (struct ls__nak_reader){.payload = data, .len = len};
}

static void test_nak_table(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    int ranges;           /* before the end, or the error */
    int result;           /* at the end */
    uint32_t first, last; /* of the last good one */
  } cases[] = {
      {"", 0, 0, 0, 0},
      {"58affc38", 1, 0, 0x58affc38, 0x58affc38}, /* libsrt 1.5.5, a group's late link */
      {"80000005 00000009", 1, 0, 5, 9},
      {"80000005 00000005", 1, 0, 5, 5},
      {"00000001 80000005 00000009 0000000b", 3, 0, 11, 11},
      {"ffffffff 00000000", 1, 0, LS_SEQ_MASK, 0}, /* across the wrap */
      {"80000005", 0, LS_EFORMAT, 0, 0},           /* no second word */
      {"80000005 00", 0, LS_EFORMAT, 0, 0},
      {"00000007 000000", 1, LS_EFORMAT, 7, 7},            /* trailing bytes */
      {"00000007 80000005 00000004", 1, LS_EFORMAT, 7, 7}, /* backwards */
      {"80000000 7fffffff", 0, LS_EFORMAT, 0, 0},          /* backwards, the shorter way round */
      {"80000005 80000009", 0, LS_EFORMAT, 0, 0},          /* two first words */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t data[64];
    struct ls__nak_reader reader = reader_of(cases[i].hex, data);
    uint32_t first = 0, last = 0, good_first = 0, good_last = 0;
    int count = 0, result;
    while ((result = ls__nak_next(&reader, &first, &last)) > 0) {
      good_first = first;
      good_last = last;
      count++;
    }
    assert_int_equal(count, cases[i].ranges);
    assert_int_equal(result, cases[i].result);
    assert_int_equal(good_first, cases[i].first);
    assert_int_equal(good_last, cases[i].last);
  }
}

/* Random loss lists, many of them across the wrap, into a packet of random size. */
static void test_nak_round_trip(void **state) {
  (void)state;
  enum { MAX = 400 };
  static struct { uint32_t first, last; } ranges[MAX];
  struct ls__prng prng;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    ls__prng_seed(&prng, seed);
    uint8_t data[LS_PAYLOAD_MAX];
    size_t room = ls__prng_below(&prng, sizeof data + 1), len = 0, used;
    uint32_t at = ls__seq_add(LS_SEQ_MASK, -(int32_t)ls__prng_below(&prng, 2000));
    int count = 0;
    for (; count < MAX; count++, len += used) {
      uint32_t first = ls__seq_add(at, 1 + (int32_t)ls__prng_below(&prng, 9));
      uint32_t last =
          ls__seq_add(first, ls__prng_below(&prng, 2) ? 0 : (int32_t)ls__prng_below(&prng, 99));
      ranges[count].first = first;
      ranges[count].last = at = last;
      used = ls__nak_put(data + len, room - len, first, last);
      if (used == 0) {
        assert_true(room - len < (first == last ? 4 : 8));
        break;
      }
      assert_int_equal(used, first == last ? 4 : 8);
    }
    struct ls__nak_reader reader = {.payload = data, .len = len};
    uint32_t first, last;
    for (int i = 0; i < count; i++) {
      assert_int_equal(ls__nak_next(&reader, &first, &last), 1);
      assert_int_equal(first, ranges[i].first);
      assert_int_equal(last, ranges[i].last);
    }
    assert_int_equal(ls__nak_next(&reader, &first, &last), 0);
  }
}

static void put_backwards(void) {
  uint8_t out[8];
  ls__nak_put(out, sizeof out, 5, 4);
}

static void test_nak_refuses(void **state) {
  (void)state;
  assert_true(ls__test_aborts(put_backwards));
}

static void test_dropreq(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    int result;
    uint32_t first, last;
  } cases[] = {
      {"58affc38 58affc38", 0, 0x58affc38, 0x58affc38}, /* libsrt 1.5.5 */
      {"00000005 00000009 deadbeef", 0, 5, 9},          /* surplus is ignored */
      {"7ffffffe 00000003", 0, 0x7ffffffe, 3},
      {"", LS_EFORMAT, 0, 0},
      {"00000005", LS_EFORMAT, 0, 0},
      {"00000005 000000", LS_EFORMAT, 0, 0},
      {"00000005 00000004", LS_EFORMAT, 0, 0},
      {"80000005 00000009", LS_EFORMAT, 0, 0},
      {"00000005 80000009", LS_EFORMAT, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t data[64];
    uint32_t first, last;
    size_t len = ls__test_hex(cases[i].hex, data);
    assert_int_equal(ls__dropreq_get(data, len, &first, &last), cases[i].result);
    if (cases[i].result == 0) {
      assert_int_equal(first, cases[i].first);
      assert_int_equal(last, cases[i].last);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_headers), cmocka_unit_test(test_header_round_trip),
      cmocka_unit_test(test_header_refuses), cmocka_unit_test(test_golden_ack),
      cmocka_unit_test(test_ack_lengths),    cmocka_unit_test(test_nak_table),
      cmocka_unit_test(test_nak_round_trip), cmocka_unit_test(test_nak_refuses),
      cmocka_unit_test(test_dropreq),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
