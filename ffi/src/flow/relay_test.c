/* The relay through the public interface, on loopback sockets: the test is the sources and the
 * target. Delays are judged by their least value, which no busy machine shortens, and by the
 * relay's own statistics. */
#include "flow/relay.h"

#include "base/addr_text.h"
#include "base/prng.h"
#include "base/statistics.gen.h"
#include "base/testing.h"
#include "base/time.h"
#include "impair/model.h"
#include "io/clock.h"
#include "io/udp.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 5000 /* for what must arrive */
#define QUIET_MS 100     /* for what must not */

struct fixture {
  int64_t engine, relay;
  int target; /* the target's socket */
  struct ls__addr target_addr, relay_addr;
};

static struct fixture f;

static int open_socket(const char *local) {
  struct ls__udp_config config = {.tos = -1, .ttl = -1};
  char err[200];
  assert_int_equal(ls__addr_parse(local, &config.local), 0);
  int fd = ls__udp_open(&config, err, sizeof err);
  assert_true(fd >= 0);
  return fd;
}

static void option(const char *name, const char *value) {
  char err[250] = "";
  if (ls_option(f.relay, LS_SELF, name, value, err, sizeof err) != 0)
    fail_msg("%s", err);
}

/* An engine with a relay from an address of the system's choice to a socket of the test. */
static void begin(const char *local, const char *target) {
  char text[LS_ADDR_TEXT];
  f.engine = ls_engine_open(1, NULL, 0);
  assert_true(f.engine > 0);
  f.relay = ls_relay_open(f.engine);
  assert_true(f.relay > 0);
  f.target = open_socket(target);
  f.target_addr = ls__udp_local(f.target);
  option("local", local);
  option("target", ls__addr_format(&f.target_addr, text));
}

static struct ls_event next_event(void) {
  struct ls_event event;
  assert_int_equal(ls_event_wait(f.engine, &event, sizeof event, PATIENCE_MS), 1);
  return event;
}

static void run(void) {
  char err[250] = "", from[LS_ADDR_TEXT], to[LS_ADDR_TEXT];
  if (ls_start(f.relay, err, sizeof err) != 0)
    fail_msg("%s", err);
  struct ls_event event = next_event();
  assert_int_equal(event.kind, LS_EVENT_FLOW_STATE);
  assert_int_equal(event.code, LS_FLOW_RUNNING);
  assert_int_equal(event.handle, f.relay);
  assert_int_equal(sscanf(event.text, "relaying %63s to %63s", from, to), 2);
  assert_int_equal(ls__addr_parse(from, &f.relay_addr), 0);
  struct ls__addr named;
  assert_int_equal(ls__addr_parse(to, &named), 0);
  assert_true(ls__addr_equal(&named, &f.target_addr));
}

static void end(void) {
  assert_int_equal(ls_close(f.engine), 0);
  close(f.target);
}

static void send_to(int fd, const struct ls__addr *to, const void *data, size_t len) {
  struct sockaddr_storage name;
  socklen_t name_len = ls__addr_to_sockaddr(to, &name);
  assert_int_equal(sendto(fd, data, len, 0, (struct sockaddr *)&name, name_len), len);
}

/* The next datagram within `wait_ms`: its length, -1 when none came. */
static int receive(int fd, void *data, size_t size, struct ls__addr *from, int wait_ms) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  if (poll(&ready, 1, wait_ms) <= 0)
    return -1;
  struct sockaddr_storage name;
  socklen_t name_len = sizeof name;
  ssize_t len = recvfrom(fd, data, size, 0, (struct sockaddr *)&name, &name_len);
  assert_true(len >= 0);
  if (from)
    ls__addr_from_sockaddr(&name, from);
  return (int)len;
}

static void expect_nothing(int fd) {
  uint8_t data[16];
  assert_int_equal(receive(fd, data, sizeof data, NULL, QUIET_MS), -1);
}

/* One question from a source; how the target sees it goes to `seen`. */
static void ask(int source, uint32_t number, struct ls__addr *seen) {
  uint32_t got;
  send_to(source, &f.relay_addr, &number, sizeof number);
  assert_int_equal(receive(f.target, &got, sizeof got, seen, PATIENCE_MS), sizeof got);
  assert_int_equal(got, number);
}

