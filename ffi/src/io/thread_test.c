#include "io/thread.h"

#include "base/testing.h"

#include <errno.h>

struct seen {
  sigset_t mask;
  void *self;
  int error;
};

static void *look(void *self) {
  struct seen *seen = self;
  seen->self = self;
  pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
  return self;
}

/* Signals are the application's: none may land on a thread of the library. */
static void test_takes_no_signal(void **state) {
  (void)state;
  struct seen seen;
  sigset_t before, after;
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  assert_int_equal(ls__thread_start(&thread, look, &seen), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  void *returned;
  pthread_join(thread, &returned);
  assert_ptr_equal(returned, &seen);
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM, SIGCHLD, SIGUSR1};
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
    assert_true(sigismember(&seen.mask, signals[i]));
    assert_int_equal(sigismember(&after, signals[i]), sigismember(&before, signals[i]));
  }
}

static void *write_to_closed_pipe(void *self) {
  struct seen *seen = self;
  int ends[2];
  if (pipe(ends) < 0)
    return NULL;
  close(ends[0]);
  seen->error = write(ends[1], "x", 1) < 0 ? errno : 0;
  close(ends[1]);
  return NULL;
}

/* A reader that goes away is an error of one output, not the end of the process. */
static void test_closed_pipe_is_an_error(void **state) {
  (void)state;
  struct seen seen = {.error = 0};
  pthread_t thread;
  assert_int_equal(ls__thread_start(&thread, write_to_closed_pipe, &seen), 0);
  pthread_join(thread, NULL);
  assert_int_equal(seen.error, EPIPE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_takes_no_signal),
      cmocka_unit_test(test_closed_pipe_is_an_error),
  };
  return cmocka_run_group_tests_name("io/thread", tests, NULL, NULL);
}
