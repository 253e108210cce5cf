/* SRT endpoints through the public interface: how connections come, go and come again. What they
 * carry is in srt_payload_test.c. */
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

/* One SRT end: a flow from UDP to SRT, or from SRT to a check or file. */
struct peer {
  int64_t flow;
  int32_t srt, link;
  uint16_t in; /* a sender's UDP port */
};

static struct peer make_peer(bool sends, const char *mode, uint16_t port, const char *stream_id) {
  struct peer peer = {.flow = ls__test_flow(engine)};
  if (sends) {
    peer.in = ls__test_port();
    ls__test_add_udp(peer.flow, LS_INPUT, peer.in);
  } else {
    ls__test_add(peer.flow, LS_OUTPUT, LS_KIND_CHECK);
  }
  peer.srt = sends ? 1 : 0;
  peer.link = ls__test_add_srt(peer.flow, sends ? LS_OUTPUT : LS_INPUT, mode, port);
  ls__test_option(peer.flow, peer.srt, "receive_latency_ns", "20000000");
  if (stream_id)
    ls__test_option(peer.flow, peer.srt, "stream_id", stream_id);
  return peer;
}

static struct peer start_peer(bool sends, const char *mode, uint16_t port, const char *stream_id) {
  struct peer peer = make_peer(sends, mode, port, stream_id);
  ls__test_start(peer.flow);
  return peer;
}

static struct ls_event link_event(const struct peer *peer, enum ls_link_state state) {
  struct ls_event event = ls__test_event(engine, peer->flow, LS_EVENT_LINK_STATE, (int32_t)state);
  assert_int_equal(event.index, peer->link);
  return event;
}

static void wait_state(const struct peer *peer, enum ls_link_state state) {
  assert_true(ls__test_until(ls__test_link(peer->flow, peer->link).state == state));
}

/* Sends datagrams until the receiver has taken in `more` of them. */
static void pass_some(const struct peer *from, const struct peer *to, uint64_t more) {
  static const uint8_t payload[1316] = {0x47};
  int source = ls__test_socket(0);
  uint64_t wanted = ls__test_endpoint(to->flow, to->srt).packets + more;
  assert_true(ls__test_until((ls__test_send(source, from->in, payload, sizeof payload),
                              ls__test_endpoint(to->flow, to->srt).packets >= wanted)));
  close(source);
}

/* Both directions, both modes: they connect, say so with the negotiated latency, and carry. */
static void test_connect(void **state) {
  (void)state;
  for (int caller_sends = 0; caller_sends < 2; caller_sends++) {
    uint16_t port = ls__test_port();
    struct peer listener = make_peer(!caller_sends, "listener", port, "cam");
    struct peer caller = make_peer(caller_sends, "caller", port, "#!::r=cam");
    ls__test_option(caller.flow, caller.srt,
                    caller_sends ? "peer_latency_ns" : "receive_latency_ns", "150000000");
    ls__test_start(listener.flow);
    ls__test_start(caller.flow);
    assert_non_null(strstr(link_event(&caller, LS_LINK_CONNECTED).text,
                           ": connected, latency 150 ms, peer SRT 1.5.4"));
    struct peer *sender = caller_sends ? &caller : &listener;
    struct peer *receiver = caller_sends ? &listener : &caller;
    pass_some(sender, receiver, 20);
    struct ls__stats_link sent;
    assert_true(ls__test_until(
        (sent = ls__test_link(sender->flow, sender->link), sent.packets_sent_unique >= 20)));
    struct ls__stats_link got = ls__test_link(receiver->flow, receiver->link);
    assert_int_equal(sent.state, LS_LINK_CONNECTED);
    assert_int_equal(got.state, LS_LINK_CONNECTED);
    assert_int_equal(sent.connections, 1);
    assert_int_equal(sent.send_latency_ns, 150 * LS_MS);
    assert_int_equal(got.receive_latency_ns, 150 * LS_MS);
    assert_int_equal(got.packets_received_unique, got.packets_received);
    assert_int_equal(ls_stop(caller.flow), 0);
    link_event(&caller, LS_LINK_CLOSED);
    wait_state(&caller, LS_LINK_CLOSED);
    wait_state(&listener, LS_LINK_CONNECTING); /* for the next caller */
    assert_int_equal(ls_close(caller.flow), 0);
    assert_int_equal(ls_close(listener.flow), 0);
  }
}

