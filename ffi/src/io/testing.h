/* A loop that runs in a thread of its own, for the tests of this room and those above; included by
 * tests only. */
#ifndef LS__IO_TESTING_H
#define LS__IO_TESTING_H

#include "base/assert.h"
#include "base/testing.h"
#include "base/time.h"
#include "io/clock.h"
#include "io/loop.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

/* For what must happen: long enough for a sanitizer on a busy machine. */
#define LS__TEST_PATIENCE_MS 10000

struct ls__test_loop {
  struct ls__loop loop;
  pthread_t thread;
  void (*_Atomic call)(void *self, int64_t now_ns);
  void *self;
  sem_t done;
};

static inline void ls__test_woken(void *self, int64_t now_ns) {
  struct ls__test_loop *test = self;
  void (*call)(void *, int64_t) = atomic_exchange(&test->call, NULL);
  if (!call)
    return;
  call(test->self, now_ns);
  sem_post(&test->done);
}

static inline void *ls__test_loop_thread(void *self) {
  ls__loop_run(&((struct ls__test_loop *)self)->loop);
  return NULL;
}

static inline void ls__test_loop_start(struct ls__test_loop *test) {
  memset(test, 0, sizeof *test);
  assert_int_equal(sem_init(&test->done, 0, 0), 0);
  assert_int_equal(ls__loop_init(&test->loop, ls__test_woken, test), 0);
  assert_int_equal(pthread_create(&test->thread, NULL, ls__test_loop_thread, test), 0);
}

/** Runs `call` as a command on the loop's thread, and waits until it has run. */
static inline void ls__test_on_loop(struct ls__test_loop *test,
                                    void (*call)(void *self, int64_t now_ns), void *self) {
  test->self = self;
  atomic_store(&test->call, call);
  ls__loop_wake(&test->loop);
  while (sem_wait(&test->done) < 0)
    ;
}

static inline void ls__test_quit(void *self, int64_t now_ns) {
  (void)now_ns;
  ((struct ls__test_loop *)self)->loop.stop = true;
}

static inline void ls__test_loop_end(struct ls__test_loop *test) {
  ls__test_on_loop(test, ls__test_quit, test);
  pthread_join(test->thread, NULL);
  ls__loop_free(&test->loop);
  sem_destroy(&test->done);
}

/** Whether `condition` becomes true before the patience ends; it is looked at each millisecond. */
#define ls__test_until(condition)                                                                  \
  ({                                                                                               \
    int64_t give_up_ns_ = ls__clock_now() + LS__TEST_PATIENCE_MS * LS_MS;                          \
    bool met_ = false;                                                                             \
    while (!(met_ = (condition)) && ls__clock_now() < give_up_ns_)                                 \
      usleep(1000);                                                                                \
    met_;                                                                                          \
  })

/** How many descriptors this process has open. */
static inline unsigned ls__test_descriptors(void) {
  unsigned count = 0;
  DIR *directory = opendir("/proc/self/fd");
  assert_non_null(directory);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count;
}

/** A port that nobody uses now, for IPv4 and IPv6 alike. */
static inline uint16_t ls__test_port(void) {
  struct ls__udp_config config = {.local = {.family = 6}, .tos = -1, .ttl = -1};
  int fd = ls__udp_open(&config, NULL, 0);
  assert_true(fd >= 0);
  uint16_t port = ls__udp_local(fd).port;
  close(fd);
  return port;
}

#endif
