#include "io/udp.h"

#include "base/addr_text.h"
#include "base/testing.h"
#include "base/time.h"
#include "io/testing.h"
#include "lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

static struct ls__udp_reader *reader;

static struct ls__addr addr(const char *text) {
  struct ls__addr out = {0};
  assert_int_equal(ls__addr_parse(text, &out), 0);
  return out;
}

static struct ls__udp_config config_of(const char *local) {
  return (struct ls__udp_config){.local = addr(local), .tos = -1, .ttl = -1};
}

static int open_config(const struct ls__udp_config *config) {
  char err[256] = "";
  int fd = ls__udp_open(config, err, sizeof err);
  if (fd < 0)
    fail_msg("%s", err);
  return fd;
}

static int open_at(const char *local) {
  struct ls__udp_config config = config_of(local);
  return open_config(&config);
}

static unsigned send_from(int fd, struct ls__addr to, struct ls__addr from, const void *data,
                          size_t len) {
  struct ls__departure departure = {
      .payload = (uint8_t *)(uintptr_t)data, .length = len, .to = to, .from = from};
  struct ls__departure *batch[] = {&departure};
  uint64_t refused = 0;
  int reason = 0;
  unsigned taken = ls__udp_send(fd, ls__udp_is_six(fd), batch, 1, &refused, &reason);
  assert_int_equal(taken, 1);
  return refused ? (unsigned)reason : 0;
}

static void send_to(int fd, struct ls__addr to, const void *data, size_t len) {
  assert_int_equal(send_from(fd, to, (struct ls__addr){0}, data, len), 0);
}

/* Reads what has come; waits for it up to `wait_ms`. */
static unsigned receive(int fd, struct ls__udp_datagram *datagrams, uint32_t *drops, int wait_ms) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  poll(&ready, 1, wait_ms);
  return ls__udp_read(fd, reader, datagrams, drops);
}

static struct ls__udp_datagram receive_one(int fd) {
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops = 0;
  assert_int_equal(receive(fd, datagrams, &drops, LS__TEST_PATIENCE_MS), 1);
  assert_int_equal(drops, 0);
  return datagrams[0];
}

static void expect_nothing(int fd) {
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops;
  assert_int_equal(receive(fd, datagrams, &drops, 50), 0);
}

static void test_sockaddr_round_trip(void **state) {
  (void)state;
  static const char *const texts[] = {"192.0.2.1:5000", "0.0.0.0:0", "[2001:db8::1]:65535",
                                      "[fe80::1%3]:7",  ":5000",     "255.255.255.255:1"};
  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct sockaddr_storage name;
    struct ls__addr in = addr(texts[i]), out;
    socklen_t len = ls__addr_to_sockaddr(&in, &name);
    assert_int_equal(len,
                     in.family == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    ls__addr_from_sockaddr(&name, &out);
    assert_true(ls__addr_equal(&in, &out));
  }
  struct sockaddr_storage other = {.ss_family = AF_UNIX};
  struct ls__addr none;
  ls__addr_from_sockaddr(&other, &none);
  assert_int_equal(none.family, 0);
}

/* The peer of a dual-stack socket is of the family that it has. */
static void test_mapped_address_is_ipv4(void **state) {
  (void)state;
  struct sockaddr_storage name = {0};
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)&name;
  struct ls__addr out, wanted = addr("192.0.2.9:77");
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(77);
  six->sin6_scope_id = 5;
  memcpy(&six->sin6_addr, (uint8_t[16]){[10] = 0xff, 0xff, 192, 0, 2, 9}, 16);
  ls__addr_from_sockaddr(&name, &out);
  assert_true(ls__addr_equal(&out, &wanted));
}

static void test_family_of_socket(void **state) {
  (void)state;
  static const struct {
    const char *local, *remote;
    bool six;
  } rows[] = {
      {NULL, NULL, false},          {NULL, "192.0.2.1:5", false}, {NULL, "[2001:db8::1]:5", true},
      {"127.0.0.1:0", NULL, false}, {"[::1]:0", NULL, true},      {":0", "192.0.2.1:5", true}};
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ls__udp_config config = {.tos = -1, .ttl = -1};
    if (rows[i].local)
      config.local = addr(rows[i].local);
    if (rows[i].remote)
      config.remote = addr(rows[i].remote);
    int fd = open_config(&config);
    assert_int_equal(ls__udp_is_six(fd), rows[i].six);
    assert_int_not_equal(ls__udp_local(fd).port, 0);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
  }
}

