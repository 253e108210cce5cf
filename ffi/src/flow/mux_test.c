/* The multiplexer on a real socket, turned by hand: the test is the clock, the listeners and the
 * owners of the links. */
#include "flow/mux.h"

#include "base/prng.h"
#include "flow/testing.h"
#include "srt/reject.h"

#include <stdlib.h>

#define MINUTE_NS (60 * LS_S)

/* The owner of a link, and a listener, that note what they are told. */
struct owner {
  unsigned inputs, pumps, accepts, refusals;
  size_t last_len;
  uint32_t last_peer_id;
  int match, result; /* a listener's answers */
  int last_reject;
};

struct fixture {
  struct ls__reactor reactor;
  struct ls__mux *mux;
  struct ls__addr addr;
  int client, other;
  int64_t now_ns;
};

static struct fixture f;

static void nothing(void *self, int64_t now_ns) {
  (void)self;
  (void)now_ns;
}

static struct ls__udp_config config_of(const char *local) {
  struct ls__udp_config config = {.tos = -1, .ttl = -1};
  assert_int_equal(ls__addr_parse(local, &config.local), 0);
  return config;
}

static struct ls__mux *open_mux(const struct ls__udp_config *config) {
  char err[256] = "";
  struct ls__mux *mux = ls__mux_open(&f.reactor, config, err, sizeof err);
  if (!mux)
    fail_msg("%s", err);
  return mux;
}

static int begin(void **state) {
  (void)state;
  memset(&f, 0, sizeof f);
  assert_int_equal(ls__loop_init(&f.reactor.loop, nothing, NULL), 0);
  ls__random_bytes(f.reactor.cookie_key, sizeof f.reactor.cookie_key);
  struct ls__udp_config config = config_of("127.0.0.1:0");
  f.mux = open_mux(&config);
  f.addr = ls__udp_local(f.mux->fd);
  f.client = ls__test_socket(0);
  f.other = ls__test_socket(0);
  f.now_ns = 1000 * MINUTE_NS;
  return 0;
}

static int end(void **state) {
  (void)state;
  if (f.mux)
    ls__mux_release(f.mux);
  assert_null(f.reactor.muxes);
  ls__loop_free(&f.reactor.loop);
  close(f.client);
  close(f.other);
  return 0;
}

/* Lets the multiplexer read what has come. */
static void turn(void) {
  f.mux->source.ready(f.mux->source.self, f.now_ns);
}

static void send_bytes(int fd, const uint8_t *data, size_t len) {
  ls__test_send(fd, f.addr.port, data, len);
}

/* A handshake packet; its length. */
static size_t put_handshake(const struct ls__handshake *hs, uint32_t to_id, uint8_t *out) {
  struct ls__header header = {
      .control = true, .type = LS__CONTROL_HANDSHAKE, .stamp_us = 77, .socket_id = to_id};
  ls__header_put(&header, out);
  return LS_HEADER_BYTES + ls__handshake_put(hs, out + LS_HEADER_BYTES);
}

static struct ls__handshake induction(uint32_t id) {
  return (struct ls__handshake){.version = 4,
                                .extension = LS__HS_DGRAM,
                                .isn = 12345,
                                .mss = 1500,
                                .window_packets = 8192,
                                .request = LS__REQUEST_INDUCTION,
                                .socket_id = id};
}

static struct ls__handshake conclusion(uint32_t id, uint32_t cookie, const char *stream_id) {
  struct ls__handshake hs = {.version = 5,
                             .extension = LS__HS_EXT_HSREQ | LS__HS_EXT_CONFIG,
                             .isn = 12345,
                             .mss = 1500,
                             .window_packets = 8192,
                             .request = LS__REQUEST_CONCLUSION,
                             .socket_id = id,
                             .cookie = cookie,
                             .has_hs = true,
                             .srt_version = LS_SRT_VERSION,
                             .flags = LS__FLAG_TSBPDSND | LS__FLAG_TSBPDRCV | LS__FLAG_REXMIT};
  hs.stream_id_len = (uint16_t)strlen(stream_id);
  strcpy(hs.stream_id, stream_id);
  return hs;
}

