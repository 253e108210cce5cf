/* One engine, four reactor threads, eight flows that come and go at random, and threads that look
 * on: what the thread sanitizer is for. One seed makes one sequence for each operator. */
#include "base/prng.h"
#include "flow/testing.h"

#include <stdlib.h>

#define SLOTS 8
#define OPERATORS 2
#define WATCHERS 3
#define ROUND_MS 800

static int64_t engine;
static _Atomic int64_t slots[SLOTS]; /* handles, 0: none */
static uint16_t ports[SLOTS];        /* of 127.0.0.1, each used by the two flows of a pair */
static _Atomic bool over;
static _Atomic unsigned started, ended;

/* Nothing may answer with anything but these, whatever else happens at the time. What fails outside
 * of the main thread ends the program: cmocka could not take it. */
static void check_result(int64_t result) {
  switch (result) {
  case LS_EHANDLE: /* closed by another operator */
  case LS_ESTATE:  /* started or not yet started by it */
  case LS_ESYSTEM: /* its port is in use */
  case LS_EINVAL:  /* half configured */
  case LS_EINDEX:
  case LS_ELIMIT:
    return;
  default:
    LS_ASSERT(result >= 0);
  }
}

static void set(int64_t flow, int32_t index, const char *name, const char *value) {
  char err[LS__TEST_ERR];
  check_result(ls_option(flow, index, name, value, err, sizeof err));
}

static void set_port(int64_t flow, int32_t index, const char *name, uint16_t port) {
  char text[32];
  snprintf(text, sizeof text, "127.0.0.1:%u", port);
  set(flow, index, name, text);
}

/* Odd slots send by SRT to the even slots before them, or listen for them. */
static void configure(int64_t flow, unsigned slot, bool calls) {
  bool sends = slot & 1;
  int32_t input = ls_endpoint_add(flow, LS_INPUT, sends ? LS_KIND_FILE : LS_KIND_SRT);
  int32_t output = ls_endpoint_add(flow, LS_OUTPUT, sends ? LS_KIND_SRT : LS_KIND_CHECK);
  int32_t link = ls_link_add(flow, sends ? output : input);
  check_result(input);
  check_result(output);
  check_result(link);
  if (sends) {
    set(flow, input, "path", "/dev/zero");
    set(flow, input, "pace", "rate");
    set(flow, input, "rate_bps", "4000000");
    check_result(ls_endpoint_add(flow, LS_OUTPUT, LS_KIND_CHECK));
  } else {
    set(flow, input, "receive_latency_ns", "20000000");
  }
  set(flow, sends ? output : input, "buffer_packets", "256");
  set(flow, link, "mode", calls ? "caller" : "listener");
  set_port(flow, link, calls ? "remote" : "local", ports[slot / 2]);
}

static void open_slot(unsigned slot, struct ls__prng *prng) {
  int64_t none = 0, flow = ls_flow_open(engine);
  check_result(flow);
  if (flow < 0)
    return;
  if (!atomic_compare_exchange_strong(&slots[slot], &none, flow)) {
    check_result(ls_close(flow));
    return;
  }
  configure(flow, slot, ls__prng_below(prng, 2));
  int32_t result = ls_start(flow, NULL, 0);
  check_result(result);
  atomic_fetch_add(&started, result == 0);
}

static void *operate(void *self) {
  struct ls__prng prng;
  ls__prng_seed(&prng, *(uint64_t *)self);
  while (!atomic_load(&over)) {
    unsigned slot = (unsigned)ls__prng_below(&prng, SLOTS);
    int64_t flow = atomic_load(&slots[slot]);
    switch (flow ? ls__prng_below(&prng, 6) : 5) {
    case 0:
      check_result(ls_stop(flow));
      break;
    case 1:
      if (atomic_compare_exchange_strong(&slots[slot], &flow, 0))
        check_result(ls_close(flow));
      break;
    case 2:
      check_result(ls_start(flow, NULL, 0));
      break;
    case 3:
      set(flow, LS_SELF, "name", "x");
      break;
    case 5:
      open_slot(slot, &prng);
      break;
    default:
      usleep((useconds_t)ls__prng_below(&prng, 10000));
    }
  }
  return NULL;
}

/* While one handle lives, its counters only grow. */
static void watch_slot(int64_t flow, int64_t *last_flow, struct ls__stats_endpoint *last) {
  struct ls__stats_endpoint now;
  struct ls__stats_link link;
  struct ls__stats_flow own;
  check_result(ls_stats(flow, LS_SCOPE_FLOW, LS_SELF, &own, sizeof own));
  check_result(ls_stats(flow, LS_SCOPE_LINK, 0x10000, &link, sizeof link));
  int32_t result = ls_stats(flow, LS_SCOPE_ENDPOINT, 0, &now, sizeof now);
  check_result(result);
  if (result < 0)
    return;
  if (*last_flow == flow) {
    LS_ASSERT(now.packets >= last->packets);
    LS_ASSERT(now.bytes >= last->bytes);
    LS_ASSERT((now.bytes > 0) == (now.packets > 0)); /* of one moment */
  }
  *last_flow = flow;
  *last = now;
}