static void test_refusals_say_why(void **state) {
  (void)state;
  int taken = open_at("127.0.0.1:0");
  char text[LS_ADDR_TEXT], in_use[200];
  struct ls__addr busy = ls__udp_local(taken);
  snprintf(in_use, sizeof in_use, "cannot listen on %s: Address already in use" LS__TEST_IN_USE,
           ls__addr_format(&busy, text));
  struct ls__udp_config rows[] = {config_of(text), config_of("192.0.2.1:0"),
                                  config_of("127.0.0.1:0"), config_of("0.0.0.0:0")};
  strcpy(rows[2].interface, "nosuch0");
  rows[3].group = addr("192.0.2.7:0");
  const char *const sentences[] = {
      in_use,
      "cannot listen on 192.0.2.1:0: Cannot assign requested address; "
      "no interface has this address, `ip address` lists those that one has",
      "there is no interface 'nosuch0': `ip link` lists those there are",
      "cannot join the multicast group 192.0.2.7:0: Invalid argument"};
  unsigned before = ls__test_descriptors();
  for (unsigned i = 0; i < 4; i++) {
    char err[256] = "";
    assert_int_equal(ls__udp_open(&rows[i], err, sizeof err), LS_ESYSTEM);
    assert_string_equal(err, sentences[i]);
    assert_int_equal(ls__udp_open(&rows[i], NULL, 0), LS_ESYSTEM);
  }
  assert_int_equal(ls__test_descriptors(), before);
  close(taken);
}

static int value_of(int fd, int level, int option) {
  int value = -1;
  socklen_t len = sizeof value;
  assert_int_equal(getsockopt(fd, level, option, &value, &len), 0);
  return value;
}

static void test_options_take_effect(void **state) {
  (void)state;
  /* A dual-stack socket sends to both families: both must carry the values. */
  static const char *const locals[] = {"127.0.0.1:0", "[::1]:0", ":0"};
  for (unsigned i = 0; i < 3; i++) {
    struct ls__udp_config config = config_of(locals[i]);
    config.tos = 0xb8;
    config.ttl = 9;
    config.receive_buffer = config.send_buffer = 100000;
    int fd = open_config(&config);
    /* The kernel doubles what is asked, for its own overhead. */
    assert_int_equal(value_of(fd, SOL_SOCKET, SO_RCVBUF), 200000);
    assert_int_equal(value_of(fd, SOL_SOCKET, SO_SNDBUF), 200000);
    if (i > 0) {
      assert_int_equal(value_of(fd, IPPROTO_IPV6, IPV6_TCLASS), 0xb8);
      assert_int_equal(value_of(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS), 9);
      assert_int_equal(value_of(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 9);
    }
    if (i != 1) {
      assert_int_equal(value_of(fd, IPPROTO_IP, IP_TOS), 0xb8);
      assert_int_equal(value_of(fd, IPPROTO_IP, IP_TTL), 9);
      assert_int_equal(value_of(fd, IPPROTO_IP, IP_MULTICAST_TTL), 9);
    }
    close(fd);
  }
}

/* Lengths from empty to a jumbo frame arrive as they were sent; what is longer comes cut. */
static void test_lengths(void **state) {
  (void)state;
  static const size_t lengths[] = {0, 1, 1316, 1472, LS__UDP_BYTES, LS__UDP_BYTES + 1, 65507};
  static uint8_t data[65536];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (uint8_t)(i * 7);
  int to = open_at("127.0.0.1:0"), from = open_at("127.0.0.1:0");
  struct ls__addr sender = ls__udp_local(from);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    send_to(from, ls__udp_local(to), data, lengths[i]);
    struct ls__udp_datagram got = receive_one(to);
    assert_int_equal(got.len, lengths[i] < LS__UDP_BYTES ? lengths[i] : LS__UDP_BYTES);
    assert_memory_equal(got.data, data, got.len);
    assert_true(ls__addr_equal(&got.from, &sender));
  }
  expect_nothing(to);
  close(to);
  close(from);
}

