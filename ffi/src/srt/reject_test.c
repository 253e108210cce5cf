#include "srt/reject.h"

#include "base/testing.h"

#include <string.h>

/* Codes and names as libsrt and its access-control convention have them. */
static void test_names(void **state) {
  (void)state;
  static const struct {
    int code;
    const char *name;
  } cases[] = {
      {0, "UNKNOWN"},     {4, "ROGUE"},           {8, "VERSION"},       {10, "BADSECRET"},
      {11, "UNSECURE"},   {12, "MESSAGEAPI"},     {14, "FILTER"},       {15, "GROUP"},
      {16, "TIMEOUT"},    {17, "CRYPTO"},         {18, "UNKNOWN"},      {999, "UNKNOWN"},
      {1000, "FALLBACK"}, {1401, "UNAUTHORIZED"}, {1404, "NOTFOUND"},   {1409, "CONFLICT"},
      {1999, "UNKNOWN"},  {2000, "USER"},         {2147482647, "USER"}, {-1, "UNKNOWN"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(ls__reject_name(cases[i].code), cases[i].name);
}

/* Every code has a clause of its own, which can stand in a sentence: no capital, no full stop. */
static void test_texts(void **state) {
  (void)state;
  const char *texts[] = {
#define TEXT(name, code, text) ls__reject_text(code),
      LS__REJECTS(TEXT)
#undef TEXT
  };
  size_t count = sizeof texts / sizeof *texts;
  for (size_t i = 0; i < count; i++) {
    assert_true(strlen(texts[i]) > 8);
    assert_int_not_equal(texts[i][strlen(texts[i]) - 1], '.');
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(texts[i], texts[j]);
  }
  assert_string_equal(ls__reject_text(18), ls__reject_text(LS__REJECT_UNKNOWN));
  assert_string_not_equal(ls__reject_text(2001), ls__reject_text(LS__REJECT_UNKNOWN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
