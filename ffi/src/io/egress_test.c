#include "io/egress.h"

#include "base/prng.h"
#include "base/testing.h"
#include "io/testing.h"
#include "lockstep.h"

#include <stdlib.h>

#define SLOTS 256

/* A backend that takes what the test allows it to, and notes it. */
struct recorder {
  unsigned take; /* packets taken by each call, at most */
  unsigned dead; /* calls that fail */
  int64_t lead_ns;
  unsigned opened, closed, calls;
  unsigned count;
  uint32_t lengths[4096];
  int64_t at_ns[4096], handed_ns[4096];
  int open_result;
};

static int record_open(void *self, char *err, uint32_t err_len) {
  struct recorder *recorder = self;
  recorder->opened++;
  if (recorder->open_result < 0 && err_len)
    snprintf(err, err_len, "no such card");
  return recorder->open_result;
}

static int record_submit(void *self, struct ls__departure *const *batch, unsigned count,
                         int64_t now_ns) {
  struct recorder *recorder = self;
  (void)now_ns;
  recorder->calls++;
  assert_in_range(count, 1, LS_BATCH);
  if (recorder->dead > 0) {
    recorder->dead--;
    return LS_ESYSTEM;
  }
  unsigned taken = count < recorder->take ? count : recorder->take;
  for (unsigned i = 0; i < taken; i++) {
    assert_true(recorder->count < 4096);
    recorder->lengths[recorder->count] = batch[i]->length;
    recorder->at_ns[recorder->count] = batch[i]->node.at_ns;
    recorder->handed_ns[recorder->count++] = ls__clock_now();
  }
  return (int)taken;
}

static void record_reap(void *self, struct ls__backend_errors *errors) {
  (void)self;
  *errors = (struct ls__backend_errors){.refused = 3, .last_errno = 101};
}

static int64_t record_lead(const void *self) {
  return ((const struct recorder *)self)->lead_ns;
}

static void record_close(void *self) {
  ((struct recorder *)self)->closed++;
}

static const struct ls__backend_ops record_ops = {.name = "record",
                                                  .open = record_open,
                                                  .submit = record_submit,
                                                  .reap = record_reap,
                                                  .lead = record_lead,
                                                  .close = record_close};

/* A loop that the test turns by hand: it runs the egress when its task is due. */
struct fixture {
  struct ls__loop loop;
  struct ls__egress egress;
  struct recorder recorder;
};

static struct fixture f;

static void no_command(void *self, int64_t now_ns) {
  (void)self;
  (void)now_ns;
}

static void begin(unsigned take) {
  memset(&f, 0, sizeof f);
  f.recorder.take = take;
  assert_int_equal(ls__loop_init(&f.loop, no_command, NULL), 0);
  struct ls__backend backend = {.ops = &record_ops, .self = &f.recorder};
  assert_int_equal(ls__egress_init_backend(&f.egress, &f.loop, backend, SLOTS, 100, NULL, 0), 0);
  assert_int_equal(f.recorder.opened, 1);
}

static void end(void) {
  ls__egress_free(&f.egress);
  assert_int_equal(f.recorder.closed, 1);
  assert_int_equal(f.loop.tasks.count, 0);
  ls__loop_free(&f.loop);
}

static void put(uint32_t length, int64_t at_ns) {
  struct ls__departure *departure = ls__egress_reserve(&f.egress);
  assert_non_null(departure);
  departure->length = length;
  ls__egress_commit(&f.egress, departure, at_ns);
}

static int64_t next_run(void) {
  return f.egress.task.node.place ? f.egress.task.node.at_ns : LS_NEVER;
}