static void test_batches(void **state) {
  (void)state;
  int to = open_at("127.0.0.1:0"), from = open_at("127.0.0.1:0");
  struct ls__departure departures[LS_BATCH] = {0};
  struct ls__departure *batch[LS_BATCH];
  uint8_t numbers[LS_BATCH];
  uint64_t refused = 0;
  int reason = 0;
  for (int rounds = 0; rounds < 3; rounds++) {
    for (unsigned i = 0; i < LS_BATCH; i++) {
      numbers[i] = (uint8_t)(rounds * LS_BATCH + i);
      departures[i] =
          (struct ls__departure){.payload = &numbers[i], .length = 1, .to = ls__udp_local(to)};
      batch[i] = &departures[i];
    }
    assert_int_equal(ls__udp_send(from, false, batch, LS_BATCH, &refused, &reason), LS_BATCH);
  }
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops;
  for (unsigned seen = 0; seen < 3 * LS_BATCH;) {
    unsigned count = receive(to, datagrams, &drops, LS__TEST_PATIENCE_MS);
    assert_int_equal(count, seen == 0 ? LS__UDP_READ : 3 * LS_BATCH - LS__UDP_READ);
    for (unsigned i = 0; i < count; i++)
      assert_int_equal(*datagrams[i].data, seen++);
  }
  assert_int_equal(refused, 0);
  close(to);
  close(from);
}

/* One datagram that the system will not send does not keep those around it back. */
static void test_refused_datagram(void **state) {
  (void)state;
  static uint8_t data[65535];
  int to = open_at("127.0.0.1:0"), from = open_at("127.0.0.1:0");
  struct ls__addr there = ls__udp_local(to);
  struct ls__departure departures[] = {{.payload = data, .length = 1, .to = there},
                                       {.payload = data, .length = sizeof data, .to = there},
                                       {.payload = data, .length = 2, .to = there},
                                       {.payload = data, .length = 3, .to = addr("[::1]:9")}};
  struct ls__departure *batch[] = {&departures[0], &departures[1], &departures[2], &departures[3]};
  uint64_t refused = 5;
  int reason = 0;
  assert_int_equal(ls__udp_send(from, false, batch, 3, &refused, &reason), 3);
  assert_int_equal(refused, 6);
  assert_int_equal(reason, EMSGSIZE);
  assert_int_equal(ls__udp_send(from, false, batch + 3, 1, &refused, &reason), 1);
  assert_int_equal(refused, 7);
  assert_int_equal(reason, EAFNOSUPPORT);
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops;
  assert_int_equal(receive(to, datagrams, &drops, LS__TEST_PATIENCE_MS), 2);
  assert_int_equal(datagrams[0].len, 1);
  assert_int_equal(datagrams[1].len, 2);
  close(to);
  close(from);
}

/* An answer must come from the address that was called, on a socket that listens on all. */
static void test_called_address(void **state) {
  (void)state;
  static const struct {
    const char *listen, *client, *called;
  } rows[] = {{"0.0.0.0:0", "127.0.0.1:0", "127.0.0.2:0"},
              {":0", "127.0.0.1:0", "127.0.0.2:0"},
              {":0", "[::1]:0", "[::1]:0"},
              {"[::1]:0", "[::1]:0", "[::1]:0"}};
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    int server = open_at(rows[i].listen), client = open_at(rows[i].client);
    struct ls__addr called = addr(rows[i].called), wanted = called;
    called.port = ls__udp_local(server).port;
    send_to(client, called, "ask", 3);
    struct ls__udp_datagram got = receive_one(server);
    assert_true(ls__addr_equal(&got.to, &wanted));
    assert_int_equal(send_from(server, got.from, got.to, "answer", 6), 0);
    got = receive_one(client);
    assert_int_equal(got.len, 6);
    assert_true(ls__addr_equal(&got.from, &called));
    close(server);
    close(client);
  }
}

static void test_one_family_only(void **state) {
  (void)state;
  int six = open_at("[::1]:0"), client = open_at("127.0.0.1:0");
  struct ls__addr there = addr("127.0.0.1:0");
  there.port = ls__udp_local(six).port;
  send_to(client, there, "x", 1);
  expect_nothing(six);
  /* ... so that the port is free for IPv4. */
  struct ls__udp_config config = {.local = there, .tos = -1, .ttl = -1};
  close(open_config(&config));
  close(six);
  close(client);
}

