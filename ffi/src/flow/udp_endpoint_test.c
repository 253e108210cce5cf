#include "flow/object.h"
#include "flow/testing.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>

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

static int open_at(const char *local) {
  struct ls__udp_config config = {.tos = -1, .ttl = -1};
  assert_int_equal(ls__addr_parse(local, &config.local), 0);
  strcpy(config.interface, "lo");
  int fd = ls__udp_open(&config, NULL, 0);
  assert_true(fd >= 0);
  return fd;
}

static void send_text(int fd, const char *to, const void *data, size_t len) {
  struct ls__addr addr;
  struct sockaddr_storage name;
  assert_int_equal(ls__addr_parse(to, &addr), 0);
  socklen_t name_len = ls__addr_to_sockaddr(&addr, &name);
  assert_int_equal(sendto(fd, data, len, 0, (struct sockaddr *)&name, name_len), len);
}

/* A flow from `local` to a socket of the test. */
struct passage {
  int64_t flow;
  int32_t input, output;
  uint16_t in, out;
  int source, sink;
};

static struct passage prepare(void) {
  struct passage p = {.in = ls__test_port(), .out = ls__test_port()};
  p.source = ls__test_socket(0);
  p.sink = ls__test_socket(p.out);
  p.flow = ls__test_flow(engine);
  p.input = ls__test_add_udp(p.flow, LS_INPUT, p.in);
  p.output = ls__test_add_udp(p.flow, LS_OUTPUT, p.out);
  return p;
}

static void finish(const struct passage *p) {
  assert_int_equal(ls_close(p->flow), 0);
  close(p->source);
  close(p->sink);
}

static void expect_nothing(int fd) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  assert_int_equal(poll(&ready, 1, 100), 0);
}

/* One datagram in, payloads out: whole TS packets are spread, what cannot be split is counted. */
static void test_splitting(void **state) {
  (void)state;
  static const struct {
    const char *payload_size;
    size_t len;
    size_t pieces[10];
  } rows[] = {
      {"1316", 0, {0}}, /* an empty datagram is nothing */
      {"1316", 1, {1}},
      {"1316", 1316, {1316}},
      {"1316", 1456, {1456}}, /* fits into one packet: passed as it came */
      {"1316", 1457, {0}},
      {"1316", 1504, {1316, 188}},
      {"1316", 3948, {1316, 1316, 1316}},
      {"1316", 8836, {1316, 1316, 1316, 1316, 1316, 1316, 940}},
      {"1316", 9024, {1316, 1316, 1316, 1316, 1316, 1316, 1128}},
      {"1316", 9212, {1316, 1316, 1316, 1316, 1316, 1316, 1316}},
      {"1316", 9400, {0}},  /* longer than a jumbo frame: its end is lost already */
      {"1316", 65504, {0}}, /* not whole packets */
      {"1456", 1504, {1316, 188}},
      {"188", 564, {188, 188, 188}},
      {"375", 564, {188, 188, 188}},
      {"376", 564, {376, 188}},
      {"200", 201, {201}},
  };
  static uint8_t sent[65536], got[2048];
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct passage p = prepare();
    ls__test_option(p.flow, p.input, "payload_size", rows[i].payload_size);
    ls__test_start(p.flow);
    for (size_t j = 0; j < sizeof sent; j++)
      sent[j] = (uint8_t)(j * 31 + i);
    ls__test_send(p.source, p.in, sent, rows[i].len);
    ls__test_send(p.source, p.in, "last", 4);
    size_t at = 0;
    uint64_t count = 0;
    for (; rows[i].pieces[count]; count++) {
      assert_int_equal(ls__test_receive(p.sink, got, sizeof got), rows[i].pieces[count]);
      assert_memory_equal(got, sent + at, rows[i].pieces[count]);
      at += rows[i].pieces[count];
    }
    assert_int_equal(ls__test_receive(p.sink, got, sizeof got), 4);
    assert_memory_equal(got, "last", 4);
    struct ls__stats_endpoint stats;
    assert_true(ls__test_until((stats = ls__test_endpoint(p.flow, p.input)).packets == count + 1));
    assert_int_equal(stats.bytes, at + 4);
    assert_int_equal(stats.dropped_size, rows[i].len > 0 && count == 0);
    assert_int_equal(stats.dropped_kernel, 0);
    assert_true(ls__test_until(ls__test_endpoint(p.flow, p.output).packets == count + 1));
    finish(&p);
  }
}

