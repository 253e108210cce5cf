#include "io/loop.h"

#include "base/assert.h"
#include "base/time.h"
#include "io/clock.h"
#include "lockstep.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* An idle loop still looks at the clock this often. */
#define IDLE_NS LS_S
/* Shorter than a system call pays off: the rest of a spin is spent on the clock alone. */
#define PURE_SPIN_NS (3 * LS_US)

int ls__loop_init(struct ls__loop *loop, void (*woken)(void *self, int64_t now_ns), void *self) {
  memset(loop, 0, sizeof *loop);
  loop->epoll = epoll_create1(EPOLL_CLOEXEC);
  loop->wake = (struct ls__source){
      .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .ready = woken, .self = self};
  loop->reader = ls__udp_reader_new();
  int result = loop->epoll < 0 || loop->wake.fd < 0 ? LS_ESYSTEM : 0;
  if (result == 0)
    result = loop->reader ? ls__heap_init(&loop->tasks, LS__LOOP_TASKS_MAX) : LS_ENOMEM;
  if (result == 0)
    result = ls__loop_watch(loop, &loop->wake);
  ls__spin_init(&loop->spin, 0);
  if (result < 0)
    ls__loop_free(loop);
  return result;
}

void ls__loop_free(struct ls__loop *loop) {
  if (loop->epoll >= 0)
    close(loop->epoll);
  if (loop->wake.fd >= 0)
    close(loop->wake.fd);
  ls__udp_reader_free(loop->reader);
  ls__heap_free(&loop->tasks);
  memset(loop, 0, sizeof *loop);
  loop->epoll = loop->wake.fd = -1;
}

void ls__loop_budget(struct ls__loop *loop, uint32_t percent) {
  ls__spin_init(&loop->spin, percent);
}

void ls__loop_wake(struct ls__loop *loop) {
  uint64_t one = 1;
  ssize_t done = write(loop->wake.fd, &one, sizeof one);
  LS_ASSERT(done == sizeof one || errno == EAGAIN);
}

void ls__loop_at(struct ls__loop *loop, struct ls__task *task, int64_t at_ns) {
  if (at_ns == LS_NEVER)
    ls__heap_remove(&loop->tasks, &task->node);
  else
    LS_ASSERT(ls__heap_set(&loop->tasks, &task->node, at_ns)); /* LS__LOOP_TASKS_MAX */
}

int ls__loop_watch(struct ls__loop *loop, struct ls__source *source) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
  return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, source->fd, &event) < 0 ? LS_ESYSTEM : 0;
}

void ls__loop_unwatch(struct ls__loop *loop, struct ls__source *source) {
  epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
}

static int64_t first_due(const struct ls__loop *loop) {
  const struct ls__heap_node *node = ls__heap_first(&loop->tasks);
  return node ? node->at_ns : LS_NEVER;
}

static void run_due(struct ls__loop *loop, int64_t now_ns) {
  for (int runs = 0; runs < LS__LOOP_RUNS_MAX && first_due(loop) <= now_ns; runs++) {
    struct ls__task *task = (struct ls__task *)ls__heap_first(&loop->tasks);
    ls__heap_remove(&loop->tasks, &task->node);
    task->run(task->self, now_ns);
  }
}

static void run_ready(struct ls__loop *loop, int64_t wait_ns) {
  struct epoll_event events[LS__LOOP_READY_MAX];
  struct timespec timeout = {.tv_sec = wait_ns / LS_S, .tv_nsec = wait_ns % LS_S};
  int count = epoll_pwait2(loop->epoll, events, LS__LOOP_READY_MAX, &timeout, NULL);
  LS_ASSERT(count >= 0 || errno == EINTR);
  if (count <= 0)
    return;
  int64_t now_ns = ls__clock_now();
  bool woken = false;
  for (int i = 0; i < count; i++) {
    struct ls__source *source = events[i].data.ptr;
    if (source == &loop->wake)
      woken = true;
    else
      source->ready(source->self, now_ns);
  }
  if (!woken)
    return;
  /* Commands come last: they may close what the events above still point to. */
  uint64_t value;
  LS_ASSERT(read(loop->wake.fd, &value, sizeof value) == sizeof value || errno == EAGAIN);
  loop->wake.ready(loop->wake.self, now_ns);
}

static void spin_until(struct ls__loop *loop, int64_t from_ns, int64_t until_ns) {
  int64_t now_ns = from_ns;
  while (now_ns < until_ns && !loop->stop) {
    if (until_ns - now_ns > PURE_SPIN_NS)
      run_ready(loop, 0);
    now_ns = ls__clock_now();
    if (first_due(loop) < until_ns)
      until_ns = first_due(loop); /* what arrived may be due sooner */
  }
  ls__spin_charge(&loop->spin, from_ns, now_ns);
}

void ls__loop_run(struct ls__loop *loop) {
  prctl(PR_SET_TIMERSLACK, 1);
  while (!loop->stop) {
    int64_t now_ns = ls__clock_now();
    run_due(loop, now_ns);
    if (loop->stop)
      return;
    int64_t next_ns = first_due(loop);
    struct ls__spin_plan plan = ls__spin_plan(&loop->spin, now_ns, next_ns);
    if (plan.spin) {
      spin_until(loop, now_ns, plan.until_ns);
      continue;
    }
    int64_t wait_ns = plan.until_ns - now_ns < IDLE_NS ? plan.until_ns - now_ns : IDLE_NS;
    run_ready(loop, wait_ns > 0 ? wait_ns : 0);
    loop->wakeups++;
    int64_t woke_ns = ls__clock_now();
    if (woke_ns >= plan.until_ns && wait_ns > 0 && wait_ns < IDLE_NS)
      ls__spin_woke(&loop->spin, plan.until_ns, woke_ns);
  }
}