static void test_order_and_time(void **state) {
  (void)state;
  begin(LS_BATCH);
  int64_t now_ns = ls__clock_now();
  for (uint32_t i = 0; i < 100; i++)
    put(i, now_ns + (int64_t)((i * 37) % 100) * LS_S);
  for (int64_t second = 0; second < 100; second++) {
    ls__egress_run(&f.egress, now_ns + second * LS_S);
    assert_int_equal(f.recorder.count, second + 1);
    assert_int_equal(f.recorder.at_ns[second], now_ns + second * LS_S);
    assert_int_equal(next_run(), second < 99 ? now_ns + (second + 1) * LS_S : LS_NEVER);
    assert_int_equal(ls__egress_waiting(&f.egress), 99 - second);
  }
  assert_int_equal(f.egress.sent, 100);
  end();
}

/* What the backend did not take stays first, and is offered again after the named time. */
static void test_partly_taken(void **state) {
  (void)state;
  begin(5);
  int64_t now_ns = ls__clock_now();
  for (uint32_t i = 0; i < 40; i++)
    put(i, now_ns - 40 + i);
  for (unsigned run = 1; run <= 8; run++) {
    int64_t before_ns = ls__clock_now();
    ls__egress_run(&f.egress, now_ns);
    assert_int_equal(f.recorder.calls, run); /* not pressed any further */
    assert_int_equal(f.recorder.count, 5 * run);
    if (run < 8)
      assert_true(next_run() >= before_ns + LS__EGRESS_RETRY_NS &&
                  next_run() <= ls__clock_now() + LS__EGRESS_RETRY_NS);
  }
  assert_int_equal(next_run(), LS_NEVER);
  for (uint32_t i = 0; i < 40; i++)
    assert_int_equal(f.recorder.lengths[i], i);
  end();
}

static void test_failing_backend_is_tried_again(void **state) {
  (void)state;
  begin(LS_BATCH);
  int64_t now_ns = ls__clock_now();
  put(1, now_ns);
  f.recorder.dead = 2;
  for (int run = 0; run < 2; run++) {
    ls__egress_run(&f.egress, now_ns);
    assert_int_equal(ls__egress_waiting(&f.egress), 1);
    assert_true(next_run() > now_ns && next_run() != LS_NEVER);
  }
  ls__egress_run(&f.egress, now_ns);
  assert_int_equal(ls__egress_waiting(&f.egress), 0);
  assert_int_equal(f.recorder.count, 1);
  end();
}

/* A backend with a lead gets its packets that much before their time. */
static void test_lead(void **state) {
  (void)state;
  begin(LS_BATCH);
  f.recorder.lead_ns = 300 * LS_US;
  int64_t now_ns = ls__clock_now();
  put(1, now_ns + 300 * LS_US);
  put(2, now_ns + 301 * LS_US);
  ls__egress_run(&f.egress, now_ns);
  assert_int_equal(f.recorder.count, 1);
  assert_int_equal(next_run(), now_ns + LS_US);
  end();
}

static void test_slots(void **state) {
  (void)state;
  begin(LS_BATCH);
  struct ls__departure *held[SLOTS];
  for (unsigned i = 0; i < SLOTS; i++)
    assert_non_null(held[i] = ls__egress_reserve(&f.egress));
  assert_null(ls__egress_reserve(&f.egress));
  for (unsigned i = 0; i < SLOTS; i++)
    ls__egress_abandon(&f.egress, held[i]);
  assert_int_equal(ls__egress_waiting(&f.egress), 0);
  for (unsigned i = 0; i < SLOTS; i++)
    put(i % 100, 0);
  ls__egress_run(&f.egress, 0);
  assert_int_equal(f.recorder.count, SLOTS);
  assert_non_null(held[0] = ls__egress_reserve(&f.egress));
  ls__egress_abandon(&f.egress, held[0]);
  end();
}

/* Lateness is the time from departure to hand-over; beyond 1 ms a packet counts as late. */
static void test_lateness(void **state) {
  (void)state;
  begin(LS_BATCH);
  int64_t now_ns = ls__clock_now();
  put(1, now_ns - 400 * LS_MS);
  put(2, now_ns);
  ls__egress_run(&f.egress, now_ns);
  assert_int_equal(f.egress.sent, 2);
  assert_in_range(f.egress.late, 1, 2); /* the second only if we were held up for 1 ms */
  assert_true(ls__histogram_max(&f.egress.lateness) >= 399 * LS_MS);
  assert_true(ls__histogram_min(&f.egress.lateness) < 100 * LS_MS);
  end();
}

