#include "flow/engine.h"

#include "base/prng.h"
#include "flow/testing.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

/* A flow that runs by itself: an idle UDP input to a check output. */
static int64_t idle_flow(int64_t engine, uint16_t port) {
  int64_t flow = ls__test_flow(engine);
  ls__test_add_udp(flow, LS_INPUT, port);
  ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
  return flow;
}

static void test_versions(void **state) {
  (void)state;
  assert_int_equal(ls_abi_version(), LS_ABI_VERSION);
  assert_int_equal(ls_layout_hash(), LS__STATS_LAYOUT_HASH);
  assert_int_equal(sizeof(struct ls_event), 256);
  char text[64];
  int32_t len = ls_error_describe(LS_EHANDLE, text, sizeof text);
  assert_string_equal(text, "LS_EHANDLE: the handle is unknown or was closed");
  assert_int_equal(len, strlen(text));
  assert_int_equal(ls_error_describe(LS_EHANDLE, text, 5), 4);
  assert_string_equal(text, "LS_E");
  len = ls_error_describe(-12345, text, sizeof text);
  assert_string_equal(text, "LS_EUNKNOWN: unknown error");
  assert_int_equal(len, strlen(text));
  assert_int_equal(ls_error_describe(LS_EHANDLE, NULL, 5), LS_ESIZE);
  assert_int_equal(ls_error_describe(LS_EHANDLE, text, 0), LS_ESIZE);
}

static void test_open_limits(void **state) {
  (void)state;
  char err[LS__TEST_ERR];
  assert_int_equal(ls_engine_open(0, err, sizeof err), LS_EINVAL);
  assert_string_equal(err, "threads: 0 is not from 1 to 16");
  assert_int_equal(ls_engine_open(17, err, sizeof err), LS_EINVAL);
  assert_string_equal(err, "threads: 17 is not from 1 to 16");
  assert_int_equal(ls_engine_open(17, NULL, 0), LS_EINVAL);
  unsigned before = ls__test_descriptors();
  int64_t engines[LS__ENGINES_MAX];
  for (unsigned i = 0; i < LS__ENGINES_MAX; i++)
    engines[i] = ls__test_engine(1);
  assert_int_equal(ls_engine_open(1, err, sizeof err), LS_ELIMIT);
  assert_string_equal(err, "cannot start the engine: a limit was reached");
  for (unsigned i = 0; i < LS__ENGINES_MAX; i++)
    assert_int_equal(ls_close(engines[i]), 0);
  assert_int_equal(ls__test_descriptors(), before);
}

/* Every call with a handle that is not, or no longer, one. */
static void expect_stale(int64_t handle) {
  char err[LS__TEST_ERR];
  struct ls_event event;
  uint64_t block[64];
  assert_int_equal(ls_flow_open(handle), LS_EHANDLE);
  assert_int_equal(ls_relay_open(handle), LS_EHANDLE);
  assert_int_equal(ls_endpoint_add(handle, LS_INPUT, LS_KIND_UDP), LS_EHANDLE);
  assert_int_equal(ls_link_add(handle, 0), LS_EHANDLE);
  assert_int_equal(ls_option(handle, LS_SELF, "name", "x", err, sizeof err), LS_EHANDLE);
  assert_string_equal(err, "the handle is unknown or was closed");
  assert_int_equal(ls_start(handle, err, sizeof err), LS_EHANDLE);
  assert_string_equal(err, "the handle is unknown or was closed");
  assert_int_equal(ls_stop(handle), LS_EHANDLE);
  assert_int_equal(ls_close(handle), LS_EHANDLE);
  assert_int_equal(ls_event_wait(handle, &event, sizeof event, 0), LS_EHANDLE);
  assert_int_equal(ls_stats(handle, LS_SCOPE_FLOW, LS_SELF, block, sizeof block), LS_EHANDLE);
}

