#include "base/error.h"

#include "base/testing.h"
#include "lockstep.h"

#include <string.h>

static const struct {
  const char *name;
  int code;
} errors[] = {
#define ERROR(name, value, text) {#name, name},
    LS_ERRORS(ERROR)
#undef ERROR
};

enum { COUNT = sizeof errors / sizeof *errors };

static void test_names_and_texts(void **state) {
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    assert_string_equal(ls__error_name(errors[i].code), errors[i].name);
    const char *text = ls__error_text(errors[i].code);
    assert_true(strlen(text) > 5);
    assert_string_not_equal(text, ls__error_text(-1000));
    for (int j = 0; j < i; j++) {
      assert_int_not_equal(errors[i].code, errors[j].code);
      assert_string_not_equal(text, ls__error_text(errors[j].code));
    }
  }
}

/* The values are part of the interface: those of version 1 stay, and there is no gap. */
static void test_values(void **state) {
  (void)state;
  assert_int_equal(LS_EINVAL, -1);
  assert_int_equal(LS_EFORMAT, -10);
  for (int i = 0; i < COUNT; i++)
    assert_int_equal(errors[i].code, -1 - i);
}

static void test_unknown(void **state) {
  (void)state;
  static const int codes[] = {0, 1, -COUNT - 1, -1000, 1 << 30, -(1 << 30)};
  for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
    assert_string_equal(ls__error_name(codes[i]), "LS_EUNKNOWN");
    assert_string_equal(ls__error_text(codes[i]), "unknown error");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_texts),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
