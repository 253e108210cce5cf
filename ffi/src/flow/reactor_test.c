/* Events on their way out of reactors, and what they publish. */
#include "flow/reactor.h"

#include "flow/engine.h"
#include "flow/testing.h"

/* Whole events that fit into a ring that nobody reads. */
#define HELD (LS__EVENT_RING / (sizeof(struct ls_event) + sizeof(uint32_t)))

static int64_t engine;

static int begin(void **state) {
  (void)state;
  engine = ls__test_engine(1);
  return 0;
}

static int end(void **state) {
  (void)state;
  return ls_close(engine);
}

static int64_t idle_flow(void) {
  int64_t flow = ls__test_flow(engine);
  ls__test_add_udp(flow, LS_INPUT, ls__test_port());
  ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
  return flow;
}

static struct ls_event next(int32_t timeout_ms) {
  struct ls_event event = {.kind = 0};
  int32_t result = ls_event_wait(engine, &event, sizeof event, timeout_ms);
  assert_int_equal(result, event.kind ? 1 : 0);
  return event;
}

/* The life of a flow, in order, with handle, time and reason. */
static void test_life_of_a_flow(void **state) {
  (void)state;
  int64_t flow = idle_flow(), before_ns = ls__clock_real();
  ls__test_start(flow);
  assert_int_equal(ls_stop(flow), 0);
  assert_int_equal(ls_stop(flow), 0); /* again: nothing more */
  static const struct {
    int32_t code;
    const char *text;
  } wanted[] = {
      {LS_FLOW_RUNNING, "running"}, {LS_FLOW_DRAINING, "stopped"}, {LS_FLOW_ENDED, "stopped"}};
  for (unsigned i = 0; i < 3; i++) {
    struct ls_event event = next(LS__TEST_PATIENCE_MS);
    assert_int_equal(event.kind, LS_EVENT_FLOW_STATE);
    assert_int_equal(event.code, wanted[i].code);
    assert_string_equal(event.text, wanted[i].text);
    assert_int_equal(event.handle, flow);
    assert_int_equal(event.index, LS_SELF);
    assert_int_equal(event.reserved, 0);
    assert_true(event.at_ns >= before_ns && event.at_ns <= ls__clock_real());
  }
  assert_int_equal(ls_stop(flow), 0); /* it has ended: nothing to do */
  assert_int_equal(next(50).kind, 0);
  assert_int_equal(ls__test_flow_state(flow), LS_FLOW_ENDED);
  assert_int_equal(ls_close(flow), 0);
}

/* A wait lasts as long as it says when nothing comes, and ends at once when something does. */
static void *start_later(void *self) {
  usleep(100000);
  ls__test_start(*(int64_t *)self);
  return NULL;
}

static void test_wait(void **state) {
  (void)state;
  int64_t start_ns = ls__clock_now();
  assert_int_equal(next(0).kind, 0);
  assert_int_equal(next(-5).kind, 0);
  assert_true(ls__clock_now() - start_ns < 50 * LS_MS);
  start_ns = ls__clock_now();
  assert_int_equal(next(120).kind, 0);
  assert_true(ls__clock_now() - start_ns >= 120 * LS_MS);
  int64_t flow = idle_flow();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, start_later, &flow), 0);
  start_ns = ls__clock_now();
  assert_int_equal(next(30000).code, LS_FLOW_RUNNING);
  assert_true(ls__clock_now() - start_ns < 10 * LS_S);
  pthread_join(thread, NULL);
  assert_int_equal(ls_close(flow), 0);
}

static void start_and_close(unsigned times) {
  uint16_t port = ls__test_port();
  for (unsigned i = 0; i < times; i++) {
    int64_t flow = ls__test_flow(engine);
    ls__test_add_udp(flow, LS_INPUT, port);
    ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
    ls__test_start(flow);
    assert_int_equal(ls_close(flow), 0);
  }
}

/* What does not fit into the ring is counted, and the reader is told once it reads on. */
static void test_overflow(void **state) {
  (void)state;
  const unsigned lost = 37;
  struct ls__stats_engine stats;
  start_and_close(HELD + lost);
  assert_true(ls__test_until(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &stats, sizeof stats) ==
                                 sizeof stats &&
                             stats.events_lost == lost));
  for (unsigned i = 0; i < HELD; i++)
    assert_int_equal(next(0).code, LS_FLOW_RUNNING);
  struct ls_event event = next(LS__TEST_PATIENCE_MS);
  assert_int_equal(event.kind, LS_EVENT_LOST);
  assert_int_equal(event.code, lost);
  assert_int_equal(event.index, LS_SELF);
  assert_int_equal(event.handle, 0);
  assert_string_equal(event.text, "37 events were lost because nobody read them");
  assert_int_equal(next(2 * LS__PUBLISH_NS / LS_MS).kind, 0); /* told once */
  start_and_close(1);
  assert_int_equal(next(LS__TEST_PATIENCE_MS).code, LS_FLOW_RUNNING);
}

/* Several waiters: an event that one leaves wakes another. */
static _Atomic unsigned taken;

static void *take_events(void *self) {
  unsigned all = *(unsigned *)self;
  struct ls_event event;
  while (atomic_load(&taken) < all &&
         ls_event_wait(engine, &event, sizeof event, LS__TEST_PATIENCE_MS) == 1) {
    if (event.kind == LS_EVENT_FLOW_STATE)
      atomic_fetch_add(&taken, 1);
    usleep(200000); /* busy with it, while the others wait */
  }
  return NULL;
}

static void test_many_waiters(void **state) {
  (void)state;
  pthread_t threads[3];
  for (unsigned round = 1; round <= 3; round++) {
    unsigned all = 3;
    taken = 0;
    for (unsigned i = 0; i < 3; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, take_events, &all), 0);
    usleep(20000);
    int64_t start_ns = ls__clock_now();
    start_and_close(3);
    for (unsigned i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
    assert_int_equal(taken, 3);
    assert_true(ls__clock_now() - start_ns < 3 * LS_S);
  }
}

/* With several reactors each one's events come out, though another's ring is never empty. */
static void test_reactors_in_turn(void **state) {
  (void)state;
  assert_int_equal(ls_close(engine), 0);
  engine = ls__test_engine(4);
  start_and_close(400); /* round robin: a hundred each */
  int64_t flows[4];
  for (unsigned i = 0; i < 4; i++) {
    flows[i] = idle_flow();
    ls__test_start(flows[i]);
  }
  unsigned seen = 0;
  for (unsigned i = 0; i < 404; i++) {
    struct ls_event event = next(0);
    assert_int_equal(event.code, LS_FLOW_RUNNING);
    for (unsigned j = 0; j < 4; j++)
      seen += event.handle == flows[j];
    assert_int_equal(seen, i >= 400 ? i - 399 : 0); /* the newest of each come last */
  }
  assert_int_equal(next(0).kind, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_life_of_a_flow, begin, end),
      cmocka_unit_test_setup_teardown(test_wait, begin, end),
      cmocka_unit_test_setup_teardown(test_overflow, begin, end),
      cmocka_unit_test_setup_teardown(test_many_waiters, begin, end),
      cmocka_unit_test_setup_teardown(test_reactors_in_turn, begin, end),
  };
  return cmocka_run_group_tests_name("flow/reactor", tests, NULL, NULL);
}