/* Two flows listen on one port, whatever the number of threads: the stream ID chooses. */
static void test_stream_id_selects(void **state) {
  (void)state;
  assert_int_equal(ls_close(engine), 0);
  engine = ls__test_engine(4);
  uint16_t port = ls__test_port();
  struct peer one = start_peer(false, "listener", port, "one");
  struct peer two = start_peer(false, "listener", port, "two");
  struct peer caller_two = start_peer(true, "caller", port, "#!::r=two,m=publish");
  assert_non_null(
      strstr(link_event(&two, LS_LINK_CONNECTED).text, ", stream ID #!::r=two,m=publish"));
  struct peer caller_one = start_peer(true, "caller", port, "one");
  assert_non_null(strstr(link_event(&one, LS_LINK_CONNECTED).text, ", stream ID one"));
  pass_some(&caller_one, &one, 5);
  pass_some(&caller_two, &two, 5);
  struct peer stranger = start_peer(true, "caller", port, "three");
  assert_non_null(strstr(link_event(&stranger, LS_LINK_BROKEN).text,
                         ": no stream of this stream ID is served here (NOTFOUND)"));
  assert_int_equal(ls_close(one.flow), 0); /* the other goes on, on the same socket */
  pass_some(&caller_two, &two, 5);
}

/* One resource is published to one flow and requested from another, on one port. */
static void test_mode_selects(void **state) {
  (void)state;
  for (int order = 0; order < 2; order++) {
    uint16_t port = ls__test_port();
    struct peer in, out;
    if (order)
      in = start_peer(false, "listener", port, "cam");
    out = start_peer(true, "listener", port, "cam");
    if (!order)
      in = start_peer(false, "listener", port, "cam");
    struct peer viewer = start_peer(false, "caller", port, "#!::r=cam,m=request");
    struct peer source = start_peer(true, "caller", port, "#!::r=cam,m=publish");
    link_event(&viewer, LS_LINK_CONNECTED);
    wait_state(&source, LS_LINK_CONNECTED);
    pass_some(&source, &in, 5);
    pass_some(&out, &viewer, 5);
    const int64_t flows[] = {in.flow, out.flow, viewer.flow, source.flow};
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(ls_close(flows[i]), 0);
  }
}

/* Of equal listeners one that is free takes the next caller. */
static void test_free_listener_first(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct peer listeners[3], callers[3];
  for (unsigned i = 0; i < 3; i++)
    listeners[i] = start_peer(true, "listener", port, NULL);
  for (unsigned i = 0; i < 3; i++) {
    callers[i] = start_peer(false, "caller", port, NULL);
    link_event(&callers[i], LS_LINK_CONNECTED);
  }
  for (unsigned i = 0; i < 3; i++)
    wait_state(&listeners[i], LS_LINK_CONNECTED);
}

/* The listener's warning of a caller that it has refused. */
static void expect_refused(const struct peer *listener, const char *text) {
  struct ls_event event = ls__test_event(engine, listener->flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.index, listener->link);
  assert_memory_equal(event.text, "127.0.0.1:", 10);
  char *colon = strchr(event.text + 10, ':');
  assert_non_null(colon);
  assert_memory_equal(colon, ": caller refused: ", 18);
  assert_string_equal(colon + 18, text);
}

/* What is refused, with the reason in both sides' events. */
static void test_refusals(void **state) {
  (void)state;
  static const struct {
    bool listener_sends;
    const char *first, *second, *reason;
  } rows[] = {
      {false, "#!::r=cam", "#!::r=cam", "the resource is in use by another source (CONFLICT)"},
      {true, "#!::r=cam", "#!::r=cam", "the peer has no room for another connection (RESOURCE)"},
      {false, "#!::r=cam", "#!::r=cam,m=request",
       "the stream ID's mode (m=) is not served here (BAD_MODE)"},
      {true, "#!::r=cam", "#!::r=cam,m=publish",
       "the stream ID's mode (m=) is not served here (BAD_MODE)"},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint16_t port = ls__test_port();
    struct peer listener = start_peer(rows[i].listener_sends, "listener", port, "cam");
    struct peer first = start_peer(!rows[i].listener_sends, "caller", port, rows[i].first);
    link_event(&first, LS_LINK_CONNECTED);
    struct peer second = start_peer(!rows[i].listener_sends, "caller", port, rows[i].second);
    expect_refused(&listener, rows[i].reason);
    assert_non_null(strstr(link_event(&second, LS_LINK_BROKEN).text, rows[i].reason));
    wait_state(&second, LS_LINK_BROKEN);
    assert_int_equal(ls__test_link(second.flow, second.link).connections, 0);
    wait_state(&first, LS_LINK_CONNECTED);
    wait_state(&listener, LS_LINK_CONNECTED);
    assert_int_equal(ls__test_link(listener.flow, listener.link).connections, 1);
    assert_int_equal(ls_close(second.flow), 0);
    assert_int_equal(ls_close(first.flow), 0);
    assert_int_equal(ls_close(listener.flow), 0);
  }
}

