#include "flow/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* A flow from a UDP socket of the test to a file output without options. */
struct passage {
  int64_t flow;
  int32_t output;
  uint16_t port;
  int source;
};

static struct passage prepare(void) {
  struct passage p = {.port = ls__test_port(), .source = ls__test_socket(0)};
  p.flow = ls__test_flow(engine);
  ls__test_add_udp(p.flow, LS_INPUT, p.port);
  p.output = ls__test_add(p.flow, LS_OUTPUT, LS_KIND_FILE);
  return p;
}

static void finish(const struct passage *p) {
  assert_int_equal(ls_close(p->flow), 0);
  close(p->source);
}

/* Passes one text, and ends the flow when it has been taken in. */
static void pass(const struct passage *p, const char *text) {
  ls__test_start(p->flow);
  ls__test_send(p->source, p->port, text, strlen(text));
  assert_true(ls__test_until(ls__test_endpoint(p->flow, 0).packets == 1));
  assert_int_equal(ls_stop(p->flow), 0);
  assert_string_equal(ls__test_ended(engine, p->flow).text, "stopped");
}

/* A new file, one that is overwritten, one that is written on; the mode leaves others' writing
 * out. */
static void test_how_it_opens(void **state) {
  (void)state;
  static const struct {
    const char *append, *wanted;
  } rows[] = {{"false", "first"}, {"false", "second"}, {"true", "secondthird"}};
  static const char *const texts[] = {"first", "second", "third"};
  char directory[] = "/tmp/lockstep-test-XXXXXX", path[80], got[32] = "";
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/file", directory);
  for (unsigned i = 0; i < 3; i++) {
    struct passage p = prepare();
    ls__test_option(p.flow, p.output, "path", path);
    ls__test_option(p.flow, p.output, "append", rows[i].append);
    pass(&p, texts[i]);
    FILE *file = fopen(path, "r");
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    assert_string_equal(got, rows[i].wanted);
    finish(&p);
  }
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0133, 0);
  unlink(path);
  rmdir(directory);
}

static void test_descriptor(void **state) {
  (void)state;
  char path[64], got[16];
  int fd = ls__test_file("", 0, path);
  struct passage p = prepare();
  ls__test_number(p.flow, p.output, "fd", fd);
  pass(&p, "hello");
  finish(&p);
  assert_int_equal(pread(fd, got, sizeof got, 0), 5); /* it stays the caller's */
  close(fd);
}

/* A reader that goes away is told once, with the reason, and ends a flow that has no other
 * output. */
static void test_reader_goes_away(void **state) {
  (void)state;
  int ends[2];
  char got[8];
  assert_int_equal(pipe(ends), 0);
  struct passage p = prepare();
  ls__test_number(p.flow, p.output, "fd", ends[1]);
  ls__test_start(p.flow);
  ls__test_send(p.source, p.port, "a", 1);
  assert_int_equal(read(ends[0], got, sizeof got), 1);
  close(ends[0]);
  ls__test_send(p.source, p.port, "b", 1);
  struct ls_event event = ls__test_event(engine, p.flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.code, EPIPE);
  assert_int_equal(event.index, p.output);
  assert_string_equal(event.text, "cannot write to 'standard output': Broken pipe");
  assert_string_equal(ls__test_ended(engine, p.flow).text, "the output failed");
  assert_int_equal(ls__test_endpoint(p.flow, p.output).errors, 1);
  finish(&p);
  close(ends[1]);
}

/* A reader that goes away while the flow ends: its warning comes before the end. */
static void test_error_before_end(void **state) {
  (void)state;
  for (unsigned i = 0; i < 20; i++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct passage p = prepare();
    ls__test_number(p.flow, p.output, "fd", ends[1]);
    ls__test_add(p.flow, LS_OUTPUT, LS_KIND_CHECK);
    ls__test_start(p.flow);
    close(ends[0]);
    ls__test_send(p.source, p.port, "b", 1);
    assert_true(ls__test_until(ls__test_endpoint(p.flow, 0).packets == 1));
    assert_int_equal(ls_stop(p.flow), 0);
    struct ls_event event;
    do
      assert_int_equal(ls_event_wait(engine, &event, sizeof event, LS__TEST_PATIENCE_MS), 1);
    while (event.kind != LS_EVENT_WARNING && event.code != LS_FLOW_ENDED);
    assert_int_equal(event.kind, LS_EVENT_WARNING);
    ls__test_ended(engine, p.flow);
    finish(&p);
    close(ends[1]);
  }
}

