#include "base/heap.h"

#include "base/prng.h"
#include "base/testing.h"

#include <string.h>

enum { NODES = 60 };

/* The reference model: which nodes are in, found by search. */
struct model {
  struct ls__heap heap;
  struct ls__heap_node nodes[NODES];
  bool in[NODES];
  int64_t at_ns[NODES];
  uint64_t order[NODES], inserted;
};

static int model_first(const struct model *model) {
  int first = -1;
  for (int i = 0; i < NODES; i++)
    if (model->in[i] &&
        (first < 0 || model->at_ns[i] < model->at_ns[first] ||
         (model->at_ns[i] == model->at_ns[first] && model->order[i] < model->order[first])))
      first = i;
  return first;
}

static void check(const struct model *model) {
  uint32_t count = 0;
  for (int i = 0; i < NODES; i++) {
    count += model->in[i];
    assert_int_equal(model->nodes[i].place != 0, model->in[i]);
  }
  assert_int_equal(model->heap.count, count);
  int first = model_first(model);
  assert_ptr_equal(ls__heap_first(&model->heap), first < 0 ? NULL : &model->nodes[first]);
}

/* Inserts, moves, removes and restores at random, with few distinct times. */
static void test_against_model(void **state) {
  (void)state;
  static struct model model;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    memset(&model, 0, sizeof model);
    assert_int_equal(ls__heap_init(&model.heap, NODES), 0);
    for (int step = 0; step < 3000; step++) {
      uint64_t kind = ls__prng_below(&prng, 4);
      int i = kind == 0 ? model_first(&model) : (int)ls__prng_below(&prng, NODES);
      if (i >= 0 && kind < 2) {
        ls__heap_remove(&model.heap, &model.nodes[i]);
        model.in[i] = false;
      } else if (kind == 2 && !model.in[i] && model.order[i]) {
        assert_true(ls__heap_restore(&model.heap, &model.nodes[i]));
        model.in[i] = true;
      } else if (i >= 0) {
        int64_t at_ns = (int64_t)ls__prng_below(&prng, 12) - 6;
        if (!model.in[i] || model.at_ns[i] != at_ns)
          model.order[i] = ++model.inserted;
        assert_true(ls__heap_set(&model.heap, &model.nodes[i], at_ns));
        model.in[i] = true;
        model.at_ns[i] = at_ns;
      }
      check(&model);
    }
    for (int i; (i = model_first(&model)) >= 0; check(&model)) {
      ls__heap_remove(&model.heap, ls__heap_first(&model.heap));
      model.in[i] = false;
    }
    ls__heap_free(&model.heap);
  }
}

static void test_full(void **state) {
  (void)state;
  struct ls__heap heap;
  struct ls__heap_node nodes[3] = {0};
  assert_int_equal(ls__heap_init(&heap, 2), 0);
  assert_true(ls__heap_set(&heap, &nodes[0], 5));
  assert_true(ls__heap_set(&heap, &nodes[1], 4));
  assert_false(ls__heap_set(&heap, &nodes[2], 3));
  assert_true(ls__heap_set(&heap, &nodes[0], 1)); /* moving needs no room */
  assert_ptr_equal(ls__heap_first(&heap), &nodes[0]);
  ls__heap_remove(&heap, &nodes[2]); /* was never in */
  assert_int_equal(heap.count, 2);
  ls__heap_remove(&heap, &nodes[0]);
  assert_true(ls__heap_set(&heap, &nodes[2], 3));
  assert_false(ls__heap_restore(&heap, &nodes[0]));
  ls__heap_free(&heap);
}

static void restore_twice(void) {
  struct ls__heap heap;
  struct ls__heap_node node = {0};
  ls__heap_init(&heap, 2);
  ls__heap_set(&heap, &node, 1);
  ls__heap_restore(&heap, &node);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(restore_twice));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_model),
      cmocka_unit_test(test_full),
      cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