/* An answer that is there now: its handshake; false when there is none. */
static bool answer(int fd, struct ls__header *header, struct ls__handshake *hs, size_t *len) {
  uint8_t data[2048];
  ssize_t got = recv(fd, data, sizeof data, MSG_DONTWAIT);
  if (got < 0)
    return false;
  *len = (size_t)got;
  assert_int_equal(ls__header_get(data, *len, header), 0);
  assert_int_equal(ls__handshake_get(data + LS_HEADER_BYTES, *len - LS_HEADER_BYTES, hs), 0);
  return true;
}

static void expect_silence(int fd) {
  uint8_t data[2048];
  assert_int_equal(recv(fd, data, sizeof data, MSG_DONTWAIT), -1);
}

static void note_input(void *self, const struct ls__udp_datagram *datagram, int64_t now_ns) {
  struct owner *owner = self;
  assert_int_equal(now_ns, f.now_ns);
  owner->inputs++;
  owner->last_len = datagram->len;
}

static void note_pump(void *self, int64_t now_ns) {
  (void)now_ns;
  ((struct owner *)self)->pumps++;
}

static int note_match(void *self, const struct ls__handshake *hs) {
  (void)hs;
  return ((struct owner *)self)->match;
}

static int note_accept(void *self, const struct ls__udp_datagram *datagram,
                       const struct ls__header *header, const struct ls__handshake *hs,
                       int64_t now_ns) {
  struct owner *owner = self;
  (void)datagram;
  (void)header;
  (void)now_ns;
  owner->accepts++;
  owner->last_peer_id = hs->socket_id;
  return owner->result;
}

static void note_refused(void *self, const struct ls__addr *caller, int reject, int64_t now_ns) {
  struct owner *owner = self;
  struct ls__addr client = ls__udp_local(f.client);
  assert_true(ls__addr_equal(caller, &client));
  assert_int_equal(now_ns, f.now_ns);
  owner->refusals++;
  owner->last_reject = reject;
}

static void listen_by(struct owner *owner) {
  struct ls__mux_listener listener = {
      .match = note_match, .accept = note_accept, .refused = note_refused, .self = owner};
  assert_int_equal(ls__mux_listen(f.mux, &listener), 0);
}

static uint32_t cookie_for(int fd) {
  struct ls__handshake hs = induction(5);
  struct ls__header header;
  uint8_t data[LS_DATAGRAM_MAX];
  size_t len = put_handshake(&hs, 0, data);
  send_bytes(fd, data, len);
  turn();
  assert_true(answer(fd, &header, &hs, &len));
  return hs.cookie;
}

/* An induction is answered with a cookie, and never with more bytes than it has: whoever forges a
 * sender's address gains nothing (draft-sharabayko-srt §4.3.1.1). */
static void test_induction(void **state) {
  (void)state;
  static const size_t lengths[] = {64, 65, 100, 500, LS_DATAGRAM_MAX};
  struct owner owner = {.match = 1};
  listen_by(&owner);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    struct ls__handshake hs = induction(900 + i);
    struct ls__header header;
    uint8_t data[LS_DATAGRAM_MAX] = {0};
    size_t len = put_handshake(&hs, 0, data);
    assert_int_equal(len, 64);
    send_bytes(f.client, data, lengths[i]);
    turn();
    assert_true(answer(f.client, &header, &hs, &len));
    assert_true(len <= lengths[i]);
    assert_int_equal(header.socket_id, 900 + i);
    assert_int_equal(header.type, LS__CONTROL_HANDSHAKE);
    assert_int_equal(hs.version, 5);
    assert_int_equal(hs.extension, LS__HS_MAGIC);
    assert_int_equal(hs.request, LS__REQUEST_INDUCTION);
    assert_int_equal(hs.isn, 12345);
    expect_silence(f.client);
  }
  assert_int_equal(f.mux->unknown, 0);
  assert_int_equal(owner.accepts, 0);
}

