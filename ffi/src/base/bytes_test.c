#include "base/bytes.h"

#include "base/prng.h"
#include "base/testing.h"

#include <string.h>

static void test_golden_bytes(void **state) {
  (void)state;
  static const uint8_t bytes[] = {0x80, 0x01, 0xFE, 0x7F, 0x00, 0xAB, 0xCD, 0xFF, 0x11};
  assert_int_equal(ls__get16(bytes), 0x8001);
  assert_int_equal(ls__get16(bytes + 1), 0x01FE); /* any alignment */
  assert_int_equal(ls__get32(bytes), 0x8001FE7F);
  assert_int_equal(ls__get32(bytes + 3), 0x7F00ABCD);
  assert_true(ls__get64(bytes) == UINT64_C(0x8001FE7F00ABCDFF));
  assert_true(ls__get64(bytes + 1) == UINT64_C(0x01FE7F00ABCDFF11));
  uint8_t out[9] = {0};
  ls__put16(out + 1, 0x8001);
  assert_memory_equal(out + 1, bytes, 2);
  ls__put32(out + 1, 0x8001FE7F);
  assert_memory_equal(out + 1, bytes, 4);
  ls__put64(out + 1, UINT64_C(0x8001FE7F00ABCDFF));
  assert_memory_equal(out + 1, bytes, 8);
  assert_int_equal(out[0], 0);
}

/* What is put is got back, and no byte beside it is touched. */
static void test_round_trip(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (int i = 0; i < 10000; i++) {
    uint64_t value = ls__prng_next(&prng);
    unsigned at = (unsigned)ls__prng_below(&prng, 8);
    uint8_t bytes[24], before[24];
    for (unsigned j = 0; j < sizeof bytes; j++)
      before[j] = bytes[j] = (uint8_t)ls__prng_next(&prng);
    ls__put64(bytes + at, value);
    assert_true(ls__get64(bytes + at) == value);
    assert_memory_equal(bytes + at + 8, before + at + 8, sizeof bytes - at - 8);
    ls__put32(bytes + at, (uint32_t)~value);
    assert_int_equal(ls__get32(bytes + at), (uint32_t)~value);
    assert_int_equal(ls__get32(bytes + at + 4), (uint32_t)value);
    ls__put16(bytes + at + 2, (uint16_t)value);
    assert_int_equal(ls__get16(bytes + at + 2), (uint16_t)value);
    assert_int_equal(ls__get16(bytes + at), (uint16_t)(~value >> 16 & 0xFFFF));
    assert_memory_equal(bytes, before, at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden_bytes),
      cmocka_unit_test(test_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