static void test_stale_handles(void **state) {
  (void)state;
  int64_t engine = ls__test_engine(1);
  int64_t closed = ls__test_flow(engine), open = ls__test_flow(engine);
  assert_int_equal(ls_close(closed), 0);
  int64_t next = ls__test_flow(engine); /* in the place of the closed one */
  assert_int_not_equal(next, closed);
  const int64_t odd[] = {closed,
                         0,
                         -1,
                         1,
                         INT64_MAX,
                         INT64_MIN,
                         open ^ 1 << 14,
                         open ^ 1 << 10,
                         engine ^ 1 << 19,
                         open | 1 << 19,
                         open + (INT64_C(1) << 20),
                         next ^ 1};
  for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++)
    expect_stale(odd[i]);
  struct ls__prng prng;
  ls__prng_seed(&prng, 5);
  for (int i = 0; i < 2000; i++) {
    int64_t handle = (int64_t)(ls__prng_next(&prng) >> ls__prng_below(&prng, 60));
    if (handle != engine && handle != open && handle != next)
      assert_int_equal(ls_stop(handle), LS_EHANDLE);
  }
  assert_int_equal(ls_stop(open), LS_ESTATE); /* it is known, and not started */
  assert_int_equal(ls_close(engine), 0);
  expect_stale(engine);
  expect_stale(open);
}

/* A flow's handle of a closed engine means nothing to the next engine in its place. */
static void test_stale_after_engine(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    int64_t engine = ls__test_engine(1);
    int64_t flow = ls__test_flow(engine);
    assert_int_equal(ls_close(engine), 0);
    int64_t engine2 = ls__test_engine(1);
    int64_t flow2 = ls__test_flow(engine2);
    assert_int_not_equal(engine2, engine);
    assert_int_not_equal(flow2, flow);
    expect_stale(flow);
    expect_stale(engine);
    assert_int_equal(ls_close(engine2), 0);
  }
}

/* A handle of one kind where another is meant. */
static void test_wrong_kind(void **state) {
  (void)state;
  char err[LS__TEST_ERR];
  uint64_t block[64];
  struct ls_event event;
  int64_t engine = ls__test_engine(1);
  int64_t flow = ls__test_flow(engine), relay = ls_relay_open(engine);
  assert_int_equal(ls_flow_open(flow), LS_EHANDLE);
  assert_int_equal(ls_relay_open(flow), LS_EHANDLE);
  assert_int_equal(ls_endpoint_add(engine, LS_INPUT, LS_KIND_UDP), LS_EHANDLE);
  assert_int_equal(ls_endpoint_add(relay, LS_INPUT, LS_KIND_UDP), LS_EHANDLE);
  assert_int_equal(ls_link_add(relay, 0), LS_EHANDLE);
  assert_int_equal(ls_start(engine, err, sizeof err), LS_EHANDLE);
  assert_int_equal(ls_stop(engine), LS_EHANDLE);
  assert_int_equal(ls_event_wait(flow, &event, sizeof event, 0), LS_EHANDLE);
  assert_int_equal(ls_stats(engine, LS_SCOPE_FLOW, LS_SELF, block, sizeof block), LS_EINVAL);
  assert_int_equal(ls_stats(flow, LS_SCOPE_ENGINE, LS_SELF, block, sizeof block), LS_EINVAL);
  assert_int_equal(ls_stats(flow, 99, LS_SELF, block, sizeof block), LS_EINVAL);
  assert_int_equal(ls_close(engine), 0);
}

static void test_sizes(void **state) {
  (void)state;
  struct ls_event event;
  struct ls__stats_engine stats;
  int64_t engine = ls__test_engine(1);
  assert_int_equal(ls_event_wait(engine, &event, sizeof event - 1, 0), LS_ESIZE);
  assert_int_equal(ls_event_wait(engine, NULL, sizeof event, 0), LS_ESIZE);
  assert_int_equal(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, NULL, sizeof stats), LS_ESIZE);
  assert_int_equal(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &stats, sizeof stats + 8), LS_ESIZE);
  assert_int_equal(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &stats, sizeof stats), sizeof stats);
  assert_int_equal(ls_close(engine), 0);
}

