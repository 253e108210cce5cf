#include "stream/recvbuf.h"

#include "base/prng.h"
#include "base/seq.h"
#include "base/testing.h"

#include <string.h>

#define ISN (LS_SEQ_MASK - 30)

static struct ls__recvbuf buf;

static int set_up(void **state) {
  (void)state;
  int result = ls__recvbuf_init(&buf, 64);
  ls__recvbuf_reset(&buf, ISN);
  return result;
}

static int tear_down(void **state) {
  (void)state;
  ls__recvbuf_free(&buf);
  return 0;
}

static uint32_t seq_at(int32_t offset) {
  return ls__seq_add(ISN, offset);
}

static enum ls__recv_verdict insert(int32_t at) {
  uint8_t payload[LS_PAYLOAD_MAX];
  size_t len = 1 + (size_t)(at & 0x7fffffff) * 37 % LS_PAYLOAD_MAX;
  memset(payload, at, len);
  return ls__recvbuf_insert(&buf, seq_at(at), at, payload, len);
}

static void test_order(void **state) {
  (void)state;
  assert_null(ls__recvbuf_oldest(&buf));
  assert_null(ls__recvbuf_newest(&buf));
  assert_int_equal(insert(5), LS__RECV_NEW);
  assert_int_equal(insert(5), LS__RECV_KNOWN);
  assert_int_equal(insert(2), LS__RECV_NEW);
  assert_int_equal(ls__recvbuf_oldest(&buf)->seq, seq_at(2));
  assert_int_equal(ls__recvbuf_newest(&buf)->seq, seq_at(5));
  assert_int_equal(ls__recvbuf_pop(&buf), 2); /* 0 and 1 are skipped */
  assert_int_equal(insert(1), LS__RECV_LATE);
  assert_int_equal(insert(2), LS__RECV_LATE);
  assert_int_equal(insert(3), LS__RECV_NEW);
  assert_int_equal(ls__recvbuf_pop(&buf), 0);
  assert_int_equal(ls__recvbuf_pop(&buf), 1);
  assert_null(ls__recvbuf_oldest(&buf));
  assert_int_equal(buf.first, seq_at(6));
}

static void test_room(void **state) {
  (void)state;
  assert_int_equal(insert(64), LS__RECV_NO_ROOM);
  assert_int_equal(insert(63), LS__RECV_NEW);
  assert_int_equal(insert(0x3fffffff), LS__RECV_NO_ROOM);
  assert_int_equal(insert(-1), LS__RECV_LATE);
  assert_int_equal(insert(-0x3fffffff), LS__RECV_LATE);
  assert_int_equal(ls__recvbuf_pop(&buf), 63);
  assert_int_equal(insert(127), LS__RECV_NEW);
  assert_int_equal(insert(128), LS__RECV_NO_ROOM);
}

static void pop_empty(void) {
  ls__recvbuf_pop(&buf);
}

static void insert_nothing(void) {
  uint8_t payload[1] = {0};
  ls__recvbuf_insert(&buf, ISN, 0, payload, 0);
}

static void test_misuse(void **state) {
  (void)state;
  assert_true(ls__test_aborts(pop_empty));
  assert_true(ls__test_aborts(insert_nothing));
}

/* Random arrivals and reading against an array. */
static void test_model(void **state) {
  (void)state;
  enum { SPAN = 2000 };
  static bool here[SPAN];
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    memset(here, 0, sizeof here);
    ls__recvbuf_reset(&buf, ISN);
    int32_t first = 0, end = 0;
    while (first < SPAN - 200) {
      int32_t at = first - 5 + (int32_t)ls__prng_below(&prng, 80);
      enum ls__recv_verdict expected = at < first         ? LS__RECV_LATE
                                       : at >= first + 64 ? LS__RECV_NO_ROOM
                                       : here[at]         ? LS__RECV_KNOWN
                                                          : LS__RECV_NEW;
      assert_int_equal(insert(at), expected);
      if (expected == LS__RECV_NEW) {
        here[at] = true;
        end = at >= end ? at + 1 : end;
      }
      int32_t oldest = first;
      while (oldest < end && !here[oldest])
        oldest++;
      const struct ls__recv_slot *slot = ls__recvbuf_oldest(&buf);
      assert_int_equal(slot != NULL, oldest < end);
      if (!slot)
        continue;
      assert_int_equal(slot->seq, seq_at(oldest));
      assert_int_equal(slot->stamp_us, oldest);
      assert_int_equal(slot->len, 1 + oldest * 37 % LS_PAYLOAD_MAX);
      assert_int_equal(ls__recvbuf_payload(&buf, slot)[slot->len - 1], (uint8_t)oldest);
      assert_int_equal(ls__recvbuf_newest(&buf)->seq, seq_at(end - 1));
      if (ls__prng_below(&prng, 2)) {
        assert_int_equal(ls__recvbuf_pop(&buf), oldest - first);
        first = oldest + 1;
      }
    }
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_order),
      TEST(test_room),
      TEST(test_misuse),
      TEST(test_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
