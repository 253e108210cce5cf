#include "base/ring.h"

#include "base/prng.h"
#include "base/testing.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* Records with the length, number and pattern that belong to `number`. */
static uint32_t fill(uint8_t *record, uint64_t number, uint32_t max) {
  uint32_t len = 8 + (uint32_t)(number * 2654435761u % (max - 7));
  memcpy(record, &number, sizeof number);
  for (uint32_t i = 8; i < len; i++)
    record[i] = (uint8_t)(number + i);
  return len;
}

static void test_records(void **state) {
  (void)state;
  struct ls__ring ring;
  assert_int_equal(ls__ring_init(&ring, 64), 0);
  char record[64];
  assert_true(ls__ring_empty(&ring));
  assert_int_equal(ls__ring_read(&ring, record, sizeof record), 0);
  assert_true(ls__ring_write(&ring, "one", 4));
  assert_true(ls__ring_write(&ring, "twenty", 7));
  assert_false(ls__ring_empty(&ring));
  assert_int_equal(ls__ring_space(&ring), 64 - 8 - 11);
  assert_int_equal(ls__ring_read(&ring, record, sizeof record), 4);
  assert_string_equal(record, "one");
  assert_int_equal(ls__ring_read(&ring, record, 7), 7);
  assert_string_equal(record, "twenty");
  assert_true(ls__ring_empty(&ring));
  assert_int_equal(ls__ring_space(&ring), 64);
  ls__ring_free(&ring);
}

static void test_full(void **state) {
  (void)state;
  struct ls__ring ring;
  uint8_t record[64] = {0};
  assert_int_equal(ls__ring_init(&ring, 64), 0);
  assert_false(ls__ring_write(&ring, record, 61));
  assert_true(ls__ring_write(&ring, record, 60)); /* to the last byte */
  assert_int_equal(ls__ring_space(&ring), 0);
  assert_false(ls__ring_write(&ring, record, 1));
  assert_int_equal(ring.refused, 2);
  assert_int_equal(ls__ring_read(&ring, record, sizeof record), 60);
  assert_true(ls__ring_write(&ring, record, 56));
  assert_false(ls__ring_write(&ring, record, 1)); /* four bytes are left: a length, no record */
  assert_int_equal(ring.refused, 3);
  ls__ring_free(&ring);
}

/* Every place in the ring is passed by the seam of a record. */
static void test_wrap(void **state) {
  (void)state;
  struct ls__ring ring;
  uint8_t written[60], record[60];
  assert_int_equal(ls__ring_init(&ring, 64), 0);
  for (uint64_t number = 0; number < 5000; number++) {
    uint32_t len = fill(written, number, 60);
    assert_true(ls__ring_write(&ring, written, len));
    assert_int_equal(ls__ring_read(&ring, record, sizeof record), len);
    assert_memory_equal(record, written, len);
  }
  assert_int_equal(ring.refused, 0);
  ls__ring_free(&ring);
}

/* Random filling and emptying: what is read is what was written and was not refused. */
static void test_random(void **state) {
  (void)state;
  struct ls__ring ring;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  assert_int_equal(ls__ring_init(&ring, 1024), 0);
  uint8_t written[100], record[100];
  uint64_t next_in = 0, next_out = 0, refused = 0;
  uint32_t used = 0;
  for (int step = 0; step < 100000; step++) {
    if (ls__prng_below(&prng, 100) < (step / 1000 % 2 ? 60u : 40u)) {
      uint32_t len = fill(written, next_in, sizeof written);
      bool fits = used + 4 + len <= 1024;
      assert_int_equal(ls__ring_write(&ring, written, len), fits);
      refused += !fits;
      next_in += fits;
      used += fits ? 4 + len : 0;
    } else {
      uint32_t len = ls__ring_read(&ring, record, sizeof record);
      assert_int_equal(len != 0, next_out < next_in);
      if (len) {
        assert_int_equal(len, fill(written, next_out++, sizeof written));
        assert_memory_equal(record, written, len);
        used -= 4 + len;
      }
    }
    assert_int_equal(ls__ring_space(&ring), 1024 - used);
  }
  assert_true(refused > 0);
  assert_int_equal(ring.refused, refused);
  ls__ring_free(&ring);
}

enum { SENT = 200000 };

static void *write_all(void *argument) {
  struct ls__ring *ring = argument;
  uint8_t record[90];
  for (uint64_t number = 0; number < SENT; number++) {
    uint32_t len = fill(record, number, sizeof record);
    while (!ls__ring_write(ring, record, len))
      sched_yield();
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  struct ls__ring ring;
  assert_int_equal(ls__ring_init(&ring, 512), 0);
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, write_all, &ring), 0);
  uint8_t record[90], expected[90];
  for (uint64_t number = 0; number < SENT;) {
    uint32_t len = ls__ring_read(&ring, record, sizeof record);
    if (!len) {
      sched_yield();
      continue;
    }
    assert_int_equal(len, fill(expected, number++, sizeof expected));
    assert_memory_equal(record, expected, len);
  }
  assert_int_equal(pthread_join(writer, NULL), 0);
  assert_true(ls__ring_empty(&ring));
  ls__ring_free(&ring);
}

static void read_into_too_little(void) {
  struct ls__ring ring;
  char record[4];
  ls__ring_init(&ring, 64);
  ls__ring_write(&ring, "12345", 5);
  ls__ring_read(&ring, record, sizeof record);
}

static void init_odd_size(void) {
  struct ls__ring ring;
  ls__ring_init(&ring, 96);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(read_into_too_little));
  assert_true(ls__test_aborts(init_odd_size));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_records), cmocka_unit_test(test_full),
      cmocka_unit_test(test_wrap),    cmocka_unit_test(test_random),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