/* What is no request, or comes to a port where nobody listens, is counted and not answered. */
static void test_not_answered(void **state) {
  (void)state;
  struct owner owner = {.match = 1};
  uint8_t data[2000] = {0};
  struct ls__handshake hs = induction(7);
  size_t len = put_handshake(&hs, 0, data);
  send_bytes(f.client, data, len); /* no listener yet */
  turn();
  assert_int_equal(f.mux->unknown, 1);
  listen_by(&owner);
  static const int32_t requests[] = {LS__REQUEST_WAVEAHAND, LS__REQUEST_AGREEMENT, 1002, -77};
  for (unsigned i = 0; i < 4; i++) {
    hs.request = requests[i];
    put_handshake(&hs, 0, data);
    send_bytes(f.client, data, len);
  }
  send_bytes(f.client, data, 0);
  send_bytes(f.client, data, 15);
  send_bytes(f.client, data, 63);
  send_bytes(f.client, data, LS_DATAGRAM_MAX + 1);
  memset(data, 0, 16); /* a data packet for socket 0 */
  send_bytes(f.client, data, 200);
  turn();
  assert_int_equal(f.mux->unknown, 10);
  expect_silence(f.client);
  assert_int_equal(owner.accepts, 0);
}

/* A cookie holds for its caller's address, for one to two minutes; another is dropped silently. */
static void test_cookies(void **state) {
  (void)state;
  struct owner owner = {.match = 1, .result = -1};
  listen_by(&owner);
  uint8_t data[LS_DATAGRAM_MAX];
  uint32_t cookie = cookie_for(f.client);
  const struct {
    int fd;
    uint32_t cookie;
    int64_t later_ns;
    bool taken;
  } rows[] = {{f.client, cookie, 0, true},
              {f.client, cookie + 1, 0, false},
              {f.client, 0, 0, false},
              {f.other, cookie, 0, false},
              {f.client, cookie, MINUTE_NS, true},
              {f.client, cookie, MINUTE_NS, false},
              {f.client, cookie, -2 * MINUTE_NS, true}};
  unsigned accepts = 0;
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ls__handshake hs = conclusion(100 + i, rows[i].cookie, "x");
    f.now_ns += rows[i].later_ns;
    uint64_t unknown = f.mux->unknown;
    send_bytes(rows[i].fd, data, put_handshake(&hs, 0, data));
    turn();
    accepts += rows[i].taken;
    assert_int_equal(owner.accepts, accepts);
    assert_int_equal(f.mux->unknown, unknown + !rows[i].taken);
    expect_silence(rows[i].fd);
  }
}

/* The listener that fits best is asked; a refusal goes back with its reason, to the caller's own
 * socket. That listener hears of it, and the first one where nobody was meant. */
static void test_selection(void **state) {
  (void)state;
  struct owner owners[3] = {{.match = 1}, {.match = 5}, {.match = 3}};
  struct ls__header header;
  uint8_t data[LS_DATAGRAM_MAX];
  size_t len;
  for (unsigned i = 0; i < 3; i++) {
    owners[i].result = LS__REJECT_CONFLICT;
    listen_by(&owners[i]);
  }
  uint32_t cookie = cookie_for(f.client);
  const struct {
    int matches[3], chosen, code;
  } rows[] = {{{1, 5, 3}, 1, LS__REJECT_CONFLICT},
              {{7, 5, 3}, 0, LS__REJECT_CONFLICT},
              {{0, 0, 3}, 2, LS__REJECT_CONFLICT},
              {{2, 2, 2}, 0, LS__REJECT_CONFLICT}, /* among equals the first */
              {{0, 0, 0}, -1, LS__REJECT_NOTFOUND}};
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct ls__handshake hs = conclusion(50 + i, cookie, "cam");
    for (int j = 0; j < 3; j++) {
      owners[j].match = rows[i].matches[j];
      owners[j].accepts = owners[j].refusals = 0;
    }
    size_t asked = put_handshake(&hs, 0, data);
    send_bytes(f.client, data, asked);
    turn();
    for (int j = 0; j < 3; j++)
      assert_int_equal(owners[j].accepts, j == rows[i].chosen);
    int told = rows[i].chosen < 0 ? 0 : rows[i].chosen;
    for (int j = 0; j < 3; j++)
      assert_int_equal(owners[j].refusals, j == told);
    assert_int_equal(owners[told].last_reject, rows[i].code);
    assert_true(answer(f.client, &header, &hs, &len));
    assert_true(len <= asked);
    assert_int_equal(hs.request, LS__REJECT_WIRE + rows[i].code);
    assert_int_equal(header.socket_id, 50 + i);
  }
  /* A listener that has gone is not asked. */
  owners[0].match = owners[1].match = owners[2].match = 1;
  for (unsigned i = 0; i < 3; i++) {
    owners[0].accepts = owners[1].accepts = owners[2].accepts = 0;
    ls__mux_unlisten(f.mux, &owners[i]);
    ls__mux_unlisten(f.mux, &owners[i]);
    struct ls__handshake hs = conclusion(60 + i, cookie, "cam");
    send_bytes(f.client, data, put_handshake(&hs, 0, data));
    turn();
    assert_int_equal(owners[i].accepts, 0);
    assert_int_equal(f.mux->listener_count, 2 - i);
  }
}