/* A caller that is refused again and again is told of once, however often it calls. */
static void test_refusal_told_once(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct peer listener = start_peer(false, "listener", port, "cam");
  struct peer stranger = start_peer(true, "caller", port, "other");
  expect_refused(&listener, "no stream of this stream ID is served here (NOTFOUND)");
  for (int i = 0; i < 3; i++)
    link_event(&stranger, LS_LINK_BROKEN);
  struct peer source = start_peer(true, "caller", port, "cam");
  link_event(&source, LS_LINK_CONNECTED);
  assert_int_equal(ls_close(stranger.flow), 0);
  struct peer second = start_peer(true, "caller", port, "#!::r=cam");
  expect_refused(&listener, "the resource is in use by another source (CONFLICT); "
                            "2 more were refused meanwhile");
  link_event(&second, LS_LINK_BROKEN);
}

/* A source that was cut off is replaced by itself after half a second of silence, not before. */
static void test_silent_source_is_replaced(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  static struct ls__test_proxy proxy;
  ls__test_proxy_start(&proxy, port);
  struct peer listener = start_peer(false, "listener", port, "cam");
  struct peer lost = start_peer(true, "caller", proxy.port, "cam");
  link_event(&lost, LS_LINK_CONNECTED);
  pass_some(&lost, &listener, 5);
  atomic_store(&proxy.cut, true);
  int64_t cut_ns = ls__clock_now();
  struct peer stranger = start_peer(true, "caller", port, "#!::r=cam");
  struct peer again = start_peer(true, "caller", port, "cam");
  assert_non_null(strstr(link_event(&again, LS_LINK_BROKEN).text, "(CONFLICT)"));
  link_event(&again, LS_LINK_CONNECTED);
  assert_true(ls__clock_now() - cut_ns >= 450 * LS_MS); /* the last packet came before the cut */
  pass_some(&again, &listener, 5);
  /* Another stream ID is another source, however silent the first one was. */
  assert_int_equal(ls__test_link(stranger.flow, stranger.link).connections, 0);
  assert_int_equal(ls__test_link(listener.flow, listener.link).connections, 2);
  ls__test_proxy_end(&proxy);
}

/* Nobody answers: the caller gives up each time, and waits twice as long before the next. */
static void test_dead_port(void **state) {
  (void)state;
  struct peer caller = make_peer(true, "caller", ls__test_port(), NULL);
  ls__test_option(caller.flow, caller.srt, "connect_timeout_ns", "150000000");
  ls__test_start(caller.flow);
  struct ls_event event = link_event(&caller, 0);
  for (int64_t i = 0; i < 2; i++) {
    assert_int_equal(event.code, LS_LINK_CONNECTING);
    struct ls_event broken = link_event(&caller, 0);
    assert_int_equal(broken.code, LS_LINK_BROKEN);
    assert_non_null(strstr(broken.text, ": no answer in time (TIMEOUT)"));
    int64_t tried_ns = broken.at_ns - event.at_ns;
    assert_true(tried_ns >= 149 * LS_MS && tried_ns < LS_S);
    event = link_event(&caller, 0);
    int64_t waited_ns = event.at_ns - broken.at_ns;
    assert_true(waited_ns >= (LS_MS * 250 << i) - LS_MS && waited_ns < (LS_MS * 250 << i) + LS_S);
  }
  assert_int_equal(ls__test_link(caller.flow, caller.link).connections, 0);
  assert_int_equal(ls_stop(caller.flow), 0);
  assert_string_equal(ls__test_ended(engine, caller.flow).text, "stopped");
}