static void answer(int source, uint32_t number, const struct ls__addr *seen) {
  uint32_t got;
  struct ls__addr from;
  send_to(f.target, seen, &number, sizeof number);
  assert_int_equal(receive(source, &got, sizeof got, &from, PATIENCE_MS), sizeof got);
  assert_int_equal(got, number);
  assert_int_equal(from.port, f.relay_addr.port);
}

static struct ls__stats_relay statistics(void) {
  struct ls__stats_relay stats;
  usleep(2 * LS__PUBLISH_NS / 1000);
  assert_int_equal(ls_stats(f.relay, LS_SCOPE_RELAY, LS_SELF, &stats, sizeof stats), sizeof stats);
  return stats;
}

static void test_both_ways(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("forward_delay_ns", "30000000");
  option("backward_delay_ns", "50000000");
  run();
  int source = open_socket("127.0.0.1:0");
  struct ls__addr seen;
  int64_t start_ns = ls__clock_now();
  ask(source, 1, &seen);
  int64_t asked_ns = ls__clock_now();
  assert_true(asked_ns - start_ns >= 30 * LS_MS);
  answer(source, 2, &seen);
  assert_true(ls__clock_now() - asked_ns >= 50 * LS_MS);
  struct ls__stats_relay stats = statistics();
  assert_int_equal(stats.forward_packets, 1);
  assert_int_equal(stats.backward_packets, 1);
  close(source);
  end();
}

/* An answer comes from the address that was asked, also when the relay listens on all. */
static void test_answers_from_called_address(void **state) {
  (void)state;
  static const char *const locals[] = {"0.0.0.0:0", ":0"};
  for (unsigned i = 0; i < 2; i++) {
    begin(locals[i], "127.0.0.1:0");
    run();
    int source = open_socket("127.0.0.1:0");
    struct ls__addr seen, from;
    f.relay_addr =
        (struct ls__addr){.bytes = {127, 0, 0, 7}, .port = f.relay_addr.port, .family = 4};
    ask(source, 1, &seen);
    uint32_t got = 2;
    send_to(f.target, &seen, &got, sizeof got);
    assert_int_equal(receive(source, &got, sizeof got, &from, PATIENCE_MS), sizeof got);
    assert_true(ls__addr_equal(&from, &f.relay_addr));
    close(source);
    end();
  }
}

static void test_families_differ(void **state) {
  (void)state;
  static const char *const pairs[][3] = {{"[::1]:0", "127.0.0.1:0", "[::1]:0"},
                                         {"127.0.0.1:0", "[::1]:0", "127.0.0.1:0"}};
  for (unsigned i = 0; i < 2; i++) {
    begin(pairs[i][0], pairs[i][1]);
    run();
    int source = open_socket(pairs[i][2]);
    struct ls__addr seen;
    ask(source, 7, &seen);
    answer(source, 8, &seen);
    close(source);
    end();
  }
}

/* Every source has its own way to the target and gets its own answers; one too many is refused. */
static void test_many_sources(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  run();
  int sources[LS__RELAY_CLIENTS + 1];
  struct ls__addr seen[LS__RELAY_CLIENTS];
  for (uint32_t i = 0; i < LS__RELAY_CLIENTS; i++) {
    sources[i] = open_socket("127.0.0.1:0");
    ask(sources[i], i, &seen[i]);
    for (uint32_t j = 0; j < i; j++)
      assert_int_not_equal(seen[i].port, seen[j].port);
  }
  for (uint32_t i = LS__RELAY_CLIENTS; i-- > 0;)
    answer(sources[i], 1000 + i, &seen[i]);
  sources[LS__RELAY_CLIENTS] = open_socket("127.0.0.1:0");
  send_to(sources[LS__RELAY_CLIENTS], &f.relay_addr, "no", 2);
  struct ls_event event = next_event();
  assert_int_equal(event.kind, LS_EVENT_WARNING);
  assert_string_equal(event.text, "the relay serves 64 sources at once: further ones are refused");
  expect_nothing(f.target);
  assert_int_equal(statistics().refused_clients, 1);
  struct ls__addr again;
  ask(sources[5], 55, &again); /* those that are served go on */
  assert_true(ls__addr_equal(&again, &seen[5]));
  for (uint32_t i = 0; i <= LS__RELAY_CLIENTS; i++)
    close(sources[i]);
  end();
}