static void *watch(void *self) {
  int64_t last_flow[SLOTS] = {0};
  struct ls__stats_endpoint last[SLOTS];
  struct ls__stats_engine stats;
  (void)self;
  while (!atomic_load(&over)) {
    struct ls_event event;
    int32_t result = ls_event_wait(engine, &event, sizeof event, 5);
    check_result(result);
    if (result == 1) {
      LS_ASSERT(event.kind != 0);
      LS_ASSERT(memchr(event.text, 0, sizeof event.text));
      atomic_fetch_add(&ended, event.kind == LS_EVENT_FLOW_STATE && event.code == LS_FLOW_ENDED);
    }
    check_result(ls_stats(engine, LS_SCOPE_ENGINE, LS_SELF, &stats, sizeof stats));
    for (unsigned i = 0; i < SLOTS; i++) {
      int64_t flow = atomic_load(&slots[i]);
      if (flow)
        watch_slot(flow, &last_flow[i], &last[i]);
    }
  }
  return NULL;
}

/* Some rounds close the engine while everybody is still at it. */
static void test_everything_at_once(void **state) {
  (void)state;
  unsigned descriptors = ls__test_descriptors();
  for (uint64_t seed = 1; seed <= 4; seed++) {
    pthread_t operators[OPERATORS], watchers[WATCHERS];
    uint64_t seeds[OPERATORS];
    engine = ls__test_engine(4);
    over = false;
    started = ended = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
      slots[i] = 0;
      ports[i] = ls__test_port();
    }
    for (unsigned i = 0; i < OPERATORS; i++) {
      seeds[i] = seed * 100 + i;
      assert_int_equal(pthread_create(&operators[i], NULL, operate, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < WATCHERS; i++)
      assert_int_equal(pthread_create(&watchers[i], NULL, watch, NULL), 0);
    usleep(ROUND_MS * 1000);
    if (seed % 2)
      assert_int_equal(ls_close(engine), 0);
    over = true;
    for (unsigned i = 0; i < OPERATORS; i++)
      pthread_join(operators[i], NULL);
    for (unsigned i = 0; i < WATCHERS; i++)
      pthread_join(watchers[i], NULL);
    if (seed % 2 == 0)
      assert_int_equal(ls_close(engine), 0);
    assert_true(started > 10 && ended > 0);
    assert_int_equal(ls__test_descriptors(), descriptors);
  }
}

/* Eight flows over four threads carry their streams side by side without a loss. */
static void test_side_by_side(void **state) {
  (void)state;
  static uint8_t clip[LS__TEST_CLIP][LS_TS_SIZE];
  int64_t flows[SLOTS];
  char path[64];
  ls__test_clip(clip);
  int file = ls__test_file(clip, sizeof clip, path);
  engine = ls__test_engine(4);
  for (unsigned i = 0; i < SLOTS; i += 2) {
    uint16_t port = ls__test_port();
    for (unsigned j = i; j < i + 2; j++)
      flows[j] = ls__test_flow(engine);
    ls__test_add_srt(flows[i], LS_INPUT, "listener", port);
    ls__test_add(flows[i], LS_OUTPUT, LS_KIND_CHECK);
    int32_t input = ls__test_add(flows[i + 1], LS_INPUT, LS_KIND_FILE);
    ls__test_option(flows[i + 1], input, "path", path);
    ls__test_option(flows[i + 1], input, "pace", "pcr");
    ls__test_option(flows[i + 1], input, "rate_bps", "4000000");
    ls__test_option(flows[i + 1], input, "loop", "true");
    ls__test_option(flows[i + 1], input, "marker", "true");
    ls__test_add_srt(flows[i + 1], LS_OUTPUT, "caller", port);
    ls__test_start(flows[i]);
    ls__test_start(flows[i + 1]);
  }
  for (unsigned i = 0; i < SLOTS; i += 2) {
    struct ls__stats_endpoint stats;
    assert_true(
        ls__test_until((stats = ls__test_endpoint(flows[i], 1), stats.check_ts_packets >= 3000)));
    assert_int_equal(stats.check_ts_lost + stats.check_ts_wrong + stats.errors, 0);
  }
  assert_int_equal(ls_close(engine), 0);
  close(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_at_once),
      cmocka_unit_test(test_side_by_side),
  };
  return cmocka_run_group_tests_name("tests/threads", tests, NULL, NULL);
}
