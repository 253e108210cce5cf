/* What the unit tests share; included by tests only. */
#ifndef LS__BASE_TESTING_H
#define LS__BASE_TESTING_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What a taken port is told to do. */
#define LS__TEST_IN_USE "; another program has the port, `ss -ulnp` shows which"

/** Whether `run` ends in a failed assertion. It runs in a child process, whose message is kept off
 * the test's output. */
static inline bool ls__test_aborts(void (*run)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr))
      _exit(1);
    signal(SIGABRT, SIG_DFL);
    run();
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
