/* SRT endpoints through the public interface: what they carry arrives, whole, in order and in
 * time, also at the end of a connection. */
#include "base/prng.h"
#include "flow/proxy_testing.h"

#include <stdlib.h>

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

/* A sender from UDP, calling or listening, and a receiver into a memory file. */
struct pair {
  int64_t sender, receiver;
  int32_t send_link, receive_link;
  uint16_t in;
  int source, out;
};

static struct pair make_pair(bool sender_calls, uint16_t call, uint16_t listen, int latency_ms) {
  struct pair p = {.in = ls__test_port(), .source = ls__test_socket(0)};
  char path[64];
  p.out = ls__test_file("", 0, path);
  p.sender = ls__test_flow(engine);
  p.receiver = ls__test_flow(engine);
  ls__test_add_udp(p.sender, LS_INPUT, p.in);
  p.send_link = ls__test_add_srt(p.sender, LS_OUTPUT, sender_calls ? "caller" : "listener",
                                 sender_calls ? call : listen);
  p.receive_link = ls__test_add_srt(p.receiver, LS_INPUT, sender_calls ? "listener" : "caller",
                                    sender_calls ? listen : call);
  ls__test_number(p.receiver, 0, "receive_latency_ns", latency_ms * LS_MS);
  ls__test_add_fd(p.receiver, LS_OUTPUT, p.out);
  return p;
}

static void start_pair(const struct pair *p) {
  ls__test_start(p->receiver);
  ls__test_start(p->sender);
  assert_true(ls__test_until(ls__test_link(p->sender, p->send_link).state == LS_LINK_CONNECTED));
}

static void close_pair(const struct pair *p) {
  ls_close(p->sender);
  ls_close(p->receiver);
  close(p->source);
  close(p->out);
}

/* Numbered datagrams into the sender, taken in when this returns. */
static void feed(const struct pair *p, uint32_t from, uint32_t count, size_t len) {
  uint8_t payload[1500] = {0};
  uint64_t before = ls__test_endpoint(p->sender, 0).packets;
  for (uint32_t i = from; i < from + count; i++) {
    ls__put32(payload, i);
    ls__put32(payload + len - 4, ~i);
    ls__test_send(p->source, p->in, payload, len);
    if (i % 64 == 63)
      usleep(500);
  }
  assert_true(ls__test_until(ls__test_endpoint(p->sender, 0).packets == before + count));
}

/* The file holds the payloads from..from+count, and nothing else, from its beginning on. */
static void check_file(const struct pair *p, uint32_t from, uint32_t count, size_t len) {
  uint8_t word[4];
  assert_true(ls__test_until((size_t)lseek(p->out, 0, SEEK_END) >= count * len));
  usleep(20000);
  assert_int_equal(lseek(p->out, 0, SEEK_END), count * len);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(pread(p->out, word, 4, (off_t)(i * len)), 4);
    assert_int_equal(ls__get32(word), from + i);
    assert_int_equal(pread(p->out, word, 4, (off_t)((i + 1) * len - 4)), 4);
    assert_int_equal(~ls__get32(word), from + i);
  }
}

/* All that was pushed before the stop arrives; then the peer is told. */
static void test_stop_drains(void **state) {
  (void)state;
  for (int sender_calls = 0; sender_calls < 2; sender_calls++) {
    uint16_t port = ls__test_port();
    struct pair p = make_pair(sender_calls, port, port, 200);
    start_pair(&p);
    feed(&p, 0, 500, 1316);
    assert_int_equal(ls_stop(p.sender), 0);
    feed(&p, 500, 0, 1316);
    assert_string_equal(ls__test_ended(engine, p.sender).text, "stopped");
    check_file(&p, 0, 500, 1316);
    struct ls__stats_link sent = ls__test_link(p.sender, p.send_link);
    assert_int_equal(sent.packets_sent_unique, 500);
    assert_int_equal(sent.bytes_sent_unique, 500 * (1316 + 44));
    assert_int_equal(sent.packets_sent, 500 + sent.packets_retransmitted);
    assert_int_equal(sent.packets_send_dropped, 0);
    assert_int_equal(sent.send_buffer_packets, 0);
    close_pair(&p);
  }
}