static void test_option_sentences(void **state) {
  (void)state;
  int64_t engine = ls__test_engine(1);
  int64_t flow = idle_flow(engine, ls__test_port());
  const struct {
    int64_t handle;
    int32_t index;
    const char *name, *value;
    int result;
    const char *sentence;
  } rows[] = {
      {engine, LS_SELF, "spin_budget_percent", "101", LS_EINVAL,
       "spin_budget_percent: '101' is not a whole number from 0 to 100"},
      {engine, LS_SELF, "nosuch", "1", LS_EOPTION, "there is no option 'nosuch' here"},
      {engine, 0, "spin_budget_percent", "1", LS_EINDEX, "an engine has no endpoint 0"},
      {engine, LS_SELF, NULL, "1", LS_EINVAL, "an option needs a name and a value"},
      {engine, LS_SELF, "realtime_priority", NULL, LS_EINVAL, "an option needs a name and a value"},
      {flow, 17, "local", ":5", LS_EINDEX, "the flow has no endpoint or link 17"},
      {flow, -2, "local", ":5", LS_EINDEX, "the flow has no endpoint or link -2"},
      {flow, 1, "anything", "1", LS_EOPTION, "there is no option 'anything' here"},
      {flow, 0, "local", "host:5", LS_EINVAL,
       "local: 'host:5' is not an address like 192.0.2.1:5000, [2001:db8::1]:5000 or :5000"},
      {flow, LS_SELF, "stop_with_link", "maybe", LS_EINVAL,
       "stop_with_link: 'maybe' is neither true nor false"},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    char err[LS__TEST_ERR] = "";
    assert_int_equal(
        ls_option(rows[i].handle, rows[i].index, rows[i].name, rows[i].value, err, sizeof err),
        rows[i].result);
    assert_string_equal(err, rows[i].sentence);
    char tight[8] = "";
    ls_option(rows[i].handle, rows[i].index, rows[i].name, rows[i].value, tight, sizeof tight);
    assert_memory_equal(tight, err, 7);
    assert_int_equal(tight[7], 0);
  }
  assert_int_equal(ls_close(engine), 0);
}

/* After the first start nothing of an engine is changed, whether that start worked or not. */
static void test_options_and_state(void **state) {
  (void)state;
  char err[LS__TEST_ERR];
  int64_t engine = ls__test_engine(2);
  uint16_t port = ls__test_port();
  int64_t flow = idle_flow(engine, port);
  ls__test_option(engine, LS_SELF, "spin_budget_percent", "0");
  ls__test_start(flow);
  assert_int_equal(ls_start(flow, err, sizeof err), LS_ESTATE);
  assert_string_equal(err, "already started");
  assert_int_equal(ls_option(flow, LS_SELF, "name", "x", err, sizeof err), LS_ESTATE);
  assert_string_equal(err, "name: cannot be changed after the start");
  assert_int_equal(ls_endpoint_add(flow, LS_OUTPUT, LS_KIND_CHECK), LS_ESTATE);
  assert_int_equal(ls_link_add(flow, 0), LS_ESTATE);
  static const char sentence[] = "spin_budget_percent: set it before the first start";
  assert_int_equal(ls_option(engine, LS_SELF, "spin_budget_percent", "1", err, sizeof err),
                   LS_ESTATE);
  assert_string_equal(err, sentence);
  assert_int_equal(ls_close(flow), 0);
  assert_int_equal(ls_option(engine, LS_SELF, "spin_budget_percent", "1", err, sizeof err),
                   LS_ESTATE);
  assert_string_equal(err, sentence);
  assert_int_equal(ls_close(engine), 0);
}

static void test_object_limit(void **state) {
  (void)state;
  int64_t engine = ls__test_engine(1);
  int64_t *flows = calloc(LS__OBJECTS_MAX, sizeof *flows);
  for (unsigned i = 0; i < LS__OBJECTS_MAX; i++)
    flows[i] = i % 2 ? ls__test_flow(engine) : ls_relay_open(engine);
  assert_int_equal(ls_flow_open(engine), LS_ELIMIT);
  assert_int_equal(ls_relay_open(engine), LS_ELIMIT);
  assert_int_equal(ls_close(flows[700]), 0);
  assert_true(ls_flow_open(engine) > 0);
  assert_int_equal(ls_close(engine), 0);
  free(flows);
}

static size_t in_use(void) {
  return mallinfo2().uordblks;
}

/* Two hundred lives of an engine that works leave neither descriptors nor memory behind. */
static void test_open_close_often(void **state) {
  (void)state;
  unsigned descriptors = 0;
  size_t bytes = 0;
  for (int i = 0; i < 200; i++) {
    int64_t engine = ls__test_engine(1 + i % 2);
    int64_t flow = ls__test_flow(engine);
    uint16_t port = ls__test_port();
    ls__test_add_udp(flow, LS_INPUT, port);
    ls__test_add_srt(flow, LS_OUTPUT, i % 3 ? "caller" : "listener", ls__test_port());
    ls__test_number(flow, 1, "buffer_packets", 256);
    ls__test_start(flow);
    if (i % 4 == 0)
      assert_int_equal(ls_stop(flow), 0);
    if (i % 5 == 0)
      assert_int_equal(ls_close(flow), 0);
    assert_int_equal(ls_close(engine), 0);
    if (i == 19) { /* what is taken once and kept, is taken by now */
      descriptors = ls__test_descriptors();
      bytes = in_use();
    }
  }
  assert_int_equal(ls__test_descriptors(), descriptors);
  assert_true(in_use() <= bytes + 65536);
}