/* A conclusion that cannot be served is refused before any listener is asked; the one that was
 * meant hears of it. */
static void test_refused_by_rule(void **state) {
  (void)state;
  struct owner owner = {.match = 1, .result = -1}, meant = {.match = 2, .result = -1};
  struct ls__header header;
  uint8_t data[LS_DATAGRAM_MAX];
  size_t len;
  listen_by(&owner);
  listen_by(&meant);
  struct ls__handshake hs = conclusion(9, cookie_for(f.client), "");
  hs.flags |= LS__FLAG_STREAM;
  send_bytes(f.client, data, put_handshake(&hs, 0, data));
  turn();
  assert_true(answer(f.client, &header, &hs, &len));
  assert_int_equal(hs.request, LS__REJECT_WIRE + LS__REJECT_MESSAGEAPI);
  assert_int_equal(owner.accepts + meant.accepts, 0);
  assert_int_equal(owner.refusals, 0);
  assert_int_equal(meant.refusals, 1);
  assert_int_equal(meant.last_reject, LS__REJECT_MESSAGEAPI);
}

static struct ls__mux_binding binding_of(uint32_t id, int peer, uint32_t peer_id,
                                         struct owner *owner) {
  return (struct ls__mux_binding){.socket_id = id,
                                  .peer = ls__udp_local(peer),
                                  .peer_id = peer_id,
                                  .isn = 12345,
                                  .user = {.input = note_input, .pump = note_pump, .self = owner}};
}

static void send_data(int fd, uint32_t to_id, size_t payload) {
  uint8_t data[2000] = {0};
  struct ls__header header = {.seq = 1, .position = 3, .msgno = 1, .socket_id = to_id};
  ls__header_put(&header, data);
  send_bytes(fd, data, LS_HEADER_BYTES + payload);
}

/* A packet reaches the link of its socket ID when it comes from that link's peer, and only then;
 * after a batch each link that had input is pumped once. */
static void test_links(void **state) {
  (void)state;
  struct owner one = {0}, two = {0};
  struct ls__mux_binding first = binding_of(1000, f.client, 0, &one);
  struct ls__mux_binding second = binding_of(1001, f.other, 0, &two);
  assert_int_equal(ls__mux_bind(f.mux, &first), 0);
  assert_int_equal(ls__mux_bind(f.mux, &second), 0);
  send_data(f.client, 1000, 1316);
  send_data(f.client, 1000, 5);
  send_data(f.other, 1001, LS_PAYLOAD_MAX);
  send_data(f.other, 1000, 5);                   /* from another address */
  send_data(f.client, 1001, 5);                  /* the same */
  send_data(f.client, 1002, 5);                  /* no such link */
  send_data(f.client, UINT32_MAX, 5);            /* none either */
  send_data(f.client, 1000, LS_PAYLOAD_MAX + 1); /* longer than any packet */
  turn();
  assert_int_equal(one.inputs, 2);
  assert_int_equal(one.last_len, LS_HEADER_BYTES + 5);
  assert_int_equal(two.inputs, 1);
  assert_int_equal(one.pumps, 1);
  assert_int_equal(two.pumps, 1);
  assert_int_equal(f.mux->unknown, 5);
  ls__mux_unbind(f.mux, 1000);
  ls__mux_unbind(f.mux, 1000);
  ls__mux_unbind(f.mux, 0);
  send_data(f.client, 1000, 5);
  turn();
  assert_int_equal(one.inputs, 2);
  assert_int_equal(one.pumps, 1);
  assert_int_equal(f.mux->unknown, 6);
}

