#include "base/prng.h"
#include "flow/testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static int64_t engine;
static uint8_t clip[LS__TEST_CLIP][LS_TS_SIZE];

static int begin(void **state) {
  (void)state;
  engine = ls__test_engine(1);
  ls__test_clip(clip);
  return 0;
}

static int end(void **state) {
  (void)state;
  return ls_close(engine);
}

static void test_refusals_say_why(void **state) {
  (void)state;
  char path[64], directory[] = "/tmp/lockstep-test-XXXXXX", fifo[80];
  int file = ls__test_file(clip, sizeof clip, path);
  assert_non_null(mkdtemp(directory));
  snprintf(fifo, sizeof fifo, "%s/fifo", directory);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  char fifo_sentence[200];
  snprintf(fifo_sentence, sizeof fifo_sentence,
           "cannot read the clip '%s': a looped clip must be a regular file", fifo);
  const struct {
    const char *names[4], *values[4];
    int result;
    const char *sentence;
  } rows[] = {
      {{NULL}, {NULL}, LS_EINVAL, "a file input needs path or fd"},
      {{"path"}, {"/nosuch"}, LS_ESYSTEM, "cannot open '/nosuch': No such file or directory"},
      {{"path", "marker"}, {path, "true"}, LS_EINVAL, "marker: works with loop only"},
      {{"path", "pace"}, {path, "rate"}, LS_EINVAL, "pace: rate needs rate_bps"},
      {{"path", "loop"}, {path, "true"}, LS_EINVAL, "loop: needs path, pace=pcr and rate_bps"},
      {{"path", "loop", "pace"},
       {path, "true", "pcr"},
       LS_EINVAL,
       "loop: needs path, pace=pcr and rate_bps"},
      {{"fd", "loop", "pace", "rate_bps"},
       {"0", "true", "pcr", "2000000"},
       LS_EINVAL,
       "loop: needs path, pace=pcr and rate_bps"},
      {{"path", "loop", "pace", "rate_bps"},
       {"/nosuch", "true", "pcr", "2000000"},
       LS_ESYSTEM,
       "cannot read the clip '/nosuch': No such file or directory"},
      {{"path", "loop", "pace", "rate_bps"},
       {"/", "true", "pcr", "2000000"},
       LS_ESYSTEM,
       "cannot read the clip '/': a looped clip must be a regular file"},
      {{"path", "loop", "pace", "rate_bps"},
       {fifo, "true", "pcr", "2000000"}, /* nobody opens its other end: this must not wait */
       LS_ESYSTEM,
       fifo_sentence},
      {{"path", "loop", "pace", "rate_bps"},
       {"/dev/null", "true", "pcr", "2000000"},
       LS_ESYSTEM,
       "cannot read the clip '/dev/null': a looped clip must be a regular file"},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    char err[LS__TEST_ERR] = "";
    int64_t flow = ls__test_flow(engine);
    int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_FILE);
    ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
    for (unsigned j = 0; j < 4 && rows[i].names[j]; j++)
      ls__test_option(flow, input, rows[i].names[j], rows[i].values[j]);
    unsigned descriptors = ls__test_descriptors();
    for (int twice = 0; twice < 2; twice++) {
      assert_int_equal(ls_start(flow, err, sizeof err), rows[i].result);
      assert_string_equal(err, rows[i].sentence);
    }
    assert_int_equal(ls__test_descriptors(), descriptors);
    assert_int_equal(ls_close(flow), 0);
  }
  unlink(fifo);
  rmdir(directory);
  close(file);
}

/* A flow from a descriptor or path to a memory file, as fast as it goes. */
static void test_copy(void **state) {
  (void)state;
  static const size_t lengths[] = {0, 1, 1315, 1316, 1317, 13160, 3000001};
  struct ls__prng prng;
  ls__prng_seed(&prng, 2);
  uint8_t *bytes = malloc(3000001), *back = malloc(3000001);
  for (size_t i = 0; i < 3000001; i++)
    bytes[i] = (uint8_t)ls__prng_next(&prng);
  for (unsigned i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
    char path[64], out_path[64];
    size_t len = lengths[i / 2];
    int in = ls__test_file(bytes, len, path), out = ls__test_file("old", 3, out_path);
    int64_t flow = ls__test_flow(engine);
    int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_FILE);
    int32_t output = ls__test_add(flow, LS_OUTPUT, LS_KIND_FILE);
    if (i % 2)
      ls__test_option(flow, input, "path", path);
    else
      ls__test_number(flow, input, "fd", in);
    ls__test_option(flow, output, "path", out_path);
    ls__test_start(flow);
    assert_string_equal(ls__test_ended(engine, flow).text, "end of the input");
    assert_int_equal(lseek(out, 0, SEEK_END), len);
    assert_int_equal(pread(out, back, len, 0), len);
    assert_memory_equal(back, bytes, len);
    assert_int_equal(ls__test_endpoint(flow, input).packets, (len + 1315) / 1316);
    assert_int_equal(ls__test_endpoint(flow, output).bytes, len);
    assert_int_equal(ls__test_endpoint(flow, output).dropped_full, 0);
    assert_int_equal(ls_close(flow), 0);
    close(in);
    close(out);
  }
  free(bytes);
  free(back);
}