static void test_errors_pass_through(void **state) {
  (void)state;
  begin(LS_BATCH);
  int reason = 0;
  assert_int_equal(ls__egress_refused(&f.egress, &reason), 3);
  assert_int_equal(reason, 101);
  end();
  struct ls__loop loop;
  struct ls__egress egress;
  struct recorder recorder = {.open_result = LS_ESYSTEM};
  struct ls__backend backend = {.ops = &record_ops, .self = &recorder};
  char err[64] = "";
  assert_int_equal(ls__loop_init(&loop, no_command, NULL), 0);
  assert_int_equal(ls__egress_init_backend(&egress, &loop, backend, SLOTS, 100, err, sizeof err),
                   LS_ESYSTEM);
  assert_string_equal(err, "no such card");
  assert_int_equal(recorder.closed, 0);
  ls__loop_free(&loop);
}

/* On a real loop and socket, with random times: nothing early, nothing lost, in order. */
struct random_run {
  struct ls__egress egress;
  struct ls__test_loop *loop;
  int fd;
  struct ls__addr to;
};

static void start_random(void *self, int64_t now_ns) {
  struct random_run *run = self;
  struct ls__prng prng;
  ls__prng_seed(&prng, 3);
  assert_int_equal(ls__egress_init(&run->egress, &run->loop->loop, run->fd, SLOTS, 16), 0);
  for (unsigned i = 0; i < SLOTS; i++) {
    struct ls__departure *departure = ls__egress_reserve(&run->egress);
    int64_t at_ns = now_ns + (int64_t)ls__prng_below(&prng, 100 * LS_MS);
    memcpy(departure->payload, &at_ns, sizeof at_ns);
    departure->length = sizeof at_ns;
    departure->to = run->to;
    ls__egress_commit(&run->egress, departure, at_ns);
  }
  ls__egress_run(&run->egress, now_ns);
}

static void end_random(void *self, int64_t now_ns) {
  (void)now_ns;
  ls__egress_free(&((struct random_run *)self)->egress);
}

static void test_on_a_loop(void **state) {
  (void)state;
  struct ls__test_loop loop;
  struct ls__udp_config config = {
      .local = {.family = 4, .bytes = {127, 0, 0, 1}}, .tos = -1, .ttl = -1};
  struct random_run run = {.loop = &loop, .fd = ls__udp_open(&config, NULL, 0)};
  int to = ls__udp_open(&config, NULL, 0);
  run.to = ls__udp_local(to);
  ls__test_loop_start(&loop);
  ls__test_on_loop(&loop, start_random, &run);
  int64_t last_ns = 0;
  for (unsigned i = 0; i < SLOTS; i++) {
    int64_t at_ns;
    ssize_t got;
    assert_true(ls__test_until((got = recv(to, &at_ns, sizeof at_ns, MSG_DONTWAIT)) > 0));
    assert_int_equal(got, sizeof at_ns);
    assert_true(at_ns >= last_ns && at_ns <= ls__clock_now());
    last_ns = at_ns;
  }
  ls__test_on_loop(&loop, end_random, &run);
  ls__test_loop_end(&loop);
  close(run.fd);
  close(to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_and_time),
      cmocka_unit_test(test_partly_taken),
      cmocka_unit_test(test_failing_backend_is_tried_again),
      cmocka_unit_test(test_lead),
      cmocka_unit_test(test_slots),
      cmocka_unit_test(test_lateness),
      cmocka_unit_test(test_errors_pass_through),
      cmocka_unit_test(test_on_a_loop),
  };
  return cmocka_run_group_tests_name("io/egress", tests, NULL, NULL);
}