/* When all places are taken, the source silent longest makes room, and only it. */
static void test_silent_source_makes_room(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("silence_ns", "300000000");
  run();
  int sources[LS__RELAY_CLIENTS];
  struct ls__addr seen[LS__RELAY_CLIENTS], again;
  for (uint32_t i = 0; i < LS__RELAY_CLIENTS; i++) {
    sources[i] = open_socket("127.0.0.1:0");
    ask(sources[i], i, &seen[i]);
  }
  ask(sources[0], 500, &again); /* source 1 is now the one silent longest */
  int newcomer = open_socket("127.0.0.1:0");
  uint32_t number = 900, got = 0;
  int64_t start_ns = ls__clock_now();
  do
    send_to(newcomer, &f.relay_addr, &number, sizeof number);
  while (receive(f.target, &got, sizeof got, NULL, 20) < 0 &&
         ls__clock_now() - start_ns < PATIENCE_MS * LS_MS);
  assert_int_equal(got, 900);
  assert_true(statistics().refused_clients > 0);
  while (receive(f.target, &got, sizeof got, NULL, QUIET_MS) > 0)
    ;
  /* The old way of source 1 is closed, that of source 0 may be (it is next in turn). */
  send_to(f.target, &seen[1], &number, sizeof number);
  expect_nothing(sources[1]);
  for (uint32_t i = 0; i < LS__RELAY_CLIENTS; i++)
    close(sources[i]);
  close(newcomer);
  end();
}

/* Whoever is not the target cannot reach a source through its way. */
static void test_strangers_are_ignored(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  run();
  int source = open_socket("127.0.0.1:0"), stranger = open_socket("127.0.0.1:0");
  struct ls__addr seen;
  ask(source, 1, &seen);
  seen.bytes[0] = 127, seen.bytes[3] = 1;
  send_to(stranger, &seen, "hello", 5);
  expect_nothing(source);
  assert_int_equal(statistics().backward_packets, 0);
  answer(source, 2, &seen);
  close(source);
  close(stranger);
  end();
}

/* Sends numbered packets with small pauses, and takes in what arrives meanwhile and after: how
 * often each number, and whether in order. */
struct tally {
  unsigned seen[5000], count;
  bool ordered;
};

static struct tally tally;

static void take_in(int wait_ms) {
  static uint32_t newest;
  if (tally.count == 0)
    newest = 0;
  uint32_t number;
  while (receive(f.target, &number, sizeof number, NULL, wait_ms) == sizeof number) {
    assert_true(number < sizeof tally.seen / sizeof *tally.seen);
    tally.seen[number]++;
    tally.ordered &= number >= newest;
    newest = number;
    tally.count++;
  }
}

static void send_numbers(uint32_t count, useconds_t pause_us) {
  int source = open_socket("127.0.0.1:0");
  tally = (struct tally){.ordered = true};
  for (uint32_t number = 0; number < count; number++) {
    send_to(source, &f.relay_addr, &number, sizeof number);
    take_in(0);
    if (number % 10 == 9)
      usleep(pause_us);
  }
  take_in(300);
  close(source);
}

/* The losses are those of the model with the same seed, packet for packet. */
static void test_losses_follow_the_seed(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("forward_loss", "0.1");
  option("forward_burst_packets", "3");
  option("seed", "77");
  run();
  send_numbers(COUNT, 500);
  struct ls__stats_relay stats = statistics();
  struct ls__model_config config = {.loss = 0.1, .burst_packets = 3, .seed = 77};
  struct ls__model model;
  assert_int_equal(ls__model_init(&model, &config, 0, NULL, 0), 0);
  uint64_t lost = 0;
  for (uint32_t number = 0; number < COUNT; number++) {
    int64_t at_ns[2];
    enum ls__model_fate fate;
    assert_int_equal(tally.seen[number], ls__model_offer(&model, number, 32, at_ns, &fate));
    lost += fate == LS_FATE_LOST;
  }
  assert_true(tally.ordered);
  assert_int_equal(stats.forward_packets, COUNT);
  assert_int_equal(stats.forward_lost, lost);
  end();
}