/* What the receiver holds is played out, when the sender goes at once, before a new connection: the
 * caller calls later, the listener answers later. */
static void test_new_connection_waits_for_playout(void **state) {
  (void)state;
  for (int sender_calls = 0; sender_calls < 2; sender_calls++) {
    uint16_t port = ls__test_port();
    struct pair p = make_pair(sender_calls, port, port, 500);
    start_pair(&p);
    feed(&p, 0, 200, 1316);
    assert_true(
        ls__test_until(ls__test_link(p.receiver, p.receive_link).receive_buffer_packets == 200));
    assert_int_equal(ls_close(p.sender), 0);
    struct pair next = make_pair(sender_calls, port, port, 500); /* its sender only */
    ls__test_start(next.sender);
    assert_true(
        ls__test_until(ls__test_link(next.sender, next.send_link).state == LS_LINK_CONNECTED));
    feed(&next, 200, 50, 1316);
    check_file(&p, 0, 250, 1316);
    struct ls__stats_link got;
    assert_true(ls__test_until(
        (got = ls__test_link(p.receiver, p.receive_link), got.packets_received_unique == 250)));
    assert_int_equal(got.connections, 2);
    assert_int_equal(got.packets_receive_dropped, 0);
    close_pair(&next);
    close_pair(&p);
  }
}

/* A stop of the receiver still plays what it holds. */
static void test_receiver_stops(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct pair p = make_pair(true, port, port, 500);
  start_pair(&p);
  feed(&p, 0, 100, 1316);
  assert_true(
      ls__test_until(ls__test_link(p.receiver, p.receive_link).receive_buffer_packets == 100));
  assert_int_equal(ls_stop(p.receiver), 0);
  assert_string_equal(ls__test_ended(engine, p.receiver).text, "stopped");
  check_file(&p, 0, 100, 1316);
  close_pair(&p);
}

/* A peer that does not answer the last packets holds a stop up only until they are too late. */
static void test_stop_without_peer(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  static struct ls__test_proxy proxy;
  ls__test_proxy_start(&proxy, port);
  struct pair p = make_pair(true, proxy.port, port, 100);
  start_pair(&p);
  feed(&p, 0, 10, 1316);
  atomic_store(&proxy.cut, true);
  feed(&p, 10, 10, 1316);
  assert_int_equal(ls_stop(p.sender), 0);
  int64_t start_ns = ls__clock_now();
  assert_string_equal(ls__test_ended(engine, p.sender).text, "stopped");
  assert_true(ls__clock_now() - start_ns < 4 * LS_S);
  assert_int_equal(ls__test_link(p.sender, p.send_link).state, LS_LINK_CLOSED);
  assert_true(ls__test_until(ls__test_link(p.sender, p.send_link).packets_send_dropped == 10));
  close_pair(&p);
  ls__test_proxy_end(&proxy);
}

/* A file as fast as it goes: the receiver's buffer, the window and the sender's buffer hold it
 * back, and nothing is lost. */
