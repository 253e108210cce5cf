#include "io/loop.h"

#include "base/prng.h"
#include "base/testing.h"
#include "io/testing.h"
#include "lockstep.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

static struct ls__test_loop t;

/* A task of the test: notes when it ran and in what order. */
struct probe {
  struct ls__task task;
  int64_t at_ns, ran_ns;
  unsigned runs, order;
  int64_t every_ns; /* > 0: runs again */
};

static _Atomic unsigned ran; /* tasks that have run */

static void run_probe(void *self, int64_t now_ns) {
  struct probe *probe = self;
  probe->ran_ns = now_ns;
  probe->order = atomic_fetch_add(&ran, 1);
  probe->runs++;
  if (probe->every_ns)
    ls__loop_at(&t.loop, &probe->task, now_ns + probe->every_ns);
}

static void set_probe(void *self, int64_t now_ns) {
  struct probe *probe = self;
  (void)now_ns;
  probe->task.run = run_probe;
  probe->task.self = probe;
  ls__loop_at(&t.loop, &probe->task, probe->at_ns);
}

static void cancel_probe(void *self, int64_t now_ns) {
  struct probe *probe = self;
  (void)now_ns;
  ls__loop_at(&t.loop, &probe->task, LS_NEVER);
}

struct crowd {
  struct probe probes[500];
};

static void set_crowd(void *self, int64_t now_ns) {
  struct crowd *crowd = self;
  struct ls__prng prng;
  ls__prng_seed(&prng, 7);
  for (unsigned i = 0; i < 500; i++) {
    struct probe *probe = &crowd->probes[i];
    /* Coarse, so that many are due at once; some are due already. */
    probe->at_ns = now_ns + (int64_t)(ls__prng_below(&prng, 20) * 3 - 9) * LS_MS;
    set_probe(probe, now_ns);
  }
  for (unsigned i = 0; i < 500; i += 5) /* moved: one time for each task */
    set_probe(&crowd->probes[i], now_ns);
}

/* Tasks run in order of time, and of setting where times are equal; never early. */
static void test_order(void **state) {
  (void)state;
  static struct crowd crowd;
  ls__test_loop_start(&t);
  ran = 0;
  ls__test_on_loop(&t, set_crowd, &crowd);
  assert_true(ls__test_until(atomic_load(&ran) == 500));
  ls__test_loop_end(&t);
  const struct probe *by_order[500];
  for (unsigned i = 0; i < 500; i++) {
    assert_int_equal(crowd.probes[i].runs, 1);
    assert_true(crowd.probes[i].ran_ns >= crowd.probes[i].at_ns);
    by_order[crowd.probes[i].order] = &crowd.probes[i];
  }
  for (unsigned i = 1; i < 500; i++)
    assert_true(by_order[i - 1]->at_ns <= by_order[i]->at_ns);
}

/* Both in one command, so that it is never due in between. */
static void set_and_cancel(void *self, int64_t now_ns) {
  set_probe(self, now_ns);
  cancel_probe(self, now_ns);
}

static void test_cancel_and_move(void **state) {
  (void)state;
  struct probe soon = {0}, never = {0};
  ls__test_loop_start(&t);
  ran = 0;
  never.at_ns = ls__clock_now() + 20 * LS_MS;
  ls__test_on_loop(&t, set_and_cancel, &never);
  ls__test_on_loop(&t, cancel_probe, &never); /* not in: nothing happens */
  soon.at_ns = ls__clock_now() + 3600 * LS_S;
  ls__test_on_loop(&t, set_probe, &soon);
  soon.at_ns = ls__clock_now() + 40 * LS_MS;
  ls__test_on_loop(&t, set_probe, &soon);
  assert_true(ls__test_until(atomic_load(&ran) == 1));
  ls__test_loop_end(&t);
  assert_int_equal(soon.runs, 1);
  assert_int_equal(never.runs, 0);
}

struct counter {
  struct ls__source source;
  uint64_t value;
  _Atomic unsigned runs;
};