/* With everything on, each packet is accounted for. */
static void test_counts_reconcile(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("delay_ns", "20000000");
  option("jitter_ns", "2000000");
  option("loss", "0.05");
  option("duplicate", "0.05");
  option("outage_every_ns", "200000000");
  option("outage_for_ns", "50000000");
  option("rate_bps", "1000000"); /* 31 packets of 32 bytes in each 8 ms */
  option("queue_bytes", "1000");
  option("seed", "5");
  run();
  send_numbers(5000, 2000);
  struct ls__stats_relay stats = statistics();
  uint64_t gone = stats.forward_lost + stats.forward_outage + stats.forward_overflow;
  assert_int_equal(stats.forward_packets, 5000);
  assert_int_equal(tally.count, 5000 - gone + stats.forward_duplicated);
  assert_true(stats.forward_lost > 0 && stats.forward_outage > 0);
  assert_true(stats.forward_overflow > 0 && stats.forward_duplicated > 0);
  assert_true(tally.ordered);
  end();
}

/* A hundred packets at once over 10 Mbit/s: each takes the line for its IP packet of 1250 bytes. */
static void test_rate(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("rate_bps", "10000000");
  run();
  int source = open_socket("127.0.0.1:0");
  uint8_t packet[1222] = {0}, got[1500];
  int64_t start_ns = ls__clock_now();
  for (int i = 0; i < 100; i++)
    send_to(source, &f.relay_addr, packet, sizeof packet);
  for (int i = 1; i <= 100; i++) {
    assert_int_equal(receive(f.target, got, sizeof got, NULL, PATIENCE_MS), sizeof packet);
    assert_true(ls__clock_now() - start_ns >= i * LS_MS);
  }
  assert_int_equal(statistics().forward_overflow, 0);
  close(source);
  end();
}

/* Packets leave when they are due: half of them within a fraction of a millisecond, even on a busy
 * machine. */
static void test_lateness(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("delay_ns", "10000000");
  option("jitter_ns", "3000000");
  run();
  send_numbers(2000, 1000);
  assert_int_equal(tally.count, 2000);
  struct ls__stats_relay stats = statistics();
  assert_true(stats.lateness_p50_ns > 0 && stats.lateness_p50_ns < 900000);
  assert_true(stats.lateness_p50_ns <= stats.lateness_p99_ns);
  assert_true(stats.lateness_p99_ns <= stats.lateness_max_ns);
  end();
}

static void test_sizes(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  run();
  int source = open_socket("127.0.0.1:0");
  static const int lens[] = {0, 1, 1472, LS__RELAY_BYTES};
  uint8_t sent[LS__RELAY_BYTES + 1], got[LS__RELAY_BYTES + 1];
  for (unsigned i = 0; i < sizeof sent; i++)
    sent[i] = (uint8_t)(i * 7);
  for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
    send_to(source, &f.relay_addr, sent, (size_t)lens[i]);
    assert_int_equal(receive(f.target, got, sizeof got, NULL, PATIENCE_MS), lens[i]);
    assert_memory_equal(got, sent, (size_t)lens[i]);
  }
  send_to(source, &f.relay_addr, sent, sizeof sent);
  struct ls_event event = next_event();
  assert_int_equal(event.kind, LS_EVENT_WARNING);
  assert_string_equal(event.text, "a datagram of more than 2048 bytes was not relayed");
  expect_nothing(f.target);
  assert_int_equal(statistics().forward_overflow, 1);
  close(source);
  end();
}

static void test_queue_packets(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("queue_packets", "4");
  option("delay_ns", "200000000");
  run();
  int source = open_socket("127.0.0.1:0");
  for (uint32_t i = 0; i < 6; i++)
    send_to(source, &f.relay_addr, &i, sizeof i);
  struct ls_event event = next_event();
  assert_string_equal(event.text,
                      "more packets under way than the relay holds: raise queue_packets");
  uint32_t got;
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(receive(f.target, &got, sizeof got, NULL, PATIENCE_MS), sizeof got);
    assert_int_equal(got, i);
  }
  expect_nothing(f.target);
  assert_int_equal(statistics().forward_overflow, 2);
  close(source);
  end();
}

