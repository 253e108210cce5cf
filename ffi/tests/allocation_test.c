/* Nothing allocates on the data path: this program puts itself before the system's allocator and
 * counts. It is built without sanitizers, which have an allocator of their own (CMakeLists.txt). */
#include "flow/testing.h"
#include "srt/handshake.h"
#include "srt/packet.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *at);

static _Atomic bool counting;
static _Atomic unsigned allocations, frees;
/* Who asked first: what `addr2line` makes a line of. */
static void *_Atomic first_caller;

static void count(_Atomic unsigned *calls, void *caller) {
  void *none = NULL;
  if (!atomic_load(&counting))
    return;
  atomic_fetch_add(calls, 1);
  atomic_compare_exchange_strong(&first_caller, &none, caller);
}

/* Seen by the C library too, which calls them for its own needs. */
#pragma GCC visibility push(default)

void *malloc(size_t size) {
  count(&allocations, __builtin_return_address(0));
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(&allocations, __builtin_return_address(0));
  return __libc_calloc(number, size);
}

void *realloc(void *at, size_t size) {
  count(&allocations, __builtin_return_address(0));
  return __libc_realloc(at, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(&allocations, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  count(&allocations, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size) {
  count(&allocations, __builtin_return_address(0));
  *at = __libc_memalign(alignment, size);
  return *at ? 0 : ENOMEM;
}

void free(void *at) {
  if (at)
    count(&frees, __builtin_return_address(0));
  __libc_free(at);
}

#pragma GCC visibility pop

static void start_counting(void) {
  atomic_store(&allocations, 0);
  atomic_store(&frees, 0);
  atomic_store(&first_caller, NULL);
  atomic_store(&counting, true);
}

static void expect_none(void) {
  atomic_store(&counting, false);
  if (allocations + frees > 0)
    fail_msg("%u allocations and %u frees, the first from %p", allocations, frees,
             atomic_load(&first_caller));
}

/* The counting is in place: otherwise the tests below could not fail. */
static void test_counts(void **state) {
  (void)state;
  void *volatile at;
  void *aligned;
  start_counting();
  at = malloc(10);
  at = realloc(at, 20);
  free(at);
  free(NULL);
  at = calloc(2, 10);
  free(at);
  at = aligned_alloc(64, 64);
  free(at);
  assert_int_equal(posix_memalign(&aligned, 64, 64), 0);
  free(aligned);
  at = strdup("inside the C library");
  free(at);
  atomic_store(&counting, false);
  assert_int_equal(allocations, 6);
  assert_int_equal(frees, 5);
  assert_non_null(atomic_load(&first_caller));
}

static int64_t engine;

/* A looped clip by SRT through a relay with loss to UDP and a check. */
struct chain {
  int64_t sender, relay, receiver;
  int32_t check, send_link, receive_link;
};

static struct chain start_chain(const char *clip, uint16_t sink) {
  struct chain c = {.sender = ls__test_flow(engine),
                    .relay = ls_relay_open(engine),
                    .receiver = ls__test_flow(engine)};
  uint16_t front = ls__test_port(), back = ls__test_port();
  int32_t input = ls__test_add(c.sender, LS_INPUT, LS_KIND_FILE);
  ls__test_option(c.sender, input, "path", clip);
  ls__test_option(c.sender, input, "pace", "pcr");
  ls__test_option(c.sender, input, "rate_bps", "8000000");
  ls__test_option(c.sender, input, "loop", "true");
  ls__test_option(c.sender, input, "marker", "true");
  c.send_link = ls__test_add_srt(c.sender, LS_OUTPUT, "caller", front);
  ls__test_local(c.relay, LS_SELF, "local", front);
  ls__test_local(c.relay, LS_SELF, "target", back);
  ls__test_option(c.relay, LS_SELF, "loss", "0.01");
  ls__test_option(c.relay, LS_SELF, "delay_ns", "10000000");
  c.receive_link = ls__test_add_srt(c.receiver, LS_INPUT, "listener", back);
  ls__test_option(c.receiver, 0, "receive_latency_ns", "300000000");
  ls__test_add_udp(c.receiver, LS_OUTPUT, sink);
  c.check = ls__test_add(c.receiver, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_start(c.receiver);
  ls__test_start(c.relay);
  ls__test_start(c.sender);
  return c;
}

static void test_data_path(void **state) {
  (void)state;
  static uint8_t clip[LS__TEST_CLIP][LS_TS_SIZE];
  char path[64];
  uint16_t port = ls__test_port();
  ls__test_clip(clip);
  int file = ls__test_file(clip, sizeof clip, path), sink = ls__test_socket(port);
  engine = ls__test_engine(2);
  struct chain c = start_chain(path, port);
  assert_true(ls__test_until(ls__test_endpoint(c.receiver, c.check).check_ts_packets > 0));
  usleep(1000000);
  struct ls__stats_link before = ls__test_link(c.receiver, c.receive_link);
  start_counting();
  struct ls_event event;
  uint8_t payload[1500];
  int64_t until_ns = ls__clock_now() + 3 * LS_S;
  while (ls__clock_now() < until_ns) { /* what control and a viewer do meanwhile */
    ls_event_wait(engine, &event, sizeof event, 10);
    ls__test_endpoint(c.receiver, c.check);
    ls__test_link(c.sender, c.send_link);
    while (recv(sink, payload, sizeof payload, MSG_DONTWAIT) > 0)
      ;
  }
  expect_none();
  struct ls__stats_link after = ls__test_link(c.receiver, c.receive_link);
  struct ls__stats_endpoint check = ls__test_endpoint(c.receiver, c.check);
  assert_true(after.packets_received_unique - before.packets_received_unique > 2000);
  assert_true(after.packets_recovered - before.packets_recovered > 5);
  assert_int_equal(check.check_ts_lost + check.check_ts_wrong, 0);
  assert_int_equal(ls_close(engine), 0);
  close(file);
  close(sink);
}

/* A flood of requests for a connection costs no memory: a listener keeps no state of a caller
 * before its cookie comes back. */
static void test_flood(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  int source = ls__test_socket(0);
  engine = ls__test_engine(1);
  int64_t flow = ls__test_flow(engine);
  int32_t link = ls__test_add_srt(flow, LS_INPUT, "listener", port);
  ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_start(flow);
  usleep(100000);
  start_counting();
  unsigned answers = 0;
  for (uint32_t i = 0; i < 100000; i++) {
    uint8_t data[LS_DATAGRAM_MAX];
    struct ls__handshake hs = {.version = 4,
                               .extension = LS__HS_DGRAM,
                               .isn = i,
                               .mss = 1500,
                               .window_packets = 8192,
                               .request = LS__REQUEST_INDUCTION,
                               .socket_id = i + 1};
    struct ls__header header = {.control = true, .type = LS__CONTROL_HANDSHAKE};
    ls__header_put(&header, data);
    size_t len = LS_HEADER_BYTES + ls__handshake_put(&hs, data + LS_HEADER_BYTES);
    ls__test_send(source, port, data, len);
    while (recv(source, data, sizeof data, MSG_DONTWAIT) > 0)
      answers++;
  }
  expect_none();
  assert_true(answers > 1000);
  assert_int_equal(ls__test_link(flow, link).connections, 0);
  assert_int_equal(ls_close(engine), 0);
  close(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_data_path),
      cmocka_unit_test(test_flood),
  };
  return cmocka_run_group_tests_name("tests/allocation", tests, NULL, NULL);
}