/* Without descriptors an engine does not open, at whichever step, and keeps none. */
static void test_open_fails_clean(void **state) {
  (void)state;
  struct rlimit before, tight;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  int lowest = open("/dev/null", O_RDONLY);
  close(lowest);
  unsigned descriptors = ls__test_descriptors();
  for (rlim_t more = 0; more < 5; more++) { /* one event, and two for each of two reactors */
    char err[LS__TEST_ERR] = "";
    tight = before;
    tight.rlim_cur = (rlim_t)lowest + more;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int64_t engine = ls_engine_open(2, err, sizeof err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(engine, LS_ESYSTEM);
    assert_string_equal(err, "cannot start the engine: the operating system refused");
    assert_int_equal(ls__test_descriptors(), descriptors);
  }
}

/* A start that fails leaves everything closed, and works once the cause is gone. */
static void test_start_fails_and_works_later(void **state) {
  (void)state;
  char err[LS__TEST_ERR] = "", wanted[200];
  int64_t engine = ls__test_engine(1);
  uint16_t port = ls__test_port(), listen = ls__test_port();
  int taken = ls__test_socket(port);
  int64_t flow = ls__test_flow(engine);
  ls__test_add_udp(flow, LS_INPUT, port);
  ls__test_add_udp(flow, LS_OUTPUT, 9);
  ls__test_add_srt(flow, LS_OUTPUT, "listener", listen);
  int32_t file = ls__test_add(flow, LS_OUTPUT, LS_KIND_FILE);
  ls__test_option(flow, file, "path", "/dev/null");
  unsigned descriptors = ls__test_descriptors();
  snprintf(wanted, sizeof wanted,
           "cannot listen on 127.0.0.1:%u: Address already in use" LS__TEST_IN_USE, port);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(ls_start(flow, err, sizeof err), LS_ESYSTEM);
    assert_string_equal(err, wanted);
    assert_int_equal(ls__test_descriptors(), descriptors);
    assert_int_equal(ls_stop(flow), LS_ESTATE);
  }
  close(ls__test_socket(listen)); /* it was released */
  close(taken);
  ls__test_start(flow);
  ls__test_event(engine, flow, LS_EVENT_FLOW_STATE, LS_FLOW_RUNNING);
  assert_int_equal(ls_stop(flow), 0);
  assert_string_equal(ls__test_ended(engine, flow).text, "stopped");
  assert_int_equal(ls_close(engine), 0);
}

/* What is missing or wrong is said in a sentence, before anything is opened. */
static void test_start_sentences(void **state) {
  (void)state;
  static const struct {
    int32_t kind; /* of the output; the input is UDP */
    const char *name, *value;
    int result;
    const char *sentence;
  } rows[] = {
      {0, NULL, NULL, LS_EINVAL, "a flow needs one input and at least one output"},
      {LS_KIND_UDP, NULL, NULL, LS_EINVAL, "a UDP output needs remote, an address with a port"},
      {LS_KIND_UDP, "remote", "127.0.0.1:0", LS_EINVAL,
       "a UDP output needs remote, an address with a port"},
      {LS_KIND_UDP, "interface", "nosuch0", LS_ESYSTEM,
       "there is no interface 'nosuch0': `ip link` lists those there are"},
      {LS_KIND_FILE, NULL, NULL, LS_EINVAL, "a file output needs path or fd"},
      {LS_KIND_FILE, "path", "/nosuch/file", LS_ESYSTEM,
       "cannot write to '/nosuch/file': No such file or directory"},
      {LS_KIND_FILE, "path", "/", LS_ESYSTEM, "cannot write to '/': Is a directory"},
      {LS_KIND_SRT, NULL, NULL, LS_EINVAL, "an SRT endpoint needs exactly one link, it has 0"},
  };
  int64_t engine = ls__test_engine(1);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    char err[LS__TEST_ERR] = "";
    int64_t flow = ls__test_flow(engine);
    unsigned descriptors = ls__test_descriptors();
    ls__test_add_udp(flow, LS_INPUT, ls__test_port());
    if (rows[i].kind)
      ls__test_add(flow, LS_OUTPUT, rows[i].kind);
    if (rows[i].result == LS_ESYSTEM && rows[i].kind == LS_KIND_UDP)
      ls__test_local(flow, 1, "remote", 9);
    if (rows[i].name)
      ls__test_option(flow, 1, rows[i].name, rows[i].value);
    assert_int_equal(ls_start(flow, err, sizeof err), rows[i].result);
    assert_string_equal(err, rows[i].sentence);
    assert_int_equal(ls__test_descriptors(), descriptors);
    assert_int_equal(ls_close(flow), 0);
  }
  assert_int_equal(ls_close(engine), 0);
}

