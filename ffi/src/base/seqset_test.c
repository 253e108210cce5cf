#include "base/seqset.h"

#include "base/prng.h"
#include "base/seq.h"
#include "base/testing.h"

#include <string.h>
#include <time.h>

enum { CAPACITY = 256 };

/* The reference model: one flag for each offset from the base. */
struct model {
  struct ls__seqset set;
  bool member[CAPACITY];
};

static uint32_t at(const struct model *model, uint32_t offset) {
  return ls__seq_add(model->set.base, (int32_t)offset);
}

static void check(const struct model *model, uint32_t from) {
  uint32_t count = 0, first = CAPACITY;
  for (uint32_t i = CAPACITY; i-- > 0;) {
    count += model->member[i];
    if (model->member[i] && i >= from)
      first = i;
    assert_int_equal(ls__seqset_has(&model->set, at(model, i)), model->member[i]);
  }
  assert_int_equal(model->set.count, count);
  uint32_t seq;
  assert_int_equal(ls__seqset_first(&model->set, at(model, from), &seq), first < CAPACITY);
  if (first < CAPACITY)
    assert_int_equal(seq, at(model, first));
}

static void advance(struct model *model, uint32_t offset) {
  uint32_t dropped = 0;
  for (uint32_t i = 0; i < offset && i < CAPACITY; i++)
    dropped += model->member[i];
  assert_int_equal(ls__seqset_advance(&model->set, at(model, offset)), dropped);
  for (uint32_t i = 0; i < CAPACITY; i++)
    model->member[i] = i + offset < CAPACITY && model->member[i + offset];
}

/* Random adding, taking out and advancing, from bases at every kind of place on the circle. */
static void test_against_model(void **state) {
  (void)state;
  static struct model model;
  static const uint32_t bases[] = {0,          1, 63, 64, 0x3FFFFFFF, 0x40000000, LS_SEQ_MASK - 300,
                                   LS_SEQ_MASK};
  for (unsigned run = 0; run < sizeof bases / sizeof *bases; run++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, run);
    memset(&model, 0, sizeof model);
    assert_int_equal(ls__seqset_init(&model.set, CAPACITY, bases[run]), 0);
    for (int step = 0; step < 4000; step++) {
      uint32_t offset = (uint32_t)ls__prng_below(&prng, CAPACITY);
      uint64_t kind = ls__prng_below(&prng, 20);
      if (kind < 10) {
        assert_int_equal(ls__seqset_add(&model.set, at(&model, offset)), !model.member[offset]);
        model.member[offset] = true;
      } else if (kind < 18) {
        assert_int_equal(ls__seqset_remove(&model.set, at(&model, offset)), model.member[offset]);
        model.member[offset] = false;
      } else if (kind == 18) {
        advance(&model, offset % 16);
      } else if (step % 10 == 0) {
        advance(&model, 2 * offset); /* now and then past the whole window */
      }
      check(&model, (uint32_t)ls__prng_below(&prng, CAPACITY));
    }
    ls__seqset_free(&model.set);
  }
}

/* What lies outside the window is never a member, although it shares a bit with one. */
static void test_window(void **state) {
  (void)state;
  struct ls__seqset set;
  uint32_t base = LS_SEQ_MASK - 10, seq;
  assert_int_equal(ls__seqset_init(&set, 64, base), 0);
  for (int i = 0; i < 64; i++)
    assert_true(ls__seqset_add(&set, ls__seq_add(base, i)));
  for (int i = -200; i < 264; i++) {
    bool inside = i >= 0 && i < 64;
    assert_int_equal(ls__seqset_in_window(&set, ls__seq_add(base, i)), inside);
    assert_int_equal(ls__seqset_has(&set, ls__seq_add(base, i)), inside);
    if (!inside)
      assert_false(ls__seqset_remove(&set, ls__seq_add(base, i)));
  }
  assert_true(ls__seqset_first(&set, ls__seq_add(base, -5), &seq)); /* from before the window */
  assert_int_equal(seq, base);
  assert_false(ls__seqset_first(&set, ls__seq_add(base, 64), &seq));
  assert_int_equal(ls__seqset_advance(&set, ls__seq_add(base, -1)), 0); /* backwards: nothing */
  assert_int_equal(set.base, base);
  ls__seqset_reset(&set, 77);
  assert_int_equal(set.count, 0);
  assert_int_equal(set.base, 77);
  for (uint32_t i = 77; i < 141; i++)
    assert_false(ls__seqset_has(&set, i));
  ls__seqset_free(&set);
}

/* Advancing over a full window takes time in proportion to it, not to its square: the loss of a
 * second at a high rate must not stall the thread. 2^20 members one by one would be 10^10 steps if
 * each began at the base. */
static void test_advance_is_linear(void **state) {
  (void)state;
  struct ls__seqset set;
  uint32_t capacity = 1 << 20;
  assert_int_equal(ls__seqset_init(&set, capacity, 0), 0);
  for (uint32_t i = 0; i < capacity; i++)
    ls__seqset_add(&set, i);
  clock_t start = clock();
  assert_int_equal(ls__seqset_advance(&set, capacity - 1), capacity - 1);
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
  assert_int_equal(set.count, 1);
  ls__seqset_free(&set);
}

static void add_outside(void) {
  struct ls__seqset set;
  ls__seqset_init(&set, 64, 10);
  ls__seqset_add(&set, 9);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(add_outside));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_model),
      cmocka_unit_test(test_window),
      cmocka_unit_test(test_advance_is_linear),
      cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
