#include "base/option.h"

#include "base/addr.h"
#include "base/testing.h"
#include "lockstep.h"

#include <string.h>

struct config {
  int64_t count, offset;
  bool on;
  double share;
  char name[9]; /* 8 bytes of text */
  struct ls__addr addr;
  int mode;
  char guard;
};

static const struct ls__option table[] = {
    {"count", LS__OPTION_INT, offsetof(struct config, count), 1, 65535, NULL},
    {"offset", LS__OPTION_INT, offsetof(struct config, offset), INT64_MIN, INT64_MAX, NULL},
    {"on", LS__OPTION_BOOL, offsetof(struct config, on), 0, 0, NULL},
    {"share", LS__OPTION_SHARE, offsetof(struct config, share), 0, 1, NULL},
    {"name", LS__OPTION_TEXT, offsetof(struct config, name), 0, 8, NULL},
    {"addr", LS__OPTION_ADDR, offsetof(struct config, addr), 0, 0, NULL},
    {"mode", LS__OPTION_ENUM, offsetof(struct config, mode), 0, 0, "caller listener rendezvous"},
};

static int set(struct config *config, const char *name, const char *text, char *err,
               size_t err_len) {
  return ls__option_set(table, sizeof table / sizeof *table, config, name, text, err, err_len);
}

static void test_accepted(void **state) {
  (void)state;
  struct config config = {.guard = 'g'};
  static const char *const pairs[][2] = {
      {"count", "65535"},     {"offset", "-9223372036854775808"},
      {"on", "Yes"},          {"share", "0.25"},
      {"name", "12345678"},   {"addr", "192.0.2.1:5000"},
      {"mode", "rendezvous"},
  };
  for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
    assert_int_equal(set(&config, pairs[i][0], pairs[i][1], NULL, 0), 0);
  assert_int_equal(config.count, 65535);
  assert_true(config.offset == INT64_MIN);
  assert_true(config.on);
  assert_true(config.share == 0.25);
  assert_string_equal(config.name, "12345678");
  assert_int_equal(config.addr.port, 5000);
  assert_int_equal(config.mode, 2);
  assert_int_equal(config.guard, 'g');
  assert_int_equal(set(&config, "count", "1", NULL, 0), 0);
  assert_int_equal(config.count, 1);
  assert_int_equal(set(&config, "mode", "caller", NULL, 0), 0);
  assert_int_equal(config.mode, 0);
  assert_int_equal(set(&config, "name", "", NULL, 0), 0);
  assert_string_equal(config.name, "");
  assert_int_equal(set(&config, "share", "1", NULL, 0), 0);
  assert_true(config.share == 1.0);
}

static void test_bools(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool value;
  } cases[] = {{"true", true},   {"1", true},  {"yes", true}, {"on", true},   {"TRUE", true},
               {"false", false}, {"0", false}, {"no", false}, {"off", false}, {"Off", false}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct config config = {.on = !cases[i].value};
    assert_int_equal(set(&config, "on", cases[i].text, NULL, 0), 0);
    assert_int_equal(config.on, cases[i].value);
  }
}

/* What is refused changes nothing, and says what was given and what is accepted. */
static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    int code;
    const char *sentence;
  } cases[] = {
      {"colour", "1", LS_EOPTION, "there is no option 'colour' here"},
      {"", "1", LS_EOPTION, "there is no option '' here"},
      {"coun", "1", LS_EOPTION, "there is no option 'coun' here"},
      {"count", "0", LS_EINVAL, "count: '0' is not a whole number from 1 to 65535"},
      {"count", "65536", LS_EINVAL, "count: '65536' is not a whole number from 1 to 65535"},
      {"count", "", LS_EINVAL, "count: '' is not a whole number from 1 to 65535"},
      {"count", "12x", LS_EINVAL, "count: '12x' is not a whole number from 1 to 65535"},
      {"count", "1.5", LS_EINVAL, "count: '1.5' is not a whole number from 1 to 65535"},
      {"offset", "9223372036854775808", LS_EINVAL,
       "offset: '9223372036854775808' is not a whole number from -9223372036854775808 to "
       "9223372036854775807"},
      {"on", "2", LS_EINVAL, "on: '2' is neither true nor false"},
      {"on", "", LS_EINVAL, "on: '' is neither true nor false"},
      {"share", "1.01", LS_EINVAL, "share: '1.01' is not a number from 0 to 1"},
      {"share", "nan", LS_EINVAL, "share: 'nan' is not a number from 0 to 1"},
      {"share", "-inf", LS_EINVAL, "share: '-inf' is not a number from 0 to 1"},
      {"share", "5%", LS_EINVAL, "share: '5%' is not a number from 0 to 1"},
      {"name", "123456789", LS_EINVAL, "name: longer than 8 bytes"},
      {"addr", "localhost:1", LS_EINVAL,
       "addr: 'localhost:1' is not an address like 192.0.2.1:5000, [2001:db8::1]:5000 or :5000"},
      {"mode", "call", LS_EINVAL, "mode: 'call' is none of: caller listener rendezvous"},
      {"mode", "callers", LS_EINVAL, "mode: 'callers' is none of: caller listener rendezvous"},
      {"mode", "", LS_EINVAL, "mode: '' is none of: caller listener rendezvous"},
      {"mode", "caller listener", LS_EINVAL,
       "mode: 'caller listener' is none of: caller listener rendezvous"},
  };
  const struct config before = {.count = 7, .offset = 8, .share = 0.5, .name = "n", .mode = 1};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct config config = before;
    char err[200] = "";
    assert_int_equal(set(&config, cases[i].name, cases[i].text, err, sizeof err), cases[i].code);
    assert_string_equal(err, cases[i].sentence);
    assert_memory_equal(&config, &before, sizeof config);
  }
}

static void test_short_buffer(void **state) {
  (void)state;
  struct config config = {0};
  char err[11] = "..........";
  assert_int_equal(set(&config, "colour", "1", err, 10), LS_EOPTION);
  assert_string_equal(err, "there is ");
  assert_int_equal(err[10], 0);
  assert_int_equal(set(&config, "colour", "1", err, 0), LS_EOPTION);
  assert_string_equal(err, "there is ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_bools),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_short_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
