#include "stream/sendbuf.h"

#include "base/prng.h"
#include "base/seq.h"
#include "base/testing.h"
#include "base/time.h"
#include "lockstep.h"

#include <string.h>

static struct ls__sendbuf buf;

static int set_up(void **state) {
  (void)state;
  return ls__sendbuf_init(&buf, 64);
}

static int tear_down(void **state) {
  (void)state;
  ls__sendbuf_free(&buf);
  return 0;
}

static int push(int64_t source_ns, size_t len) {
  uint8_t payload[LS_PAYLOAD_MAX];
  memset(payload, (int)source_ns, len);
  struct ls__send_slot slot = {.source_ns = source_ns, .msgno = (uint32_t)source_ns};
  return ls__sendbuf_push(&buf, payload, len, &slot);
}

static void test_limits(void **state) {
  (void)state;
  ls__sendbuf_reset(&buf, LS_SEQ_MASK - 10);
  assert_int_equal(ls__sendbuf_count(&buf), 0);
  assert_null(ls__sendbuf_slot(&buf, LS_SEQ_MASK - 10));
  for (int i = 0; i < 64; i++)
    assert_int_equal(push(i, i % 2 ? LS_PAYLOAD_MAX : 1), 0);
  assert_int_equal(push(64, 1), LS_ELIMIT);
  assert_int_equal(ls__sendbuf_count(&buf), 64);
  assert_int_equal(ls__sendbuf_slot(&buf, LS_SEQ_MASK - 9)->len, LS_PAYLOAD_MAX);
  ls__sendbuf_release(&buf, LS_SEQ_MASK - 9);
  assert_int_equal(push(64, 1), 0);
  assert_null(ls__sendbuf_slot(&buf, LS_SEQ_MASK - 10));
  assert_int_equal(ls__sendbuf_slot(&buf, 53)->msgno, 64);
  /* Never back, and never beyond the end. */
  ls__sendbuf_release(&buf, LS_SEQ_MASK - 10);
  assert_int_equal(ls__sendbuf_count(&buf), 64);
  ls__sendbuf_release(&buf, 2000);
  assert_int_equal(ls__sendbuf_count(&buf), 0);
  assert_int_equal(buf.end, 54);
}

static void push_nothing(void) {
  push(1, 0);
}

static void push_too_much(void) {
  uint8_t payload[LS_PAYLOAD_MAX + 1] = {0};
  ls__sendbuf_push(&buf, payload, sizeof payload, &(struct ls__send_slot){0});
}

static void init_odd(void) {
  struct ls__sendbuf odd;
  ls__sendbuf_init(&odd, 65);
}

static void test_misuse(void **state) {
  (void)state;
  assert_true(ls__test_aborts(push_nothing));
  assert_true(ls__test_aborts(push_too_much));
  assert_true(ls__test_aborts(init_odd));
}

static void test_first_after(void **state) {
  (void)state;
  ls__sendbuf_reset(&buf, LS_SEQ_MASK - 2);
  assert_int_equal(ls__sendbuf_first_after(&buf, LS_NEVER), LS_SEQ_MASK - 2);
  for (int i = 0; i < 6; i++)
    push(10 * i, 8);
  assert_int_equal(ls__sendbuf_first_after(&buf, -1), LS_SEQ_MASK - 2);
  assert_int_equal(ls__sendbuf_first_after(&buf, 0), LS_SEQ_MASK - 1);
  assert_int_equal(ls__sendbuf_first_after(&buf, 29), 0);
  assert_int_equal(ls__sendbuf_first_after(&buf, 30), 1);
  assert_int_equal(ls__sendbuf_first_after(&buf, LS_NEVER), buf.end);
}

/* Random pushes and releases: what is held is held whole, the rest is not. */
static void test_model(void **state) {
  (void)state;
  struct ls__prng prng;
  for (uint64_t seed = 0; seed < 30; seed++) {
    ls__prng_seed(&prng, seed);
    uint32_t isn = ls__seq_add(LS_SEQ_MASK, -(int32_t)ls__prng_below(&prng, 500));
    ls__sendbuf_reset(&buf, isn);
    int32_t first = 0, end = 0;
    while (end < 1000) {
      if (ls__prng_below(&prng, 3)) {
        int result = push(end + 1, 1 + (size_t)(end * 37 % LS_PAYLOAD_MAX));
        assert_int_equal(result, end - first == 64 ? LS_ELIMIT : 0);
        end += result == 0;
      } else {
        int32_t floor = first - 3 + (int32_t)ls__prng_below(&prng, 20);
        ls__sendbuf_release(&buf, ls__seq_add(isn, floor));
        first = floor > end ? end : floor > first ? floor : first;
      }
      assert_int_equal(ls__sendbuf_count(&buf), end - first);
      for (int32_t i = first - 3; i < end + 3; i++) {
        uint32_t seq = ls__seq_add(isn, i);
        const struct ls__send_slot *slot = ls__sendbuf_slot(&buf, seq);
        assert_int_equal(slot != NULL, i >= first && i < end);
        if (!slot)
          continue;
        assert_int_equal(slot->msgno, i + 1);
        assert_int_equal(slot->len, 1 + i * 37 % LS_PAYLOAD_MAX);
        const uint8_t *payload = ls__sendbuf_payload(&buf, seq);
        assert_int_equal(payload[0], (uint8_t)(i + 1));
        assert_int_equal(payload[slot->len - 1], (uint8_t)(i + 1));
      }
    }
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_limits),
      TEST(test_misuse),
      TEST(test_first_after),
      TEST(test_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