/* IPv4, IPv6, and an input for both; an output may be bound. */
static void test_families(void **state) {
  (void)state;
  static const struct {
    const char *input, *source, *to, *output, *sink;
  } rows[] = {
      {"127.0.0.1:%u", "127.0.0.1:0", "127.0.0.1:%u", "127.0.0.1:%u", "127.0.0.1:%u"},
      {"127.0.0.3:%u", "127.0.0.1:0", "127.0.0.3:%u", "127.0.0.4:%u", "127.0.0.4:%u"},
      {"[::1]:%u", "[::1]:0", "[::1]:%u", "[::1]:%u", "[::1]:%u"},
      {":%u", "[::1]:0", "[::1]:%u", "127.0.0.1:%u", ":%u"},
      {":%u", "127.0.0.1:0", "127.0.0.2:%u", "[::1]:%u", ":%u"},
      {"0.0.0.0:%u", "127.0.0.1:0", "127.0.0.2:%u", "[::1]:%u", "[::1]:%u"},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint16_t in = ls__test_port(), out = ls__test_port();
    char text[64], got[16];
    int64_t flow = ls__test_flow(engine);
    int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_UDP);
    int32_t output = ls__test_add(flow, LS_OUTPUT, LS_KIND_UDP);
    snprintf(text, sizeof text, rows[i].input, in);
    ls__test_option(flow, input, "local", text);
    snprintf(text, sizeof text, rows[i].output, out);
    ls__test_option(flow, output, "remote", text);
    snprintf(text, sizeof text, rows[i].sink, out);
    int sink = open_at(text), source = open_at(rows[i].source);
    ls__test_start(flow);
    snprintf(text, sizeof text, rows[i].to, in);
    send_text(source, text, "hello", 5);
    assert_int_equal(ls__test_receive(sink, got, sizeof got), 5);
    assert_memory_equal(got, "hello", 5);
    assert_int_equal(ls_close(flow), 0);
    close(sink);
    close(source);
  }
}

static void test_output_address(void **state) {
  (void)state;
  struct passage p = prepare();
  uint16_t bound = ls__test_port();
  char got[16];
  struct sockaddr_storage name = {0};
  socklen_t name_len = sizeof name;
  struct ls__addr from, wanted = {.family = 4, .bytes = {127, 0, 0, 9}, .port = bound};
  char text[LS_ADDR_TEXT];
  ls__test_option(p.flow, p.output, "local", ls__addr_format(&wanted, text));
  ls__test_option(p.flow, p.output, "tos", "184");
  ls__test_option(p.flow, p.output, "ttl", "3");
  ls__test_start(p.flow);
  ls__test_send(p.source, p.in, "x", 1);
  struct pollfd ready = {.fd = p.sink, .events = POLLIN};
  assert_int_equal(poll(&ready, 1, LS__TEST_PATIENCE_MS), 1);
  assert_int_equal(recvfrom(p.sink, got, sizeof got, 0, (struct sockaddr *)&name, &name_len), 1);
  ls__addr_from_sockaddr(&name, &from);
  assert_true(ls__addr_equal(&from, &wanted));
  finish(&p);
}