/* What cannot be read ends the flow with the reason; a directory opens, and fails then. */
static void test_read_error(void **state) {
  (void)state;
  int64_t flow = ls__test_flow(engine);
  int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_FILE);
  ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_option(flow, input, "path", "/proc");
  ls__test_start(flow);
  struct ls_event event = ls__test_event(engine, flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.index, input);
  assert_string_equal(event.text, "'/proc': Is a directory");
  assert_string_equal(ls__test_ended(engine, flow).text, "the input failed");
  assert_int_equal(ls__test_endpoint(flow, input).errors, 1);
}

/* A flow to a UDP socket of the test, which sees when each payload comes. */
struct timed {
  int64_t flow;
  int32_t input;
  int sink;
};

static struct timed open_timed(const char *pace) {
  struct timed t;
  uint16_t port = ls__test_port();
  t.sink = ls__test_socket(port);
  t.flow = ls__test_flow(engine);
  t.input = ls__test_add(t.flow, LS_INPUT, LS_KIND_FILE);
  ls__test_option(t.flow, t.input, "pace", pace);
  ls__test_add_udp(t.flow, LS_OUTPUT, port);
  return t;
}

static void close_timed(const struct timed *t) {
  assert_int_equal(ls_close(t->flow), 0);
  close(t->sink);
}

/* Payloads must come when they are due: none before, which is exact on any machine, and half of
 * them not long after. */
struct punctuality {
  int64_t zero_ns; /* before the first was sent */
  int64_t late_ns[2000];
  unsigned count;
};

static void note(struct punctuality *p, int64_t offset_ns) {
  int64_t late_ns = ls__clock_now() - p->zero_ns - offset_ns;
  assert_true(late_ns >= 0);
  p->late_ns[p->count++] = late_ns;
}