static void test_stop(void **state) {
  (void)state;
  begin("127.0.0.1:0", "127.0.0.1:0");
  option("delay_ns", "50000000");
  run();
  int source = open_socket("127.0.0.1:0");
  struct ls__addr seen;
  ask(source, 1, &seen);
  uint32_t under_way = 2;
  send_to(source, &f.relay_addr, &under_way, sizeof under_way);
  usleep(10000);
  assert_int_equal(ls_stop(f.relay), 0);
  struct ls_event event = next_event();
  assert_int_equal(event.kind, LS_EVENT_FLOW_STATE);
  assert_int_equal(event.code, LS_FLOW_ENDED);
  assert_string_equal(event.text, "stopped");
  expect_nothing(f.target);
  assert_int_equal(ls_stop(f.relay), 0); /* once more changes nothing */
  assert_int_equal(statistics().forward_packets, 2);
  char text[LS_ADDR_TEXT];
  int again = open_socket(ls__addr_format(&f.relay_addr, text)); /* the port is free */
  close(again);
  assert_int_equal(ls_close(f.relay), 0);
  struct ls__stats_relay stats;
  assert_int_equal(ls_stats(f.relay, LS_SCOPE_RELAY, LS_SELF, &stats, sizeof stats), LS_EHANDLE);
  close(source);
  end();
}

/* A start that failed can be repaired and repeated. */
static void test_start_errors(void **state) {
  (void)state;
  char err[250] = "", taken[LS_ADDR_TEXT];
  begin("127.0.0.1:0", "127.0.0.1:0");
  int other = open_socket("127.0.0.1:0");
  struct ls__addr other_addr = ls__udp_local(other);
  option("local", ls__addr_format(&other_addr, taken));
  assert_int_equal(ls_start(f.relay, err, sizeof err), LS_ESYSTEM);
  char expected[250];
  snprintf(expected, sizeof expected, "cannot listen on %s: Address already in use" LS__TEST_IN_USE,
           taken);
  assert_string_equal(err, expected);
  option("local", "127.0.0.1:0");
  option("loss", "0.9");
  option("burst_packets", "2");
  assert_int_equal(ls_start(f.relay, err, sizeof err), LS_EINVAL);
  assert_string_equal(err, "to the target: loss is 0.9: bursts of 2 packets lose at most "
                           "0.6666666667; make burst at least 9");
  option("loss", "0");
  run();
  assert_int_equal(ls_start(f.relay, err, sizeof err), LS_ESTATE);
  close(other);
  end();
}

static void test_refused_calls(void **state) {
  (void)state;
  char err[250] = "";
  struct ls__stats_relay stats;
  begin("127.0.0.1:0", "127.0.0.1:0");
  assert_int_equal(ls_option(f.relay, 0, "loss", "0", err, sizeof err), LS_EINDEX);
  assert_string_equal(err, "a relay has no endpoint 0");
  assert_int_equal(ls_option(f.relay, LS_SELF, "lag", "0", err, sizeof err), LS_EOPTION);
  assert_string_equal(err, "there is no option 'lag' here");
  assert_int_equal(ls_stats(f.relay, LS_SCOPE_FLOW, LS_SELF, &stats, sizeof stats), LS_EINVAL);
  assert_int_equal(ls_stats(f.relay, LS_SCOPE_RELAY, 0, &stats, sizeof stats), LS_EINDEX);
  assert_int_equal(ls_stats(f.relay, LS_SCOPE_RELAY, LS_SELF, &stats, 8), LS_ESIZE);
  assert_int_equal(ls_close(f.relay), 0); /* never started */
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_ways),
      cmocka_unit_test(test_answers_from_called_address),
      cmocka_unit_test(test_families_differ),
      cmocka_unit_test(test_many_sources),
      cmocka_unit_test(test_silent_source_makes_room),
      cmocka_unit_test(test_strangers_are_ignored),
      cmocka_unit_test(test_losses_follow_the_seed),
      cmocka_unit_test(test_counts_reconcile),
      cmocka_unit_test(test_rate),
      cmocka_unit_test(test_lateness),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_queue_packets),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_start_errors),
      cmocka_unit_test(test_refused_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