/* A close ends a wait on another thread, however many wait, and wherever the close comes. */
struct waiter {
  pthread_t thread;
  int64_t engine;
  int32_t result;
  int64_t returned_ns;
};

static void *wait_long(void *self) {
  struct waiter *waiter = self;
  struct ls_event event;
  do
    waiter->result = ls_event_wait(waiter->engine, &event, sizeof event, 30000);
  while (waiter->result > 0);
  waiter->returned_ns = ls__clock_now();
  return NULL;
}

static void test_close_ends_waits(void **state) {
  (void)state;
  for (unsigned round = 0; round < 20; round++) {
    struct waiter waiters[3];
    int64_t engine = ls__test_engine(1);
    int64_t flow = idle_flow(engine, ls__test_port());
    ls__test_start(flow);
    for (unsigned i = 0; i < 3; i++) {
      waiters[i].engine = engine;
      assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_long, &waiters[i]), 0);
    }
    if (round % 2)
      usleep(10000);
    int64_t start_ns = ls__clock_now();
    assert_int_equal(ls_close(engine), 0);
    for (unsigned i = 0; i < 3; i++) {
      pthread_join(waiters[i].thread, NULL);
      assert_int_equal(waiters[i].result, LS_EHANDLE);
      assert_true(waiters[i].returned_ns - start_ns < 5 * LS_S);
    }
  }
}

/* Many threads open, use and close at once, on one engine that closes under them. */
static void *use_engine(void *self) {
  int64_t engine = *(int64_t *)self;
  for (;;) {
    struct ls__stats_engine stats;
    int64_t flow = ls_flow_open(engine);
    if (flow < 0)
      return NULL;
    if (ls_endpoint_add(flow, LS_INPUT, LS_KIND_UDP) == 0 &&
        ls_option(flow, 0, "local", "127.0.0.1:0", NULL, 0) == 0)
      ls_start(flow, NULL, 0);
    ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &stats, sizeof stats);
    ls_close(flow);
    ls_close(flow);
  }
}

static void test_close_under_calls(void **state) {
  (void)state;
  for (unsigned round = 0; round < 10; round++) {
    pthread_t threads[4];
    int64_t engine = ls__test_engine(2);
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, use_engine, &engine), 0);
    usleep(5000);
    assert_int_equal(ls_close(engine), 0);
    for (unsigned i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
  }
}

static void test_statistics(void **state) {
  (void)state;
  struct ls__stats_engine before, after;
  int64_t engine = ls__test_engine(2);
  int64_t flow = idle_flow(engine, ls__test_port());
  ls__test_start(flow);
  usleep(2 * LS__PUBLISH_NS / 1000);
  assert_int_equal(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &before, sizeof before),
                   sizeof before);
  assert_true(ls__test_until(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &after, sizeof after) ==
                                 sizeof after &&
                             after.wakeups > before.wakeups));
  assert_int_equal(after.events_lost, 0);
  assert_int_equal(after.spin_ns, 0);
  assert_int_equal(ls__test_flow_state(flow), LS_FLOW_RUNNING);
  assert_int_equal(ls_close(engine), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_versions),          cmocka_unit_test(test_open_limits),
      cmocka_unit_test(test_stale_handles),     cmocka_unit_test(test_stale_after_engine),
      cmocka_unit_test(test_wrong_kind),        cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_option_sentences),  cmocka_unit_test(test_options_and_state),
      cmocka_unit_test(test_object_limit),      cmocka_unit_test(test_open_close_often),
      cmocka_unit_test(test_open_fails_clean),  cmocka_unit_test(test_start_fails_and_works_later),
      cmocka_unit_test(test_start_sentences),   cmocka_unit_test(test_close_ends_waits),
      cmocka_unit_test(test_close_under_calls), cmocka_unit_test(test_statistics),
  };
  return cmocka_run_group_tests_name("flow/engine", tests, NULL, NULL);
}