static void test_back_pressure(void **state) {
  (void)state;
  enum { BYTES = 6 << 20 };
  for (int sender_calls = 0; sender_calls < 2; sender_calls++) {
    struct ls__prng prng;
    uint8_t *bytes = malloc(BYTES), *back = malloc(BYTES);
    char path[64], out_path[64];
    uint16_t port = ls__test_port();
    ls__prng_seed(&prng, 6);
    for (size_t i = 0; i < BYTES; i++)
      bytes[i] = (uint8_t)ls__prng_next(&prng);
    int in = ls__test_file(bytes, BYTES, path), out = ls__test_file("", 0, out_path);
    int64_t sender = ls__test_flow(engine), receiver = ls__test_flow(engine);
    ls__test_add_fd(sender, LS_INPUT, in);
    int32_t link = ls__test_add_srt(sender, LS_OUTPUT, sender_calls ? "caller" : "listener", port);
    int32_t receive_link =
        ls__test_add_srt(receiver, LS_INPUT, sender_calls ? "listener" : "caller", port);
    ls__test_number(sender, 1, "buffer_packets", 1024);
    ls__test_number(receiver, 0, "buffer_packets", 2048);
    ls__test_option(receiver, LS_SELF, "stop_with_link", "true");
    ls__test_add_fd(receiver, LS_OUTPUT, out);
    ls__test_start(sender);
    ls__test_start(receiver);
    assert_true(ls__test_until(ls__test_flow_state(sender) == LS_FLOW_ENDED));
    assert_true(ls__test_until(ls__test_flow_state(receiver) == LS_FLOW_ENDED));
    struct ls__stats_endpoint stats = ls__test_endpoint(sender, 1);
    assert_int_equal(stats.bytes, BYTES);
    assert_int_equal(stats.dropped_full + stats.dropped_unconnected + stats.dropped_size, 0);
    assert_int_equal(ls__test_link(sender, link).packets_send_dropped, 0);
    assert_int_equal(ls__test_link(receiver, receive_link).packets_receive_dropped, 0);
    assert_int_equal(ls__test_link(receiver, receive_link).packets_no_room, 0);
    assert_int_equal(lseek(out, 0, SEEK_END), BYTES);
    assert_int_equal(pread(out, back, BYTES, 0), BYTES);
    assert_memory_equal(back, bytes, BYTES);
    assert_int_equal(ls_close(sender), 0);
    assert_int_equal(ls_close(receiver), 0);
    close(in);
    close(out);
    free(bytes);
    free(back);
  }
}

/* Payloads of every size pass; no datagram on the wire is longer than 1472 bytes. */
static void test_sizes(void **state) {
  (void)state;
  static const size_t sizes[] = {8, 188, 1316, 1455, 1456};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint16_t port = ls__test_port();
    static struct ls__test_proxy proxy;
    ls__test_proxy_start(&proxy, port);
    struct pair p = make_pair(true, proxy.port, port, 40);
    start_pair(&p);
    feed(&p, 0, 50, sizes[i]);
    check_file(&p, 0, 50, sizes[i]);
    assert_true(atomic_load(&proxy.longest) <= 1472);
    assert_true(atomic_load(&proxy.longest) >= sizes[i] + 16);
    close_pair(&p);
    ls__test_proxy_end(&proxy);
  }
}

/* A peer with a smaller packet size gets none that is larger: such payloads are counted. */
static void test_small_mss(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct pair p = make_pair(true, port, port, 40);
  ls__test_option(p.receiver, 0, "mss", "1044");
  start_pair(&p);
  feed(&p, 0, 10, 1000);
  feed(&p, 10, 5, 1001);
  assert_true(ls__test_until(ls__test_endpoint(p.sender, 1).dropped_size == 5));
  assert_int_equal(ls__test_endpoint(p.sender, 1).packets, 10);
  check_file(&p, 0, 10, 1000);
  close_pair(&p);
}

/* While there is no connection live payload is dropped and counted; then the count stands still. */
static void test_unconnected(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct pair p = make_pair(false, port, port, 40);
  ls__test_start(p.sender);
  feed(&p, 0, 100, 1316);
  assert_true(ls__test_until(ls__test_endpoint(p.sender, 1).dropped_unconnected == 100));
  ls__test_start(p.receiver);
  assert_true(ls__test_until(ls__test_link(p.sender, p.send_link).state == LS_LINK_CONNECTED));
  feed(&p, 100, 100, 1316);
  check_file(&p, 100, 100, 1316);
  assert_true(ls__test_until(ls__test_endpoint(p.sender, 1).packets == 100));
  assert_int_equal(ls__test_endpoint(p.sender, 1).dropped_unconnected, 100);
  close_pair(&p);
}