/* The kernel's count comes with the first datagram that is queued after the loss. */
static void test_kernel_drops(void **state) {
  (void)state;
  struct ls__udp_config config = config_of("127.0.0.1:0");
  config.receive_buffer = 8192;
  int to = open_config(&config), from = open_at("127.0.0.1:0");
  uint8_t data[1000] = {0};
  for (int i = 0; i < 100; i++)
    send_to(from, ls__udp_local(to), data, sizeof data);
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops = 0;
  unsigned got = 0, count;
  while ((count = receive(to, datagrams, &drops, 50)) > 0)
    got += count;
  assert_in_range(got, 1, 50);
  send_to(from, ls__udp_local(to), data, 1);
  assert_int_equal(receive(to, datagrams, &drops, LS__TEST_PATIENCE_MS), 1);
  assert_int_equal(drops, 100 - got);
  close(to);
  close(from);
}

static int open_group(uint16_t port, const char *group, const char *source) {
  struct ls__udp_config config = {.local = {.family = 4, .port = port}, .tos = -1, .ttl = -1};
  strcpy(config.interface, "lo");
  config.group = addr(group);
  if (source)
    config.source = addr(source);
  return open_config(&config);
}

static int open_group_sender(const char *local) {
  struct ls__udp_config config = config_of(local);
  strcpy(config.interface, "lo");
  return open_config(&config);
}

/* Two groups on one port: each socket gets its own group only, and only the source it asked for. */
static void test_multicast(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  int one = open_group(port, "239.255.77.1:0", NULL);
  int other = open_group(port, "239.255.77.2:0", "127.0.0.5:0");
  int sender = open_group_sender("127.0.0.1:0"), source = open_group_sender("127.0.0.5:0");
  struct ls__addr to_one = addr("239.255.77.1:0"), to_other = addr("239.255.77.2:0");
  to_one.port = to_other.port = port;
  send_to(sender, to_one, "1", 1);
  assert_memory_equal(receive_one(one).data, "1", 1);
  expect_nothing(other);
  send_to(sender, to_other, "2", 1);
  expect_nothing(one);
  expect_nothing(other);
  send_to(source, to_other, "3", 1);
  struct ls__udp_datagram got = receive_one(other);
  assert_memory_equal(got.data, "3", 1);
  assert_int_equal(got.from.bytes[3], 5);
  expect_nothing(one);
  /* A second receiver of the same group on this machine gets a copy. */
  int second = open_group(port, "239.255.77.1:0", NULL);
  send_to(sender, to_one, "4", 1);
  assert_memory_equal(receive_one(one).data, "4", 1);
  assert_memory_equal(receive_one(second).data, "4", 1);
  for (const int *fd = (int[]){one, other, sender, source, second, -1}; *fd >= 0; fd++)
    close(*fd);
}

/* Many machines have no route for IPv6 groups on `lo`, so that only the membership is looked at. */
static void test_multicast_six(void **state) {
  (void)state;
  struct ls__udp_config config = config_of(":0");
  strcpy(config.interface, "lo");
  config.group = addr("[ff12::7701]:0");
  int fd = open_config(&config);
  assert_int_equal(value_of(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL), 0);
  FILE *members = fopen("/proc/net/igmp6", "r");
  assert_non_null(members);
  char line[200];
  bool found = false;
  while (fgets(line, sizeof line, members))
    found = found || (strstr(line, " lo ") && strstr(line, "ff120000000000000000000000007701"));
  fclose(members);
  assert_true(found);
  close(fd);
}

static int set_up(void **state) {
  (void)state;
  reader = ls__udp_reader_new();
  return reader ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  ls__udp_reader_free(reader);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sockaddr_round_trip),
      cmocka_unit_test(test_mapped_address_is_ipv4),
      cmocka_unit_test(test_family_of_socket),
      cmocka_unit_test(test_refusals_say_why),
      cmocka_unit_test(test_options_take_effect),
      cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_refused_datagram),
      cmocka_unit_test(test_called_address),
      cmocka_unit_test(test_one_family_only),
      cmocka_unit_test(test_kernel_drops),
      cmocka_unit_test(test_multicast),
      cmocka_unit_test(test_multicast_six),
  };
  return cmocka_run_group_tests_name("io/udp", tests, set_up, tear_down);
}