/* A group in, a group out, by the interface that is named; a foreign source does not pass. */
static void test_multicast(void **state) {
  (void)state;
  uint16_t in = ls__test_port(), out = ls__test_port();
  char text[64], got[16];
  int64_t flow = ls__test_flow(engine);
  int32_t input = ls__test_add(flow, LS_INPUT, LS_KIND_UDP);
  int32_t output = ls__test_add(flow, LS_OUTPUT, LS_KIND_UDP);
  snprintf(text, sizeof text, "239.255.81.1:%u", in);
  ls__test_option(flow, input, "local", text);
  ls__test_option(flow, input, "group", "239.255.81.1:0");
  ls__test_option(flow, input, "source", "127.0.0.6:0");
  ls__test_option(flow, input, "interface", "lo");
  snprintf(text, sizeof text, "239.255.81.2:%u", out);
  ls__test_option(flow, output, "remote", text);
  ls__test_option(flow, output, "interface", "lo");
  struct ls__udp_config config = {.local = {.family = 4, .port = out}, .tos = -1, .ttl = -1};
  assert_int_equal(ls__addr_parse("239.255.81.2:0", &config.group), 0);
  strcpy(config.interface, "lo");
  int sink = ls__udp_open(&config, NULL, 0);
  assert_true(sink >= 0);
  int source = open_at("127.0.0.6:0"), foreign = open_at("127.0.0.7:0");
  ls__test_start(flow);
  snprintf(text, sizeof text, "239.255.81.1:%u", in);
  send_text(foreign, text, "foreign", 7);
  send_text(source, text, "own", 3);
  assert_int_equal(ls__test_receive(sink, got, sizeof got), 3);
  assert_memory_equal(got, "own", 3);
  expect_nothing(sink);
  assert_int_equal(ls_close(flow), 0);
  close(sink);
  close(source);
  close(foreign);
}

/* What the system refuses is an event once, and counted each time; the flow goes on. */
static void test_refused(void **state) {
  (void)state;
  struct passage p = prepare();
  int32_t refused = ls__test_add(p.flow, LS_OUTPUT, LS_KIND_UDP);
  char got[16];
  ls__test_option(p.flow, refused, "remote", "255.255.255.255:9");
  ls__test_start(p.flow);
  for (unsigned i = 0; i < 5; i++) {
    ls__test_send(p.source, p.in, "x", 1);
    assert_int_equal(ls__test_receive(p.sink, got, sizeof got), 1);
  }
  struct ls_event event = ls__test_event(engine, p.flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.index, refused);
  assert_string_equal(event.text, "sending to 255.255.255.255:9 is refused: Permission denied");
  assert_true(ls__test_until(ls__test_endpoint(p.flow, refused).errors == 5));
  assert_int_equal(ls__test_endpoint(p.flow, p.output).errors, 0);
  assert_int_equal(ls_event_wait(engine, &event, sizeof event, 100), 0);
  finish(&p);
}

/* Nothing passes after a stop; the flow ends without anyone sending. */
static void test_stop(void **state) {
  (void)state;
  struct passage p = prepare();
  char got[16];
  ls__test_start(p.flow);
  ls__test_send(p.source, p.in, "a", 1);
  assert_int_equal(ls__test_receive(p.sink, got, sizeof got), 1);
  assert_int_equal(ls_stop(p.flow), 0);
  assert_string_equal(ls__test_ended(engine, p.flow).text, "stopped");
  ls__test_send(p.source, p.in, "b", 1);
  expect_nothing(p.sink);
  assert_int_equal(ls__test_endpoint(p.flow, p.input).packets, 1);
  finish(&p);
}

/* Departures of an output are measured. */
static void test_lateness(void **state) {
  (void)state;
  struct passage p = prepare();
  char got[16];
  ls__test_option(p.flow, p.output, "pace", "playout");
  ls__test_start(p.flow);
  for (unsigned i = 0; i < 50; i++) {
    ls__test_send(p.source, p.in, "x", 1);
    assert_int_equal(ls__test_receive(p.sink, got, sizeof got), 1);
  }
  struct ls__stats_endpoint stats;
  assert_true(ls__test_until((stats = ls__test_endpoint(p.flow, p.output)).lateness_max_ns > 0 &&
                             stats.packets == 50));
  assert_true(stats.lateness_p50_ns <= stats.lateness_p99_ns);
  assert_true(stats.lateness_p99_ns <= stats.lateness_max_ns);
  assert_true(stats.late_packets <= 50);
  finish(&p);
}