static void count(void *self, int64_t now_ns) {
  struct counter *counter = self;
  uint64_t value;
  (void)now_ns;
  assert_int_equal(read(counter->source.fd, &value, sizeof value), sizeof value);
  counter->value += value;
  atomic_fetch_add(&counter->runs, 1);
}

static void watch_counter(void *self, int64_t now_ns) {
  struct counter *counter = self;
  (void)now_ns;
  *counter =
      (struct counter){.source = {.fd = eventfd(0, EFD_NONBLOCK), .ready = count, .self = counter}};
  assert_int_equal(ls__loop_watch(&t.loop, &counter->source), 0);
}

static void unwatch_counter(void *self, int64_t now_ns) {
  struct counter *counter = self;
  (void)now_ns;
  ls__loop_unwatch(&t.loop, &counter->source);
}

static void raise_counter(const struct counter *counter) {
  uint64_t one = 1;
  assert_int_equal(write(counter->source.fd, &one, sizeof one), sizeof one);
}

static void test_sources(void **state) {
  (void)state;
  struct counter one, two;
  ls__test_loop_start(&t);
  ls__test_on_loop(&t, watch_counter, &one);
  ls__test_on_loop(&t, watch_counter, &two);
  raise_counter(&one);
  assert_true(ls__test_until(atomic_load(&one.runs) == 1));
  raise_counter(&two);
  assert_true(ls__test_until(atomic_load(&two.runs) == 1));
  assert_int_equal(atomic_load(&one.runs), 1);
  ls__test_on_loop(&t, unwatch_counter, &one);
  raise_counter(&one);
  raise_counter(&two);
  assert_true(ls__test_until(atomic_load(&two.runs) == 2));
  assert_int_equal(atomic_load(&one.runs), 1);
  ls__test_loop_end(&t);
  close(one.source.fd);
  close(two.source.fd);
  struct ls__source broken = {.fd = -1};
  ls__test_loop_start(&t);
  assert_int_equal(ls__loop_watch(&t.loop, &broken), LS_ESYSTEM);
  ls__test_loop_end(&t);
}

/* A task that is always due again does not keep descriptors and commands waiting for ever. */
static void test_busy_task_starves_nobody(void **state) {
  (void)state;
  struct counter counter;
  struct probe busy = {.every_ns = -1}; /* due in the past, at once and always */
  ls__test_loop_start(&t);
  ls__test_on_loop(&t, watch_counter, &counter);
  ls__test_on_loop(&t, set_probe, &busy);
  for (unsigned i = 1; i <= 20; i++) {
    raise_counter(&counter);
    assert_true(ls__test_until(atomic_load(&counter.runs) >= i));
  }
  ls__test_on_loop(&t, cancel_probe, &busy);
  ls__test_loop_end(&t);
  close(counter.source.fd);
}

/* Whoever wakes the loop is heard, however many do it at once. */
static _Atomic unsigned asked, heard;

static void *wake_often(void *self) {
  (void)self;
  for (int i = 0; i < 5000; i++) {
    unsigned mine = atomic_fetch_add(&asked, 1) + 1;
    ls__loop_wake(&t.loop);
    if (i % 500 == 0)
      while (atomic_load(&heard) < mine)
        sched_yield();
  }
  return NULL;
}

static void hear(void *self, int64_t now_ns) {
  atomic_store(&heard, atomic_load(&asked));
  ls__test_woken(self, now_ns);
}

static void listen_for_wakes(void *self, int64_t now_ns) {
  (void)self;
  (void)now_ns;
  t.loop.wake.ready = hear;
}

static void test_wake_from_many_threads(void **state) {
  (void)state;
  pthread_t threads[3];
  ls__test_loop_start(&t);
  ls__test_on_loop(&t, listen_for_wakes, NULL);
  asked = heard = 0;
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, wake_often, NULL), 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  assert_true(ls__test_until(atomic_load(&heard) == 15000));
  ls__test_loop_end(&t);
}