static int by_value(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

static void check_punctual(struct punctuality *p) {
  qsort(p->late_ns, p->count, sizeof *p->late_ns, by_value);
  assert_true(p->late_ns[p->count / 2] - p->late_ns[0] <= 100 * LS_MS);
}

static void test_pcr_pace(void **state) {
  enum { PLAYED = 500 };
  (void)state;
  for (int by_pipe = 0; by_pipe < 2; by_pipe++) {
    char path[64];
    uint8_t payload[2048];
    int ends[2] = {-1, -1}, file = ls__test_file(clip, PLAYED * LS_TS_SIZE, path);
    struct timed t = open_timed("pcr");
    if (by_pipe) { /* standard input, filled ahead */
      assert_int_equal(pipe(ends), 0);
      ls__test_number(t.flow, t.input, "fd", ends[0]);
    } else {
      ls__test_option(t.flow, t.input, "path", path);
    }
    struct punctuality p = {.zero_ns = ls__clock_now()};
    ls__test_start(t.flow);
    if (by_pipe) {
      assert_int_equal(write(ends[1], clip, PLAYED * LS_TS_SIZE), PLAYED * LS_TS_SIZE);
      close(ends[1]);
    }
    for (unsigned at = 0; at < PLAYED; at += 7) {
      size_t packets = at + 7 > PLAYED ? PLAYED - at : 7;
      size_t len = ls__test_receive(t.sink, payload, sizeof payload);
      assert_int_equal(len, packets * LS_TS_SIZE);
      assert_memory_equal(payload, clip[at], len);
      note(&p, at * LS_MS);
    }
    assert_string_equal(ls__test_ended(engine, t.flow).text, "end of the input");
    check_punctual(&p);
    close_timed(&t);
    close(file);
    if (by_pipe)
      close(ends[0]);
  }
}

static void test_rate_pace(void **state) {
  (void)state;
  static uint8_t bytes[100003];
  char path[64];
  uint8_t payload[2048];
  int file = ls__test_file(bytes, sizeof bytes, path);
  struct timed t = open_timed("rate");
  ls__test_option(t.flow, t.input, "path", path);
  ls__test_option(t.flow, t.input, "rate_bps", "2000000");
  ls__test_option(t.flow, t.input, "payload_size", "1000");
  struct punctuality p = {.zero_ns = ls__clock_now()};
  ls__test_start(t.flow);
  for (size_t at = 0; at < sizeof bytes;) {
    size_t len = ls__test_receive(t.sink, payload, sizeof payload);
    assert_int_equal(len, sizeof bytes - at < 1000 ? sizeof bytes - at : 1000);
    note(&p, (int64_t)at * 4 * LS_US);
    at += len;
  }
  ls__test_ended(engine, t.flow);
  check_punctual(&p);
  close_timed(&t);
  close(file);
}

/* A source that stops and goes on is carried on at its pace: neither in a burst, nor for ever
 * behind its time, which would make a receiver drop all of it. */
static void test_source_pauses(void **state) {
  enum { PLAYED = 700 };
  (void)state;
  for (int pcr = 0; pcr < 2; pcr++) {
    int ends[2];
    uint8_t payload[2048];
    assert_int_equal(pipe(ends), 0);
    struct timed t = open_timed(pcr ? "pcr" : "rate");
    ls__test_number(t.flow, t.input, "fd", ends[0]);
    if (!pcr)
      ls__test_option(t.flow, t.input, "rate_bps", "1504000");
    ls__test_start(t.flow);
    const unsigned half = 301;              /* whole payloads, and behind a PCR, */
    const unsigned before = half - 7 * pcr; /* whose packet gets its time by the next one */
    assert_int_equal(write(ends[1], clip, half * LS_TS_SIZE), half * LS_TS_SIZE);
    unsigned at = 0;
    for (; at < before; at += 7)
      ls__test_receive(t.sink, payload, sizeof payload);
    usleep(500000);
    struct punctuality p = {.zero_ns = ls__clock_now() - before * LS_MS};
    const size_t rest = (PLAYED - half) * LS_TS_SIZE;
    assert_int_equal(write(ends[1], (const uint8_t *)clip + PLAYED * LS_TS_SIZE - rest, rest),
                     rest);
    close(ends[1]);
    for (; at < PLAYED; at += 7) {
      size_t len = ls__test_receive(t.sink, payload, sizeof payload);
      assert_memory_equal(payload, clip[at], len);
      note(&p, at * LS_MS);
    }
    check_punctual(&p);
    close_timed(&t);
    close(ends[0]);
  }
}

/* A live source brings its packets in other pieces than payloads: each payload is whole. */
static void test_dribble(void **state) {
  (void)state;
  int ends[2];
  uint8_t payload[2048];
  struct ls__prng prng;
  ls__prng_seed(&prng, 4);
  assert_int_equal(pipe(ends), 0);
  struct timed t = open_timed("pcr");
  ls__test_number(t.flow, t.input, "fd", ends[0]);
  ls__test_start(t.flow);
  const uint8_t *bytes = clip[0];
  for (size_t at = 0; at < 200 * LS_TS_SIZE;) {
    size_t len = 1 + ls__prng_below(&prng, 900);
    if (len > 200 * LS_TS_SIZE - at)
      len = 200 * LS_TS_SIZE - at;
    assert_int_equal(write(ends[1], bytes + at, len), len);
    at += len;
    usleep(500);
  }
  close(ends[1]);
  for (unsigned at = 0; at < 200; at += 7) {
    size_t len = ls__test_receive(t.sink, payload, sizeof payload);
    assert_int_equal(len, (at + 7 > 200 ? 200 - at : 7) * LS_TS_SIZE);
    assert_memory_equal(payload, clip[at], len);
  }
  ls__test_ended(engine, t.flow);
  close_timed(&t);
  close(ends[0]);
}

static void test_no_pcr(void **state) {
  (void)state;
  uint8_t packet[LS_TS_SIZE];
  char path[64], wanted[200];
  ls__test_packet(packet, 0x100, 0, 0);
  int file = ls__test_file(packet, sizeof packet, path);
  struct timed t = open_timed("pcr");
  ls__test_option(t.flow, t.input, "path", path);
  ls__test_start(t.flow);
  struct ls_event event = ls__test_event(engine, t.flow, LS_EVENT_WARNING, 0);
  snprintf(wanted, sizeof wanted,
           "'%s': no PCR in this stream to pace it by: give its rate, or pace=rate with one", path);
  assert_string_equal(event.text, wanted);
  assert_string_equal(ls__test_ended(engine, t.flow).text, "the input failed");
  close_timed(&t);
  close(file);
}

/* A looped clip with markers through a check: nothing lost, nothing wrong, no time between. */
static void test_loop(void **state) {
  (void)state;
  char path[64];
  int file = ls__test_file(clip, sizeof clip, path);
  int64_t flow = ls__test_flow(engine);
  int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_FILE);
  int32_t check = ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_option(flow, input, "path", path);
  ls__test_option(flow, input, "pace", "pcr");
  ls__test_option(flow, input, "rate_bps", "3008000");
  ls__test_option(flow, input, "loop", "true");
  ls__test_option(flow, input, "marker", "true");
  int64_t start_ns = ls__clock_now();
  ls__test_start(flow);
  close(file); /* the clip is in memory */
  struct ls__stats_endpoint stats;
  assert_true(ls__test_until((stats = ls__test_endpoint(flow, check)).check_ts_packets >= 2600));
  int64_t passed_ns = ls__clock_now() - start_ns;
  assert_int_equal(stats.check_ts_lost + stats.check_ts_wrong + stats.errors, 0);
  assert_true(stats.check_latency_p50_ns < 50 * LS_MS);
  assert_true(stats.check_latency_min_ns >= 0);
  /* Half a millisecond a packet: 2600 take 1.3 s. */
  assert_true(passed_ns >= 1280 * LS_MS);
  assert_int_equal(ls_stop(flow), 0);
  assert_string_equal(ls__test_ended(engine, flow).text, "stopped");
}

