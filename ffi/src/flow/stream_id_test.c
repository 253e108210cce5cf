#include "flow/stream_id.h"

#include "base/prng.h"
#include "base/testing.h"

#include <stdlib.h>
#include <string.h>

static void test_match(void **state) {
  (void)state;
  static const struct {
    const char *listener, *caller;
    int match;
  } rows[] = {
      {"", "", 1},
      {"", "anything", 1},
      {"", "#!::r=cam", 1},
      {"cam", "cam", 2},
      {"cam", "", 0},
      {"cam", "camera", 0},
      {"camera", "cam", 0},
      {"cam", "Cam", 0},
      {"cam", "#!::r=cam", 2},
      {"cam", "#!::m=publish,r=cam", 2},
      {"cam", "#!::u=me,r=cam,m=publish,s=77", 2},
      {"cam", "#!::r=cam2", 0},
      {"cam", "#!::r=ca", 0},
      {"cam", "#!::r=", 0},
      {"cam", "#!::", 0},
      {"cam", "#!::u=cam", 0},
      {"cam", "#!::rr=cam", 0},
      {"cam", "#!::xr=cam", 0},
      {"cam", "#!:r=cam", 0},
      {"cam", "r=cam", 0},
      {"cam", " #!::r=cam", 0},
      {"cam", "#!::r=cam,r=other", 2}, /* the first counts */
      {"other", "#!::r=cam,r=other", 0},
      {"a=b", "#!::r=a=b", 2},
      {"#!::r=cam,m=publish", "#!::r=cam,m=publish", 2}, /* the whole text, literally */
      {"#!::r=cam", "#!::r=cam,m=publish", 0},
      {"caf\xc3\xa9", "#!::r=caf\xc3\xa9", 2},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ls__stream_id_match(rows[i].listener, rows[i].caller) != rows[i].match)
      fail_msg("'%s' for '%s'", rows[i].caller, rows[i].listener);
}

static void test_mode(void **state) {
  (void)state;
  static const struct {
    const char *caller;
    char mode;
  } rows[] = {
      {"", 0},
      {"m=publish", 0},
      {"#!::m=publish", 'p'},
      {"#!::m=request", 'r'},
      {"#!::r=cam,m=request", 'r'},
      {"#!::r=m=request,m=publish", 'p'},
      {"#!::m=bidirectional", 0},
      {"#!::m=Publish", 0},
      {"#!::m=publisher", 0},
      {"#!::m=publis", 0},
      {"#!::m=", 0},
      {"#!::m", 0},
      {"#!::,,,m=request,", 'r'},
      {"#!::mm=request", 0},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ls__stream_id_mode(rows[i].caller) != rows[i].mode)
      fail_msg("'%s'", rows[i].caller);
}

/* The same by splitting at commas, over random texts of the characters that matter. Each text ends
 * where its memory ends. */
static int match_model(const char *listener, const char *caller) {
  if (!listener[0])
    return 1;
  if (strcmp(listener, caller) == 0)
    return 2;
  if (strncmp(caller, "#!::", 4) != 0)
    return 0;
  char copy[64], *rest = copy, *pair;
  strcpy(copy, caller + 4);
  while ((pair = strsep(&rest, ",")) != NULL)
    if (pair[0] == 'r' && pair[1] == '=')
      return strcmp(pair + 2, listener) == 0 ? 2 : 0;
  return 0;
}

static void test_random_texts(void **state) {
  (void)state;
  static const char alphabet[] = "r=,mab";
  struct ls__prng prng;
  ls__prng_seed(&prng, 21);
  unsigned matches = 0;
  for (int i = 0; i < 200000; i++) {
    size_t len = ls__prng_below(&prng, 12), listener_len = ls__prng_below(&prng, 3);
    char *caller = malloc(4 + len + 1), listener[3] = "";
    memcpy(caller, "#!::", 4);
    for (size_t j = 0; j < len; j++)
      caller[4 + j] = alphabet[ls__prng_below(&prng, 6)];
    caller[4 + len] = 0;
    for (size_t j = 0; j < listener_len; j++)
      listener[j] = alphabet[ls__prng_below(&prng, 6)];
    int match = ls__stream_id_match(listener, caller);
    if (match != match_model(listener, caller))
      fail_msg("'%s' for '%s'", caller, listener);
    matches += match == 2;
    ls__stream_id_mode(caller);
    free(caller);
  }
  assert_true(matches > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_match),
      cmocka_unit_test(test_mode),
      cmocka_unit_test(test_random_texts),
  };
  return cmocka_run_group_tests_name("flow/stream_id", tests, NULL, NULL);
}
