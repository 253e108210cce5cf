#include "base/addr_text.h"

#include "base/prng.h"
#include "base/testing.h"
#include "lockstep.h"

#include <string.h>

static const struct {
  const char *text;
  struct ls__addr addr;
  const char *form; /* as it is written; NULL: as it was read */
} accepted[] = {
    {"192.0.2.1:5000", {.bytes = {192, 0, 2, 1}, .port = 5000, .family = 4}, NULL},
    {"0.0.0.0:0", {.family = 4}, NULL},
    {"255.255.255.255:65535", {.bytes = {255, 255, 255, 255}, .port = 65535, .family = 4}, NULL},
    {"[::1]:80", {.bytes = {[15] = 1}, .port = 80, .family = 6}, NULL},
    {"[2001:db8::1]:5000",
     {.bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}, .port = 5000, .family = 6},
     NULL},
    {"[fe80::1%3]:9", {.bytes = {0xfe, 0x80, [15] = 1}, .scope = 3, .port = 9, .family = 6}, NULL},
    {"[2001:DB8:0:0::1]:05000",
     {.bytes = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}, .port = 5000, .family = 6},
     "[2001:db8::1]:5000"},
    {":5000", {.port = 5000, .family = 6}, "[::]:5000"},
};

static void test_accepted(void **state) {
  (void)state;
  for (unsigned i = 0; i < sizeof accepted / sizeof *accepted; i++) {
    struct ls__addr addr;
    memset(&addr, 0xAA, sizeof addr);
    char text[LS_ADDR_TEXT];
    assert_int_equal(ls__addr_parse(accepted[i].text, &addr), 0);
    assert_true(ls__addr_equal(&addr, &accepted[i].addr));
    assert_ptr_equal(ls__addr_format(&addr, text), text);
    assert_string_equal(text, accepted[i].form ? accepted[i].form : accepted[i].text);
  }
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      ":",
      "5000",
      "192.0.2.1",
      "192.0.2.1:",
      "192.0.2.1:65536",
      "192.0.2.1:-1",
      "192.0.2.1:+1",
      "192.0.2.1: 1",
      "192.0.2.1:1x",
      "192.0.2.1:99999999999999999999999",
      "192.0.2:5000",
      "192.0.2.256:5000",
      "192.0.2.1.:5000",
      "localhost:5000",
      "::1:5000",
      "[::1]",
      "[::1]5000",
      "[::1:5000",
      "::1]:5000",
      "[]:5000",
      "[192.0.2.1]:5000",
      "[fe80::1%]:5000",
      "[fe80::1%eth0]:5000",
      "[fe80::1%4294967296]:5000",
      "[2001:db8::1::2]:5000",
      "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1",
  };
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    const struct ls__addr before = {.port = 7, .family = 4};
    struct ls__addr addr = before;
    if (ls__addr_parse(texts[i], &addr) != LS_EINVAL)
      fail_msg("accepted: '%s'", texts[i]);
    assert_true(ls__addr_equal(&addr, &before));
  }
}

/* Any address is written in a form that reads back as itself and fits the buffer. */
static void test_round_trip(void **state) {
  (void)state;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  for (int i = 0; i < 20000; i++) {
    struct ls__addr addr = {.port = (uint16_t)ls__prng_next(&prng), .family = i % 2 ? 4 : 6}, back;
    for (int byte = 0; byte < (addr.family == 4 ? 4 : 16); byte++)
      if (ls__prng_below(&prng, 1 + (uint64_t)i % 5)) /* runs of zeros as well */
        addr.bytes[byte] = (uint8_t)ls__prng_next(&prng);
    if (addr.family == 6 && i % 4 == 0)
      addr.scope = (uint32_t)ls__prng_next(&prng);
    char text[LS_ADDR_TEXT + 1];
    text[LS_ADDR_TEXT] = 'x';
    ls__addr_format(&addr, text);
    assert_int_equal(text[LS_ADDR_TEXT], 'x');
    assert_int_equal(ls__addr_parse(text, &back), 0);
    assert_true(ls__addr_equal(&addr, &back));
  }
}

static void test_longest(void **state) {
  (void)state;
  struct ls__addr addr = {.scope = UINT32_MAX, .port = 65535, .family = 6}, back;
  memset(addr.bytes, 0xff, 16);
  char text[LS_ADDR_TEXT];
  ls__addr_format(&addr, text);
  assert_string_equal(text, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535");
  assert_int_equal(ls__addr_parse(text, &back), 0);
  assert_true(ls__addr_equal(&addr, &back));
}

static void test_none(void **state) {
  (void)state;
  struct ls__addr none = {0};
  char text[LS_ADDR_TEXT];
  assert_string_equal(ls__addr_format(&none, text), "none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accepted),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_longest),
      cmocka_unit_test(test_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
