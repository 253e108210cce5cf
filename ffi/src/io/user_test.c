#include "io/user.h"

#include "base/addr_text.h"
#include "base/testing.h"
#include "io/testing.h"

#include <errno.h>

static int open_at(const char *local) {
  struct ls__udp_config config = {.tos = -1, .ttl = -1};
  assert_int_equal(ls__addr_parse(local, &config.local), 0);
  int fd = ls__udp_open(&config, NULL, 0);
  assert_true(fd >= 0);
  return fd;
}

static struct ls__backend open_backend(struct ls__user *user, int fd) {
  struct ls__backend backend = ls__user_backend(user, fd);
  assert_string_equal(backend.ops->name, "user");
  assert_int_equal(backend.ops->open(backend.self, NULL, 0), 0);
  assert_int_equal(backend.ops->lead(backend.self), 0); /* it wants what is due, not before */
  return backend;
}

/* It sends at once, in order, over IPv4 and by a dual-stack socket to both families. */
static void test_sends(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"127.0.0.1:0", "127.0.0.1:0"}, {"[::1]:0", "[::1]:0"}, {":0", "127.0.0.1:0"}};
  for (unsigned row = 0; row < 3; row++) {
    struct ls__user user;
    int fd = open_at(rows[row][0]), to = open_at(rows[row][1]);
    struct ls__backend backend = open_backend(&user, fd);
    struct ls__departure departures[LS_BATCH] = {0}, *batch[LS_BATCH];
    uint8_t bytes[LS_BATCH];
    for (unsigned i = 0; i < LS_BATCH; i++) {
      bytes[i] = (uint8_t)i;
      departures[i] =
          (struct ls__departure){.payload = &bytes[i], .length = 1, .to = ls__udp_local(to)};
      batch[i] = &departures[i];
    }
    assert_int_equal(backend.ops->submit(backend.self, batch, LS_BATCH, 0), LS_BATCH);
    for (unsigned i = 0; i < LS_BATCH; i++) {
      uint8_t got;
      assert_int_equal(recv(to, &got, 1, 0), 1);
      assert_int_equal(got, i);
    }
    struct ls__backend_errors errors = {.refused = 9};
    backend.ops->reap(backend.self, &errors);
    assert_int_equal(errors.refused + errors.missed + errors.invalid, 0);
    backend.ops->close(backend.self);
    assert_int_not_equal(ls__udp_local(fd).port, 0); /* the socket stays the caller's */
    close(fd);
    close(to);
  }
}

/* What the system refuses counts as taken and is told once, by number and reason. */
static void test_refusals_are_counted(void **state) {
  (void)state;
  static uint8_t data[65535];
  struct ls__user user = {.errors = {.refused = 77}}; /* of an earlier life */
  int fd = open_at("127.0.0.1:0");
  struct ls__backend backend = open_backend(&user, fd);
  struct ls__departure departure = {
      .payload = data, .length = sizeof data, .to = ls__udp_local(fd)};
  struct ls__departure *batch[] = {&departure, &departure};
  for (unsigned i = 1; i <= 3; i++) {
    struct ls__backend_errors errors;
    assert_int_equal(backend.ops->submit(backend.self, batch, 2, 0), 2);
    backend.ops->reap(backend.self, &errors);
    assert_int_equal(errors.refused, 2 * i);
    assert_int_equal(errors.last_errno, EMSGSIZE);
  }
  backend.ops->close(backend.self);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sends),
      cmocka_unit_test(test_refusals_are_counted),
  };
  return cmocka_run_group_tests_name("io/user", tests, NULL, NULL);
}