/* A listener serves one caller after another; its counters go on. */
static void test_listener_survives_callers(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  struct peer listener = start_peer(false, "listener", port, NULL);
  struct ls__stats_link before = {0}, after;
  for (unsigned i = 1; i <= 5; i++) {
    struct peer caller = start_peer(true, "caller", port, NULL);
    link_event(&listener, LS_LINK_CONNECTED);
    pass_some(&caller, &listener, 10);
    wait_state(&listener, LS_LINK_CONNECTED);
    assert_true(ls__test_until((after = ls__test_link(listener.flow, listener.link),
                                after.packets_received >= before.packets_received + 10)));
    assert_int_equal(after.connections, i);
    assert_true(after.bytes_received >= before.bytes_received + 10 * (1316 + 44));
    assert_true(after.packets_received_unique >= before.packets_received_unique + 10);
    assert_true(after.acks_sent > before.acks_sent);
    before = after;
    assert_int_equal(ls_close(caller.flow), 0); /* at once, with a goodbye */
    assert_non_null(strstr(link_event(&listener, LS_LINK_CLOSED).text, ": closed by the peer"));
    wait_state(&listener, LS_LINK_CONNECTING);
  }
}

/* The peer vanishes without a word: after the named time the connection counts as broken, on both
 * sides; the caller calls again and finds it when it is back. Its counters go on. */
static void test_peer_vanishes(void **state) {
  (void)state;
  uint16_t port = ls__test_port();
  static struct ls__test_proxy proxy;
  ls__test_proxy_start(&proxy, port);
  struct peer listener = make_peer(false, "listener", port, NULL);
  struct peer caller = make_peer(true, "caller", proxy.port, NULL);
  ls__test_option(listener.flow, listener.srt, "peer_idle_timeout_ns", "1500000000");
  ls__test_option(caller.flow, caller.srt, "peer_idle_timeout_ns", "1500000000");
  ls__test_option(caller.flow, caller.srt, "connect_timeout_ns", "200000000");
  ls__test_start(listener.flow);
  ls__test_start(caller.flow);
  link_event(&caller, LS_LINK_CONNECTED);
  pass_some(&caller, &listener, 10);
  atomic_store(&proxy.cut, true);
  int64_t cut_ns = ls__clock_real();
  struct ls_event event = link_event(&caller, LS_LINK_BROKEN);
  assert_non_null(strstr(event.text, ": no answer in time (TIMEOUT)"));
  /* Idle peers talk each second: the last word was at most that long before the cut. */
  assert_true(event.at_ns - cut_ns >= 400 * LS_MS && event.at_ns - cut_ns < 5 * LS_S);
  assert_true(
      ls__test_until(ls__test_link(listener.flow, listener.link).state == LS_LINK_CONNECTING));
  struct ls__stats_link before = ls__test_link(caller.flow, caller.link);
  assert_int_equal(before.flight_packets, 0); /* nothing flies where there is no link */
  atomic_store(&proxy.cut, false);
  link_event(&caller, LS_LINK_CONNECTED);
  pass_some(&caller, &listener, 10);
  struct ls__stats_link after;
  assert_true(ls__test_until((after = ls__test_link(caller.flow, caller.link),
                              after.packets_sent_unique >= before.packets_sent_unique + 10)));
  assert_int_equal(after.connections, 2);
  ls__test_proxy_end(&proxy);
}

/* With stop_with_link a flow ends with its first connection, on either side; without reconnect a
 * caller's does. */
static void test_ends_with_connection(void **state) {
  (void)state;
  static const struct {
    const char *mode, *name, *value;
  } rows[] = {{"listener", "stop_with_link", "true"},
              {"caller", "stop_with_link", "true"},
              {"caller", "reconnect", "false"}};
  for (unsigned i = 0; i < 3; i++) {
    uint16_t port = ls__test_port();
    bool listens = strcmp(rows[i].mode, "listener") == 0;
    struct peer ends = make_peer(false, rows[i].mode, port, NULL);
    struct peer other = make_peer(true, listens ? "caller" : "listener", port, NULL);
    bool of_flow = strcmp(rows[i].name, "stop_with_link") == 0;
    ls__test_option(ends.flow, of_flow ? LS_SELF : ends.srt, rows[i].name, rows[i].value);
    ls__test_start(listens ? ends.flow : other.flow);
    ls__test_start(listens ? other.flow : ends.flow);
    link_event(&ends, LS_LINK_CONNECTED);
    assert_int_equal(ls_close(other.flow), 0);
    assert_string_equal(ls__test_ended(engine, ends.flow).text, "closed by the peer");
    assert_int_equal(ls__test_flow_state(ends.flow), LS_FLOW_ENDED);
    assert_int_equal(ls__test_link(ends.flow, ends.link).state, LS_LINK_CLOSED);
    assert_int_equal(ls_close(ends.flow), 0);
  }
}

