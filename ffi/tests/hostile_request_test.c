/* Two listeners cannot be made to answer each other: what is an answer itself gets none. */
#include "flow/mux.h"
#include "flow/testing.h"

#include <unistd.h>

static void nothing(void *self, int64_t now_ns) {
  (void)self;
  (void)now_ns;
}

static int takes_any(void *self, const struct ls__handshake *hs) {
  (void)self;
  (void)hs;
  return 1;
}

/* Sends a datagram and lets the multiplexer read it; the length of its answer in `data`, or 0. */
static size_t ask(struct ls__mux *mux, int client, uint8_t *data, size_t len) {
  ls__test_send(client, ls__udp_local(mux->fd).port, data, len);
  mux->source.ready(mux->source.self, LS_S);
  ssize_t got = recv(client, data, LS_DATAGRAM_MAX, MSG_DONTWAIT);
  return got > 0 ? (size_t)got : 0;
}

/* Whoever forges socket 0 into a request gets an answer that comes to no socket either. */
static void test_answers_get_none(void **state) {
  (void)state;
  struct ls__reactor reactor = {0};
  struct ls__udp_config config = {.tos = -1, .ttl = -1};
  char err[256] = "";
  assert_int_equal(ls__loop_init(&reactor.loop, nothing, NULL), 0);
  assert_int_equal(ls__addr_parse("127.0.0.1:0", &config.local), 0);
  struct ls__mux *mux = ls__mux_open(&reactor, &config, err, sizeof err);
  assert_non_null(mux);
  struct ls__mux_listener listener = {.match = takes_any, .self = mux};
  assert_int_equal(ls__mux_listen(mux, &listener), 0);
  int client = ls__test_socket(0);

  uint8_t data[LS_DATAGRAM_MAX];
  struct ls__header header = {.control = true, .type = LS__CONTROL_HANDSHAKE};
  struct ls__handshake hs = {.version = 4,
                             .extension = LS__HS_DGRAM,
                             .isn = 1,
                             .mss = 1500,
                             .window_packets = 8192,
                             .request = LS__REQUEST_INDUCTION};
  ls__header_put(&header, data);
  size_t len = LS_HEADER_BYTES + ls__handshake_put(&hs, data + LS_HEADER_BYTES);
  len = ask(mux, client, data, len);
  assert_int_equal(len, LS_HEADER_BYTES + LS_HANDSHAKE_BYTES);
  assert_int_equal(mux->unknown, 0);
  assert_int_equal(ask(mux, client, data, len), 0);
  assert_int_equal(mux->unknown, 1);

  ls__mux_release(mux);
  ls__loop_free(&reactor.loop);
  close(client);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_get_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
