/* The event loop of one reactor thread: descriptors that are ready, and tasks that are due. The
 * thread sleeps until the next of both; before a departure it may spin within its CPU budget. */
#ifndef LS__IO_LOOP_H
#define LS__IO_LOOP_H

#include "base/heap.h"
#include "io/udp.h"
#include "pace/spin.h"

#include <stdatomic.h>

#define LS__LOOP_TASKS_MAX 65536
#define LS__LOOP_READY_MAX 64
/* Due tasks run before descriptors are looked at again. */
#define LS__LOOP_RUNS_MAX 256

struct ls__task {
  struct ls__heap_node node; /* first: a node is its task */
  void (*run)(void *self, int64_t now_ns);
  void *self;
};

struct ls__source {
  int fd;
  void (*ready)(void *self, int64_t now_ns);
  void *self;
};

struct ls__loop {
  int epoll;
  struct ls__source wake; /* an eventfd that other threads write */
  struct ls__heap tasks;
  struct ls__spin spin;
  struct ls__udp_reader *reader;
  bool stop;
  uint64_t wakeups;
};

/** `woken` runs on the loop's thread after ls__loop_wake. 0, LS_ENOMEM or LS_ESYSTEM. */
int ls__loop_init(struct ls__loop *loop, void (*woken)(void *self, int64_t now_ns), void *self);
void ls__loop_free(struct ls__loop *loop);

/** Spin budget in percent of one core; 0 never spins. */
void ls__loop_budget(struct ls__loop *loop, uint32_t percent);

/** Runs until `stop` is set by a task or source. */
void ls__loop_run(struct ls__loop *loop);

/** Wakes the loop from any thread. */
void ls__loop_wake(struct ls__loop *loop);

/** Runs `task` at `at_ns` (LS_NEVER: not at all); a task has one time. */
void ls__loop_at(struct ls__loop *loop, struct ls__task *task, int64_t at_ns);

/** Watches a descriptor for reading. A source is unwatched and freed only by a task or by `woken`,
 * never by another source. 0 or LS_ESYSTEM. */
int ls__loop_watch(struct ls__loop *loop, struct ls__source *source);
void ls__loop_unwatch(struct ls__loop *loop, struct ls__source *source);

#endif