/* When it did not end well, its link says so afterwards. */
static void test_ends_with_break(void **state) {
  (void)state;
  struct peer caller = make_peer(false, "caller", ls__test_port(), NULL);
  ls__test_option(caller.flow, caller.srt, "reconnect", "false");
  ls__test_option(caller.flow, caller.srt, "connect_timeout_ns", "50000000");
  ls__test_start(caller.flow);
  assert_string_equal(ls__test_ended(engine, caller.flow).text, "no answer in time (TIMEOUT)");
  assert_int_equal(ls__test_link(caller.flow, caller.link).state, LS_LINK_BROKEN);
  assert_int_equal(ls_close(caller.flow), 0);
}

/* The flow's end is the last that is told, also when nobody answered. */
static void test_end_is_last(void **state) {
  (void)state;
  struct peer caller = start_peer(true, "caller", ls__test_port(), NULL);
  link_event(&caller, LS_LINK_CONNECTING);
  assert_int_equal(ls_stop(caller.flow), 0);
  link_event(&caller, LS_LINK_CLOSED); /* an end before it would be passed over */
  assert_string_equal(ls__test_ended(engine, caller.flow).text, "stopped");
  assert_int_equal(ls_close(caller.flow), 0);
}

/* That the system sends nothing (a broadcast needs an option that nobody sets) is told with its
 * reason, once. */
static void test_nothing_is_sent(void **state) {
  (void)state;
  struct peer caller = make_peer(true, "caller", 9, NULL);
  ls__test_option(caller.flow, caller.link, "remote", "255.255.255.255:9");
  ls__test_start(caller.flow);
  struct ls_event event = ls__test_event(engine, caller.flow, LS_EVENT_WARNING, 0);
  assert_int_equal(event.index, caller.link);
  assert_string_equal(event.text, "sending to 255.255.255.255:9 is refused: Permission denied");
  assert_true(ls__test_until(ls__test_endpoint(caller.flow, caller.srt).errors >= 3));
  assert_int_equal(ls_stop(caller.flow), 0);
  do
    assert_int_equal(ls_event_wait(engine, &event, sizeof event, LS__TEST_PATIENCE_MS), 1);
  while (event.kind == LS_EVENT_LINK_STATE);
  assert_int_equal(event.kind, LS_EVENT_FLOW_STATE);
  assert_int_equal(ls_close(caller.flow), 0);
}

/* A stop, or a close, in every state of a link. */
static void test_stop_any_time(void **state) {
  (void)state;
  unsigned descriptors = ls__test_descriptors();
  for (unsigned i = 0; i < 32; i++) {
    uint16_t port = ls__test_port();
    bool sends = i & 1, stops = i & 2, connects = i & 4;
    const char *mode = i & 8 ? "listener" : "caller";
    struct peer peer = make_peer(sends, mode, port, NULL), other = {0};
    ls__test_option(peer.flow, peer.srt, "connect_timeout_ns", "20000000");
    if (connects) /* a listener first, so that its caller need not call twice */
      other = make_peer(!sends, i & 8 ? "caller" : "listener", port, NULL);
    if (connects && !(i & 8))
      ls__test_start(other.flow);
    ls__test_start(peer.flow);
    if (connects && i & 8)
      ls__test_start(other.flow);
    if (connects) {
      wait_state(&peer, LS_LINK_CONNECTED);
    } else if (i & 16) {
      usleep(60000); /* a caller waits for its next try */
    }
    if (stops) {
      assert_int_equal(ls_stop(peer.flow), 0);
      assert_string_equal(ls__test_ended(engine, peer.flow).text, "stopped");
      wait_state(&peer, LS_LINK_CLOSED);
    }
    assert_int_equal(ls_close(peer.flow), 0);
    if (connects) {
      assert_true(ls__test_until(ls__test_link(other.flow, other.link).state != LS_LINK_CONNECTED));
      assert_int_equal(ls_close(other.flow), 0);
    }
  }
  assert_int_equal(ls__test_descriptors(), descriptors);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(test_connect),
      TEST(test_stream_id_selects),
      TEST(test_mode_selects),
      TEST(test_free_listener_first),
      TEST(test_refusals),
      TEST(test_refusal_told_once),
      TEST(test_silent_source_is_replaced),
      TEST(test_dead_port),
      TEST(test_listener_survives_callers),
      TEST(test_peer_vanishes),
      TEST(test_ends_with_connection),
      TEST(test_ends_with_break),
      TEST(test_end_is_last),
      TEST(test_nothing_is_sent),
      TEST(test_stop_any_time),
  };
#undef TEST
  return cmocka_run_group_tests_name("flow/srt_endpoint", tests, NULL, NULL);
}