/* A caller that repeats its conclusion is answered by the link that it has. */
static void test_repeated_conclusion(void **state) {
  (void)state;
  struct owner listener = {.match = 1, .result = LS__REJECT_CONFLICT}, link = {0};
  uint8_t data[LS_DATAGRAM_MAX];
  listen_by(&listener);
  uint32_t cookie = cookie_for(f.client);
  struct ls__mux_binding binding = binding_of(1000, f.client, 33, &link);
  assert_int_equal(ls__mux_bind(f.mux, &binding), 0);
  struct ls__handshake hs = conclusion(33, cookie, "");
  send_bytes(f.client, data, put_handshake(&hs, 0, data));
  turn();
  assert_int_equal(link.inputs, 1);
  assert_int_equal(link.pumps, 1);
  assert_int_equal(listener.accepts, 0);
  hs.socket_id = 34; /* another socket of the same address, and another connection of the same */
  send_bytes(f.client, data, put_handshake(&hs, 0, data));
  hs.socket_id = 33;
  hs.isn = 777;
  send_bytes(f.client, data, put_handshake(&hs, 0, data));
  turn();
  assert_int_equal(link.inputs, 1);
  assert_int_equal(listener.accepts, 2);
}

/* Links on one address share a socket, which is open as long as one uses it. */
static void test_sharing(void **state) {
  (void)state;
  char err[256] = "", text[64], wanted[200];
  unsigned descriptors = ls__test_descriptors();
  snprintf(text, sizeof text, "127.0.0.1:%u", ls__test_port());
  struct ls__udp_config config = config_of(text), any = config_of("127.0.0.1:0");
  struct ls__mux *one = open_mux(&config);
  assert_ptr_equal(open_mux(&config), one);
  assert_ptr_equal(open_mux(&config), one);
  assert_int_equal(ls__test_descriptors(), descriptors + 1);
  struct ls__mux *two = open_mux(&any), *three = open_mux(&any); /* port 0: each its own */
  assert_ptr_not_equal(two, three);
  ls__mux_release(two);
  ls__mux_release(three);
  strcpy(config.interface, "lo"); /* another way to the same port is not the same */
  assert_null(ls__mux_open(&f.reactor, &config, err, sizeof err));
  snprintf(wanted, sizeof wanted, "cannot listen on %s: Address already in use" LS__TEST_IN_USE,
           text);
  assert_string_equal(err, wanted);
  ls__mux_release(one);
  ls__mux_release(one);
  assert_int_equal(ls__test_descriptors(), descriptors + 1);
  ls__mux_release(one);
  assert_int_equal(ls__test_descriptors(), descriptors);
}

/* An open that fails half-way keeps nothing. */
static void test_open_fails_clean(void **state) {
  (void)state;
  char err[256] = "";
  struct ls__udp_config config = config_of("127.0.0.1:0");
  unsigned descriptors = ls__test_descriptors();
  int epoll = f.reactor.loop.epoll;
  f.reactor.loop.epoll = -1;
  assert_null(ls__mux_open(&f.reactor, &config, err, sizeof err));
  f.reactor.loop.epoll = epoll;
  assert_string_equal(err, "cannot serve the socket: the operating system refused");
  assert_int_equal(ls__test_descriptors(), descriptors);
}