/* A peer that takes nothing: the buffer fills, the rest is refused, what is too old is given up;
 * every packet is in one of the counters. */
static void test_full_and_too_late(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  static struct ls__test_proxy proxy;
  ls__test_proxy_start(&proxy, port);
  struct pair p = make_pair(true, proxy.port, port, 40);
  ls__test_number(p.sender, 1, "buffer_packets", 256);
  start_pair(&p);
  atomic_store(&proxy.cut, true);
  feed(&p, 0, 1000, 1316);
  struct ls__stats_endpoint stats;
  assert_true(ls__test_until(
      (stats = ls__test_endpoint(p.sender, 1), stats.dropped_full + stats.packets == 1000)));
  assert_true(stats.packets >= 256 && stats.dropped_full > 0);
  struct ls__stats_link link;
  assert_true(ls__test_until(
      (link = ls__test_link(p.sender, p.send_link), link.packets_send_dropped == stats.packets)));
  assert_int_equal(link.send_buffer_packets, 0);
  close_pair(&p);
  ls__test_proxy_end(&proxy);
}

/* The time from the source to the viewer is the latency, for a looped clip and a check. */
static void test_latency(void **state) {
  (void)state;
  static uint8_t clip[LS__TEST_CLIP][LS_TS_SIZE];
  char path[64];
  uint16_t port = ls__test_port();
  ls__test_clip(clip);
  int file = ls__test_file(clip, sizeof clip, path);
  int64_t sender = ls__test_flow(engine), receiver = ls__test_flow(engine);
  int32_t input = ls__test_add(sender, LS_INPUT, LS_KIND_FILE);
  ls__test_option(sender, input, "path", path);
  ls__test_option(sender, input, "pace", "pcr");
  ls__test_option(sender, input, "rate_bps", "3008000");
  ls__test_option(sender, input, "loop", "true");
  ls__test_option(sender, input, "marker", "true");
  ls__test_add_srt(sender, LS_OUTPUT, "caller", port);
  int32_t link = ls__test_add_srt(receiver, LS_INPUT, "listener", port);
  int32_t check = ls__test_add(receiver, LS_OUTPUT, LS_KIND_CHECK);
  ls__test_option(receiver, 0, "receive_latency_ns", "300000000");
  ls__test_start(receiver);
  ls__test_start(sender);
  struct ls__stats_endpoint stats;
  assert_true(
      ls__test_until((stats = ls__test_endpoint(receiver, check), stats.check_ts_packets >= 2200)));
  assert_int_equal(stats.check_ts_lost + stats.check_ts_wrong + stats.errors, 0);
  /* The clock of playout starts with the handshake, half a round trip and a wake-up after it was
   * sent; stamps have microseconds. */
  assert_true(stats.check_latency_min_ns >= 300 * LS_MS - 100 * LS_US);
  assert_true(stats.check_latency_p50_ns < 350 * LS_MS);
  struct ls__stats_link got = ls__test_link(receiver, link);
  assert_true(got.receive_buffer_ns > 200 * LS_MS && got.receive_buffer_ns < 400 * LS_MS);
  assert_int_equal(got.packets_receive_lost, 0);
  assert_int_equal(got.packets_belated, 0);
  close(file);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(test_stop_drains),       TEST(test_new_connection_waits_for_playout),
      TEST(test_receiver_stops),    TEST(test_stop_without_peer),
      TEST(test_back_pressure),     TEST(test_sizes),
      TEST(test_small_mss),         TEST(test_unconnected),
      TEST(test_full_and_too_late), TEST(test_latency),
  };
#undef TEST
  return cmocka_run_group_tests_name("flow/srt_payload", tests, NULL, NULL);
}
