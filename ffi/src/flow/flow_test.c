#include "flow/flow.h"

#include "flow/testing.h"

#include <fcntl.h>
#include <sys/mman.h>

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

static void test_endpoints(void **state) {
  (void)state;
  int64_t flow = ls__test_flow(engine);
  static const struct {
    int32_t direction, kind, result;
  } rows[] = {
      {0, LS_KIND_UDP, LS_EINVAL},
      {3, LS_KIND_UDP, LS_EINVAL},
      {LS_INPUT, 0, LS_EINVAL},
      {LS_INPUT, 5, LS_EINVAL},
      {LS_INPUT, LS_KIND_CHECK, LS_EINVAL},
      {LS_OUTPUT, LS_KIND_CHECK, 1}, /* outputs count from 1, also before the input is there */
      {LS_INPUT, LS_KIND_SRT, 0},
      {LS_INPUT, LS_KIND_UDP, LS_ELIMIT},
      {LS_OUTPUT, LS_KIND_SRT, 2},
      {LS_OUTPUT, LS_KIND_FILE, 3},
      {LS_OUTPUT, LS_KIND_UDP, 4},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal(ls_endpoint_add(flow, rows[i].direction, rows[i].kind), rows[i].result);
  for (int32_t i = 5; i <= LS__OUTPUTS_MAX; i++)
    assert_int_equal(ls_endpoint_add(flow, LS_OUTPUT, LS_KIND_CHECK), i);
  assert_int_equal(ls_endpoint_add(flow, LS_OUTPUT, LS_KIND_CHECK), LS_ELIMIT);
  assert_int_equal(ls_close(flow), 0);
}

static void test_links(void **state) {
  (void)state;
  int64_t flow = ls__test_flow(engine);
  assert_int_equal(ls_link_add(flow, 0), LS_EINDEX);
  ls__test_add(flow, LS_INPUT, LS_KIND_SRT);
  ls__test_add(flow, LS_OUTPUT, LS_KIND_UDP);
  assert_int_equal(ls_link_add(flow, 1), LS_EINDEX); /* links are of SRT */
  assert_int_equal(ls_link_add(flow, 2), LS_EINDEX);
  assert_int_equal(ls_link_add(flow, -1), LS_EINDEX);
  for (int32_t i = 0; i < LS__FLOW_LINKS_MAX; i++) {
    int32_t link = ls_link_add(flow, 0);
    assert_int_equal(link, LS__LINK_BASE + i);
    ls__test_option(flow, link, "mode", i % 2 ? "listener" : "caller");
  }
  assert_int_equal(ls_link_add(flow, 0), LS_ELIMIT);
  char err[LS__TEST_ERR] = "";
  assert_int_equal(
      ls_option(flow, LS__LINK_BASE + LS__FLOW_LINKS_MAX, "mode", "caller", err, sizeof err),
      LS_EINDEX);
  assert_int_equal(ls_option(flow, LS__LINK_BASE, "mode", "rendezvous", err, sizeof err),
                   LS_EINVAL);
  assert_string_equal(err, "mode: 'rendezvous' is none of: caller listener");
  assert_int_equal(ls_start(flow, err, sizeof err), LS_EINVAL);
  assert_int_equal(ls_close(flow), 0);
}

/* A flow without SRT on its input does not look like one because of a link elsewhere. */
static void test_listening_port(void **state) {
  (void)state;
  struct ls__object *object = ls__flow_new();
  const struct ls__object_ops *ops = object->ops;
  assert_int_equal(ls__flow_add_endpoint(object, LS_INPUT, LS_KIND_UDP), 0);
  assert_int_equal(ls__flow_add_endpoint(object, LS_OUTPUT, LS_KIND_SRT), 1);
  int32_t link = ls__flow_add_link(object, 1);
  assert_false(ls__flow_from_srt((struct ls__flow *)object));
  assert_int_equal(ls__flow_local_port(object), 0);
  assert_int_equal(ops->option(object, link, "local", "127.0.0.1:7777", NULL, 0), 0);
  assert_int_equal(ls__flow_local_port(object), 7777);
  assert_int_equal(ops->option(object, link, "mode", "listener", NULL, 0), 0);
  assert_int_equal(ls__flow_local_port(object), 7777);
  ops->destroy(object);
}

static void test_statistics_indexes(void **state) {
  (void)state;
  int64_t flow = ls__test_flow(engine);
  struct ls__stats_endpoint endpoint;
  struct ls__stats_link link;
  struct ls__stats_flow own;
  ls__test_add_udp(flow, LS_INPUT, ls__test_port());
  int32_t number = ls__test_add_srt(flow, LS_OUTPUT, "listener", ls__test_port());
  for (int started = 0; started < 2; started++) {
    const struct {
      int32_t scope, index, result;
      void *buf;
      uint32_t len;
    } rows[] = {
        {LS_SCOPE_FLOW, LS_SELF, sizeof own, &own, sizeof own},
        {LS_SCOPE_FLOW, LS_SELF, LS_ESIZE, &own, sizeof own - 1},
        {LS_SCOPE_ENDPOINT, 0, sizeof endpoint, &endpoint, sizeof endpoint},
        {LS_SCOPE_ENDPOINT, 1, sizeof endpoint, &endpoint, sizeof endpoint},
        {LS_SCOPE_ENDPOINT, 2, LS_EINDEX, &endpoint, sizeof endpoint},
        {LS_SCOPE_ENDPOINT, LS_SELF, LS_EINDEX, &endpoint, sizeof endpoint},
        {LS_SCOPE_ENDPOINT, number, LS_EINDEX, &endpoint, sizeof endpoint},
        {LS_SCOPE_ENDPOINT, 1, LS_ESIZE, &endpoint, 0},
        {LS_SCOPE_LINK, number, sizeof link, &link, sizeof link},
        {LS_SCOPE_LINK, number + 1, LS_EINDEX, &link, sizeof link},
        {LS_SCOPE_LINK, 1, LS_EINDEX, &link, sizeof link},
        {LS_SCOPE_LINK, number, LS_ESIZE, &link, sizeof link + 8},
        {LS_SCOPE_RELAY, LS_SELF, LS_EINVAL, &link, sizeof link},
        {0, LS_SELF, LS_EINVAL, &link, sizeof link},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
      assert_int_equal(ls_stats(flow, rows[i].scope, rows[i].index, rows[i].buf, rows[i].len),
                       rows[i].result);
    assert_int_equal(own.state, started ? LS_FLOW_RUNNING : 0);
    assert_int_equal(own.links, started);
    if (!started)
      ls__test_start(flow);
  }
  assert_true(ls__test_until(ls_stats(flow, LS_SCOPE_FLOW, LS_SELF, &own, sizeof own) &&
                             own.running_ns > 100 * LS_MS));
  assert_int_equal(ls_close(flow), 0);
}

/* Each output gets every payload, whole and in order; the flow ends when all have it. */
static void test_many_outputs(void **state) {
  (void)state;
  enum { PAYLOADS = 500, FILES = LS__OUTPUTS_MAX - 1 };
  int files[FILES];
  uint8_t payload[1316];
  uint16_t port = ls__test_port(), out = ls__test_port();
  int source = ls__test_socket(0), sink = ls__test_socket(out);
  int64_t flow = ls__test_flow(engine);
  ls__test_option(flow, LS_SELF, "name", "many");
  ls__test_add_udp(flow, LS_INPUT, port);
  ls__test_add_udp(flow, LS_OUTPUT, out);
  for (unsigned i = 0; i < FILES; i++)
    ls__test_add_fd(flow, LS_OUTPUT, files[i] = memfd_create("out", MFD_CLOEXEC));
  ls__test_start(flow);
  for (unsigned i = 0; i < PAYLOADS; i++) {
    memset(payload, (int)i, sizeof payload);
    ls__test_send(source, port, payload, sizeof payload);
  }
  for (unsigned i = 0; i < PAYLOADS; i++) {
    assert_int_equal(ls__test_receive(sink, payload, sizeof payload), sizeof payload);
    assert_int_equal(payload[7], i & 0xff);
  }
  assert_true(ls__test_until(ls__test_endpoint(flow, 0).packets == PAYLOADS));
  assert_int_equal(ls_stop(flow), 0);
  ls__test_ended(engine, flow);
  for (int32_t i = 0; i <= LS__OUTPUTS_MAX; i++) {
    assert_int_equal(ls__test_endpoint(flow, i).packets, PAYLOADS);
    assert_int_equal(ls__test_endpoint(flow, i).bytes, PAYLOADS * sizeof payload);
  }
  for (unsigned i = 0; i < FILES; i++) {
    assert_int_equal(lseek(files[i], 0, SEEK_END), PAYLOADS * sizeof payload);
    for (unsigned j = 0; j < PAYLOADS; j++) {
      uint8_t byte;
      assert_int_equal(pread(files[i], &byte, 1, (off_t)(j * sizeof payload + 1315)), 1);
      assert_int_equal(byte, j & 0xff);
    }
    close(files[i]);
  }
  close(source);
  close(sink);
}

/* One output that fails does not take the others with it, nor hold them up, however much waited
 * for it. */
static void test_one_output_fails(void **state) {
  (void)state;
  enum { BYTES = 20 << 20 };
  int64_t flow = ls__test_flow(engine);
  int clip = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC), ends[2];
  assert_int_equal(ftruncate(clip, BYTES), 0);
  assert_int_equal(pipe(ends), 0);
  ls__test_add_fd(flow, LS_INPUT, clip);
  int32_t broken = ls__test_add_fd(flow, LS_OUTPUT, ends[1]);
  ls__test_add_fd(flow, LS_OUTPUT, out);
  ls__test_start(flow);
  uint64_t before = 0, now = 0;
  do { /* nobody reads the pipe: the input waits for room */
    before = now;
    usleep(2 * LS__PUBLISH_NS / 1000);
    now = ls__test_endpoint(flow, 0).bytes;
  } while (now == 0 || now != before);
  assert_true(now < BYTES);
  close(ends[0]);
  struct ls_event event = ls__test_event(engine, flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.index, broken);
  assert_string_equal(event.text, "cannot write to 'standard output': Broken pipe");
  assert_string_equal(ls__test_ended(engine, flow).text, "end of the input");
  assert_int_equal(lseek(out, 0, SEEK_END), BYTES);
  assert_int_equal(ls__test_endpoint(flow, broken).errors, 1);
  assert_true(ls__test_endpoint(flow, broken).dropped_full > 0);
  assert_int_equal(ls__test_endpoint(flow, 2).dropped_full, 0);
  close(clip);
  close(out);
  close(ends[1]);
}

/* What the peers of a flow say is printed by programs: it must not forge a line or a colour. */
static void test_event_text_is_printable(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  int64_t listener = ls__test_flow(engine), caller = ls__test_flow(engine);
  ls__test_add_srt(listener, LS_INPUT, "listener", port);
  ls__test_add(listener, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_add_udp(caller, LS_INPUT, ls__test_port());
  ls__test_add_srt(caller, LS_OUTPUT, "caller", port);
  ls__test_option(caller, 1, "stream_id", "a\033[31mb\ncaf\xc3\xa9\x7f");
  ls__test_start(listener);
  ls__test_start(caller);
  struct ls_event event = ls__test_event(engine, listener, LS_EVENT_LINK_STATE, LS_LINK_CONNECTED);
  assert_non_null(strstr(event.text, "stream ID a?[31mb?caf\xc3\xa9?"));
  assert_null(strpbrk(event.text, "\033\n\x7f"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_endpoints, begin, end),
      cmocka_unit_test_setup_teardown(test_links, begin, end),
      cmocka_unit_test(test_listening_port),
      cmocka_unit_test_setup_teardown(test_statistics_indexes, begin, end),
      cmocka_unit_test_setup_teardown(test_many_outputs, begin, end),
      cmocka_unit_test_setup_teardown(test_one_output_fails, begin, end),
      cmocka_unit_test_setup_teardown(test_event_text_is_printable, begin, end),
  };
  return cmocka_run_group_tests_name("flow/flow", tests, NULL, NULL);
}
