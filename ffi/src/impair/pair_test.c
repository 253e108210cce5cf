#include "impair/pair.h"

#include "base/testing.h"
#include "lockstep.h"

#include <string.h>

static struct ls__model_pair pair;
static char err[250];

static int set(const char *name, const char *value) {
  err[0] = 0;
  return ls__model_pair_set(&pair, name, value, err, sizeof err);
}

static void test_both_and_one(void **state) {
  (void)state;
  memset(&pair, 0, sizeof pair);
  assert_int_equal(set("delay_ns", "20"), 0);
  assert_int_equal(set("backward_delay_ns", "30"), 0);
  assert_int_equal(set("forward_loss", "0.5"), 0);
  assert_int_equal(pair.forward.delay_ns, 20);
  assert_int_equal(pair.backward.delay_ns, 30);
  assert_true(pair.forward.loss == 0.5 && pair.backward.loss == 0);
  assert_int_equal(set("delay_ns", "40"), 0);
  assert_int_equal(pair.forward.delay_ns, 40);
  assert_int_equal(pair.backward.delay_ns, 40);
}

static void test_refused(void **state) {
  (void)state;
  memset(&pair, 0, sizeof pair);
  assert_int_equal(set("sideways_loss", "0"), LS_EOPTION);
  assert_int_equal(set("loss", "1.5"), LS_EINVAL);
  assert_string_equal(err, "loss: '1.5' is not a number from 0 to 1");
  assert_true(pair.forward.loss == 0 && pair.backward.loss == 0);
}

static void test_finish(void **state) {
  (void)state;
  memset(&pair, 0, sizeof pair);
  assert_int_equal(ls__model_pair_finish(&pair, 7, err, sizeof err), 0);
  assert_true(pair.forward.seed == 7 && pair.backward.seed == ~UINT64_C(7));
  pair.backward.outage_for_ns = 5;
  assert_int_equal(ls__model_pair_finish(&pair, 7, err, sizeof err), LS_EINVAL);
  assert_memory_equal(err, "from the target: ", 17);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_and_one),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_finish)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