/* A named pipe may be opened before anyone writes to it; nothing waits meanwhile. */
static void test_fifo(void **state) {
  (void)state;
  char directory[] = "/tmp/lockstep-test-XXXXXX", fifo[80], out_path[64], got[6];
  assert_non_null(mkdtemp(directory));
  snprintf(fifo, sizeof fifo, "%s/fifo", directory);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  int out = ls__test_file("", 0, out_path);
  int64_t flow = ls__test_flow(engine);
  int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_FILE);
  ls__test_option(flow, input, "path", fifo);
  ls__test_add_fd(flow, LS_OUTPUT, out);
  int64_t start_ns = ls__clock_now();
  ls__test_start(flow);
  assert_true(ls__clock_now() - start_ns < 2 * LS_S);
  usleep(100000);
  assert_int_equal(ls__test_flow_state(flow), LS_FLOW_RUNNING);
  int writer = open(fifo, O_WRONLY);
  assert_int_equal(write(writer, "hello", 5), 5);
  close(writer);
  assert_string_equal(ls__test_ended(engine, flow).text, "end of the input");
  assert_int_equal(pread(out, got, sizeof got, 0), 5);
  close(out);
  unlink(fifo);
  rmdir(directory);
}

/* A stop and a close in every state: before data, in the middle, while outputs are full. */
static void test_stop_any_time(void **state) {
  (void)state;
  unsigned descriptors = ls__test_descriptors();
  static const char *const paces[] = {"asap", "pcr", "rate"};
  for (unsigned i = 0; i < 24; i++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int64_t flow = ls__test_flow(engine);
    int32_t input = ls__test_add_fd(flow, LS_INPUT, ends[0]);
    ls__test_option(flow, input, "pace", paces[i % 3]);
    ls__test_option(flow, input, "rate_bps", "1504000");
    ls__test_add(flow, LS_OUTPUT, LS_KIND_CHECK);
    ls__test_start(flow);
    if (i % 4 > 0)
      assert_int_equal(write(ends[1], clip, 50 * LS_TS_SIZE), 50 * LS_TS_SIZE);
    if (i % 4 > 1)
      usleep(20000);
    if (i % 4 != 3) {
      assert_int_equal(ls_stop(flow), 0);
      assert_string_equal(ls__test_ended(engine, flow).text, "stopped");
    }
    assert_int_equal(ls_close(flow), 0);
    close(ends[0]);
    close(ends[1]);
  }
  assert_int_equal(ls__test_descriptors(), descriptors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_refusals_say_why, begin, end),
      cmocka_unit_test_setup_teardown(test_copy, begin, end),
      cmocka_unit_test_setup_teardown(test_read_error, begin, end),
      cmocka_unit_test_setup_teardown(test_pcr_pace, begin, end),
      cmocka_unit_test_setup_teardown(test_rate_pace, begin, end),
      cmocka_unit_test_setup_teardown(test_source_pauses, begin, end),
      cmocka_unit_test_setup_teardown(test_dribble, begin, end),
      cmocka_unit_test_setup_teardown(test_no_pcr, begin, end),
      cmocka_unit_test_setup_teardown(test_loop, begin, end),
      cmocka_unit_test_setup_teardown(test_fifo, begin, end),
      cmocka_unit_test_setup_teardown(test_stop_any_time, begin, end),
  };
  return cmocka_run_group_tests_name("flow/file_input", tests, NULL, NULL);
}