/* A process that cannot run for 100 ms: what comes at 8 Mbit/s in this time waits in the socket.
 * The flow is in a child, so that it can be stopped and go on as a whole. */
#define PAUSED 76
static void child(int commands, int answers, uint16_t port, const char *receive_buffer) {
  char word;
  engine = ls_engine_open(1, NULL, 0);
  int64_t flow = ls_flow_open(engine);
  char local[32];
  snprintf(local, sizeof local, "127.0.0.1:%u", port);
  bool ok = ls_endpoint_add(flow, LS_INPUT, LS_KIND_UDP) == 0 &&
            ls_endpoint_add(flow, LS_OUTPUT, LS_KIND_CHECK) == 1 &&
            ls_option(flow, 0, "local", local, NULL, 0) == 0 &&
            ls_option(flow, 0, "receive_buffer", receive_buffer, NULL, 0) == 0 &&
            ls_start(flow, NULL, 0) == 0;
  word = ok ? 'y' : 'n';
  if (write(answers, &word, 1) != 1 || !ok)
    _exit(1);
  while (read(commands, &word, 1) == 1) {
    struct ls__stats_endpoint stats;
    usleep(3 * LS__PUBLISH_NS / 1000);
    if (ls_stats(flow, LS_SCOPE_ENDPOINT, 0, &stats, sizeof stats) != sizeof stats ||
        write(answers, &stats, sizeof stats) != sizeof stats)
      _exit(1);
  }
  _exit(ls_close(engine) == 0 ? 0 : 1);
}

static struct ls__stats_endpoint after_pause(const char *receive_buffer) {
  int commands[2], answers[2], status;
  uint16_t port = ls__test_port();
  int source = ls__test_socket(0);
  uint8_t payload[1316] = {0x47};
  char word;
  assert_int_equal(pipe(commands), 0);
  assert_int_equal(pipe(answers), 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    close(commands[1]);
    child(commands[0], answers[1], port, receive_buffer);
  }
  assert_int_equal(read(answers[0], &word, 1), 1);
  assert_int_equal(word, 'y');
  kill(pid, SIGSTOP);
  assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
  assert_true(WIFSTOPPED(status));
  for (unsigned i = 0; i < PAUSED; i++)
    ls__test_send(source, port, payload, sizeof payload);
  kill(pid, SIGCONT);
  usleep(50000);
  ls__test_send(source, port, payload, sizeof payload); /* brings the kernel's count along */
  struct ls__stats_endpoint stats;
  assert_int_equal(write(commands[1], "?", 1), 1);
  assert_int_equal(read(answers[0], &stats, sizeof stats), sizeof stats);
  close(commands[1]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  close(commands[0]);
  close(answers[0]);
  close(answers[1]);
  close(source);
  return stats;
}

static void test_pause_loses_nothing(void **state) {
  (void)state;
  struct ls__stats_endpoint stats = after_pause("8388608");
  assert_int_equal(stats.packets, PAUSED + 1);
  assert_int_equal(stats.dropped_kernel, 0);
}

static void test_kernel_drops_are_counted(void **state) {
  (void)state;
  struct ls__stats_endpoint stats = after_pause("16384");
  assert_true(stats.dropped_kernel > 0);
  assert_int_equal(stats.packets + stats.dropped_kernel, PAUSED + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pause_loses_nothing), /* these fork: before there are threads */
      cmocka_unit_test(test_kernel_drops_are_counted),
      cmocka_unit_test_setup_teardown(test_splitting, begin, end),
      cmocka_unit_test_setup_teardown(test_families, begin, end),
      cmocka_unit_test_setup_teardown(test_output_address, begin, end),
      cmocka_unit_test_setup_teardown(test_multicast, begin, end),
      cmocka_unit_test_setup_teardown(test_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_stop, begin, end),
      cmocka_unit_test_setup_teardown(test_lateness, begin, end),
  };
  return cmocka_run_group_tests_name("flow/udp_endpoint", tests, NULL, NULL);
}