/* A loop without work sleeps: a wake-up a second, and each of its own commands. */
static void read_wakeups(void *self, int64_t now_ns) {
  (void)now_ns;
  *(uint64_t *)self = t.loop.wakeups;
}

static void test_idle_loop_sleeps(void **state) {
  (void)state;
  uint64_t before, after;
  ls__test_loop_start(&t);
  ls__test_on_loop(&t, read_wakeups, &before);
  usleep(100000);
  ls__test_on_loop(&t, read_wakeups, &after);
  ls__test_loop_end(&t);
  assert_in_range(after - before, 1, 3);
}

static void set_budget(void *self, int64_t now_ns) {
  (void)now_ns;
  ls__loop_budget(&t.loop, *(uint32_t *)self);
}

static void read_spun(void *self, int64_t now_ns) {
  (void)now_ns;
  *(uint64_t *)self = t.loop.spin.total_ns;
}

/* With a budget the loop spins before departures and stays within it; without, it never does. */
static void test_spin_budget(void **state) {
  (void)state;
  for (uint32_t percent = 0; percent <= 10; percent += 10) {
    struct probe probe = {.every_ns = 2 * LS_MS};
    uint64_t spun;
    struct counter counter;
    ls__test_loop_start(&t);
    ls__test_on_loop(&t, set_budget, &percent);
    ls__test_on_loop(&t, watch_counter, &counter);
    int64_t start_ns = ls__clock_now();
    probe.at_ns = start_ns;
    ls__test_on_loop(&t, set_probe, &probe);
    for (int i = 0; i < 30; i++) { /* descriptors are served while it spins */
      raise_counter(&counter);
      usleep(10000);
    }
    ls__test_on_loop(&t, read_spun, &spun);
    int64_t passed_ns = ls__clock_now() - start_ns;
    ls__test_loop_end(&t);
    close(counter.source.fd);
    assert_int_equal(counter.value, 30);
    /* A spin that was preempted may exceed the budget by its overrun: one slice of a busy core. */
    int64_t most_ns = passed_ns * percent / 100 + percent * LS_S / 1000 + percent * 10 * LS_MS;
    assert_in_range(spun, percent ? 1 : 0, most_ns);
  }
}

/* Every task of the named limit has its place. */
static void test_limit(void **state) {
  (void)state;
  struct probe *probes = calloc(LS__LOOP_TASKS_MAX, sizeof *probes);
  assert_non_null(probes);
  struct ls__loop loop;
  assert_int_equal(ls__loop_init(&loop, ls__test_woken, NULL), 0);
  for (unsigned i = 0; i < LS__LOOP_TASKS_MAX; i++)
    ls__loop_at(&loop, &probes[i].task, (int64_t)i);
  assert_int_equal(loop.tasks.count, LS__LOOP_TASKS_MAX);
  ls__loop_free(&loop);
  free(probes);
}

/* Without descriptors left there is an error and no leak. */
static void test_init_fails_clean(void **state) {
  (void)state;
  struct rlimit before, tight;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  int lowest = eventfd(0, 0); /* the next descriptor */
  close(lowest);
  unsigned open = ls__test_descriptors();
  for (rlim_t more = 0; more < 3; more++) {
    struct ls__loop loop;
    tight = before;
    tight.rlim_cur = (rlim_t)lowest + more;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int result = ls__loop_init(&loop, ls__test_woken, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(result, more < 2 ? LS_ESYSTEM : 0);
    if (result == 0)
      ls__loop_free(&loop);
    assert_int_equal(ls__test_descriptors(), open);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_cancel_and_move),
      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_busy_task_starves_nobody),
      cmocka_unit_test(test_wake_from_many_threads),
      cmocka_unit_test(test_idle_loop_sleeps),
      cmocka_unit_test(test_spin_budget),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_init_fails_clean),
  };
  return cmocka_run_group_tests_name("io/loop", tests, NULL, NULL);
}