/* A reader that sleeps holds up neither the thread nor other flows on it; what does not fit is
 * counted; the end comes once it reads, or at once by a close. */
static void test_sleeping_reader(void **state) {
  (void)state;
  enum { PAYLOADS = 6000 };
  for (int reads = 0; reads < 2; reads++) {
    static uint8_t payload[1316], got[65536];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct passage p = prepare(), other = prepare();
    uint16_t out = ls__test_port();
    int sink = ls__test_socket(out);
    ls__test_number(p.flow, p.output, "fd", ends[1]);
    ls__test_option(other.flow, other.output, "path", "/dev/null");
    ls__test_add_udp(other.flow, LS_OUTPUT, out);
    ls__test_start(p.flow);
    ls__test_start(other.flow);
    int64_t longest_ns = 0;
    for (unsigned i = 0; i < PAYLOADS; i++) {
      ls__test_send(p.source, p.port, payload, sizeof payload);
      if (i % 100)
        continue;
      int64_t start_ns = ls__clock_now();
      ls__test_send(other.source, other.port, "x", 1);
      assert_int_equal(ls__test_receive(sink, got, sizeof got), 1);
      longest_ns = ls__time_max(longest_ns, ls__clock_now() - start_ns);
    }
    assert_true(longest_ns < LS_S);
    struct ls__stats_endpoint stats;
    assert_true(ls__test_until((stats = ls__test_endpoint(p.flow, p.output),
                                stats.dropped_full + stats.packets == PAYLOADS)));
    assert_true(stats.dropped_full > 0 && stats.packets > 2000);
    assert_int_equal(ls_stop(p.flow), 0);
    assert_true(ls__test_until(ls__test_flow_state(p.flow) == LS_FLOW_DRAINING));
    size_t total = 0;
    while (reads && total < stats.bytes) {
      ssize_t len = read(ends[0], got, sizeof got);
      assert_true(len > 0);
      total += (size_t)len;
    }
    if (reads)
      assert_string_equal(ls__test_ended(engine, p.flow).text, "stopped");
    int64_t start_ns = ls__clock_now();
    finish(&p);
    assert_true(ls__clock_now() - start_ns < LS_S);
    finish(&other);
    close(ends[0]);
    close(ends[1]);
    close(sink);
  }
}

/* A named pipe that nobody reads is a refusal with words, not a wait of all flows. */
static void test_fifo(void **state) {
  (void)state;
  char directory[] = "/tmp/lockstep-test-XXXXXX", path[80], got[8], err[LS__TEST_ERR] = "",
       wanted[200];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/fifo", directory);
  assert_int_equal(mkfifo(path, 0600), 0);
  snprintf(wanted, sizeof wanted, "nobody reads the pipe '%s': start its reader first", path);
  struct passage p = prepare();
  ls__test_option(p.flow, p.output, "path", path);
  assert_int_equal(ls_start(p.flow, err, sizeof err), LS_ESYSTEM);
  assert_string_equal(err, wanted);
  int reader = open(path, O_RDONLY | O_NONBLOCK);
  pass(&p, "hello");
  assert_int_equal(read(reader, got, sizeof got), 5);
  finish(&p);
  close(reader);
  unlink(path);
  rmdir(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_how_it_opens, begin, end),
      cmocka_unit_test_setup_teardown(test_descriptor, begin, end),
      cmocka_unit_test_setup_teardown(test_reader_goes_away, begin, end),
      cmocka_unit_test_setup_teardown(test_error_before_end, begin, end),
      cmocka_unit_test_setup_teardown(test_sleeping_reader, begin, end),
      cmocka_unit_test_setup_teardown(test_fifo, begin, end),
  };
  return cmocka_run_group_tests_name("flow/file_output", tests, NULL, NULL);
}