static void test_limits(void **state) {
  (void)state;
  struct owner owner = {0};
  for (uint32_t i = 0; i < LS__MUX_LINKS_MAX; i++) {
    uint32_t id = ls__mux_new_id(f.mux);
    assert_in_range(id, 1, 0x3FFFFFFF); /* two upper bits are for groups */
    struct ls__mux_binding binding = binding_of(id, f.client, 0, &owner);
    for (uint32_t j = 0; j < i; j++)
      assert_int_not_equal(f.mux->bindings[j].socket_id, id);
    assert_int_equal(ls__mux_bind(f.mux, &binding), 0);
  }
  struct ls__mux_binding more = binding_of(1, f.client, 0, &owner);
  assert_int_equal(ls__mux_bind(f.mux, &more), LS_ELIMIT);
  ls__mux_unbind(f.mux, f.mux->bindings[100].socket_id);
  assert_int_equal(ls__mux_bind(f.mux, &more), 0);
  for (unsigned i = 0; i < LS__MUX_LISTENERS_MAX; i++)
    listen_by(&owner);
  struct ls__mux_listener listener = {.match = note_match, .accept = note_accept, .self = &owner};
  assert_int_equal(ls__mux_listen(f.mux, &listener), LS_ELIMIT);
}

/* A flood of inductions from nowhere: no state is kept, and a real caller is answered after it. */
static void test_flood(void **state) {
  (void)state;
  struct owner owner = {.match = 1, .result = -1};
  uint8_t data[LS_DATAGRAM_MAX], got[2048];
  listen_by(&owner);
  for (uint32_t i = 0; i < 100000;) {
    for (unsigned burst = 0; burst < 200; burst++, i++) {
      struct ls__handshake hs = induction(i);
      send_bytes(f.other, data, put_handshake(&hs, 0, data));
    }
    turn();
    while (recv(f.other, got, sizeof got, MSG_DONTWAIT) > 0)
      ;
  }
  turn();
  assert_int_equal(ls__egress_waiting(&f.mux->egress), 0);
  assert_int_equal(f.mux->egress.sent, 100000);
  for (unsigned i = 0; i < LS__MUX_LINKS_MAX; i++)
    assert_int_equal(f.mux->bindings[i].socket_id, 0);
  struct ls__handshake hs = conclusion(9, cookie_for(f.client), "");
  send_bytes(f.client, data, put_handshake(&hs, 0, data));
  turn();
  assert_int_equal(owner.accepts, 1);
}

/* Whatever comes, no answer is longer than its question. */
static void test_random_bytes(void **state) {
  (void)state;
  struct owner owner = {.match = 1, .result = LS__REJECT_PEER}, link = {0};
  struct ls__prng prng;
  ls__prng_seed(&prng, 17);
  listen_by(&owner);
  struct ls__mux_binding binding = binding_of(1000, f.client, 33, &link);
  assert_int_equal(ls__mux_bind(f.mux, &binding), 0);
  uint32_t cookie = cookie_for(f.client);
  for (int i = 0; i < 20000; i++) {
    uint8_t data[600], got[2048];
    size_t len = ls__prng_below(&prng, sizeof data);
    struct ls__handshake hs =
        ls__prng_below(&prng, 2) ? conclusion(33, cookie, "abcd") : induction(1);
    for (size_t j = 0; j < len; j++)
      data[j] = (uint8_t)ls__prng_next(&prng);
    if (len > 300)
      put_handshake(&hs, 0, data);
    for (uint64_t flips = ls__prng_below(&prng, 4); len > 0 && flips > 0; flips--)
      data[ls__prng_below(&prng, len)] ^= (uint8_t)(1u << ls__prng_below(&prng, 8));
    send_bytes(f.client, data, len);
    turn();
    ssize_t answered = recv(f.client, got, sizeof got, MSG_DONTWAIT);
    assert_true(answered <= (ssize_t)len);
    expect_silence(f.client);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(test_induction),
      TEST(test_not_answered),
      TEST(test_cookies),
      TEST(test_selection),
      TEST(test_refused_by_rule),
      TEST(test_links),
      TEST(test_repeated_conclusion),
      TEST(test_sharing),
      TEST(test_open_fails_clean),
      TEST(test_limits),
      TEST(test_flood),
      TEST(test_random_bytes),
  };
#undef TEST
  return cmocka_run_group_tests_name("flow/mux", tests, NULL, NULL);
}
