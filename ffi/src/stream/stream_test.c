#include "stream/stream.h"

#include "base/seq.h"
#include "lockstep.h"
#include "stream/testing.h"

static struct ls__test_pair pair;

static int set_up(void **state) {
  (void)state;
  ls__test_pair_defaults(&pair);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  ls__test_free(&pair);
  return 0;
}

static struct ls__link *link_of(unsigned end) {
  return &pair.ends[end].stream.links[0].link;
}

static struct ls__stats_link stats_of(unsigned end) {
  return ls__stream_statistics(&pair.ends[end].stream, 0,
                               ls__test_clock(&pair.ends[end], pair.now_ns));
}

/* All that was pushed was delivered, at the time it was due. */
static void expect_all_delivered(int64_t tolerance_ns) {
  assert_int_equal(pair.delivered, pair.pushed);
  assert_true(pair.most_latency_ns - pair.least_latency_ns <= tolerance_ns);
}

/* Either end may call, either may send: latency is the way of the handshake and the larger of what
 * the two ask for; the end comes when the last packet was played. */
static void test_plain(void **state) {
  (void)state;
  for (unsigned sender = 0; sender < 2; sender++) {
    ls__test_pair_defaults(&pair);
    pair.sender = sender;
    pair.ends[0].link.receive_latency_ns = 150 * LS_MS;
    pair.ends[0].link.peer_latency_ns = 80 * LS_MS;
    ls__test_start(&pair, 1);
    assert_int_equal(ls__test_push(&pair), LS_ESTATE);
    ls__test_run(&pair, 3 * LS_S);
    assert_int_equal(pair.ends[0].connected, 1);
    assert_int_equal(pair.ends[1].connected, 1);
    assert_in_range(pair.pushed, 1400, 1500);
    ls__test_finish(&pair, 4 * LS_S);
    expect_all_delivered(2 * LS_US);
    int64_t latency_ns = (sender ? 150 : 120) * LS_MS;
    assert_in_range(pair.first_latency_ns, latency_ns + 20 * LS_MS - 2 * LS_US,
                    latency_ns + 20 * LS_MS + 2 * LS_US);
    assert_int_equal(ls__test_receiver(&pair)->closed, 1);
    assert_int_equal(pair.ends[sender].closed + pair.ends[sender].broken, 0);
    struct ls__stats_link sent = stats_of(sender), got = stats_of(1 - sender);
    assert_int_equal(sent.packets_sent, pair.pushed);
    assert_int_equal(got.packets_received_unique, pair.pushed);
    assert_int_equal(got.packets_received, pair.pushed);
    assert_int_equal(sent.packets_retransmitted + got.naks_sent + got.packets_belated, 0);
    assert_int_equal(sent.packets_unexpected + got.packets_unexpected, 0);
    assert_int_equal(sent.bytes_sent, got.bytes_received);
    assert_int_equal(got.acks_sent, sent.acks_received);
    assert_in_range(got.rtt_ns, 40 * LS_MS, 41 * LS_MS);
    assert_int_equal(sent.state, LS_LINK_CLOSED);
    if (sender == 0)
      ls__test_free(&pair);
  }
}

static void test_push_refuses(void **state) {
  (void)state;
  pair.interval_ns = 0;
  pair.stream.buffer_packets = 64;
  ls__test_start(&pair, 1);
  struct ls__stream *stream = &pair.ends[0].stream;
  uint8_t payload[LS_PAYLOAD_MAX + 1] = {0};
  assert_int_equal(ls__stream_push(stream, payload, 1, 0), LS_ESTATE);
  ls__test_run(&pair, LS_S);
  assert_int_equal(ls__stream_push(stream, payload, 0, 0), LS_ESIZE);
  assert_int_equal(ls__stream_push(stream, payload, sizeof payload, 0), LS_ESIZE);
  for (int i = 0; i < 64; i++)
    assert_int_equal(ls__test_push(&pair), 0);
  assert_int_equal(ls__test_push(&pair), LS_ELIMIT);
  assert_int_equal(stats_of(0).send_buffer_packets, 64);
  ls__test_finish(&pair, 3 * LS_S);
  assert_int_equal(ls__stream_push(stream, payload, 1, 0), LS_ESTATE);
  assert_int_equal(pair.delivered, 64);
}

/* A payload fits the smaller of the two ends' packets. */
static void test_small_mss(void **state) {
  (void)state;
  pair.interval_ns = 0;
  pair.ends[1].link.mss = 1000;
  ls__test_start(&pair, 1);
  uint8_t payload[LS_PAYLOAD_MAX] = {0};
  ls__test_run(&pair, LS_S);
  struct ls__stream *stream = &pair.ends[0].stream;
  assert_int_equal(ls__stream_push(stream, payload, 1000 - LS_WIRE_BYTES + 1, 0), LS_ESIZE);
  assert_int_equal(ls__stream_push(stream, payload, 1000 - LS_WIRE_BYTES, 0), 0);
}

/* The four counters that wrap, with losses, repetitions and overtaking around the wrap. */
static void test_wraps(void **state) {
  (void)state;
  for (unsigned i = 0; i < 8; i++) {
    ls__test_pair_defaults(&pair);
    pair.sender = i & 1;
    pair.ends[0].link.receive_latency_ns = pair.ends[1].link.receive_latency_ns = 400 * LS_MS;
    pair.ways[0][0].loss = pair.ways[0][1].loss = i & 4 ? 0.05 : 0;
    pair.ways[0][0].reorder = pair.ways[0][1].reorder = i & 2 ? 0.2 : 0;
    pair.ways[0][0].duplicate = pair.ways[0][1].duplicate = i & 2 ? 0.1 : 0;
    pair.isn = LS_SEQ_MASK - 400;
    pair.msgno = LS_MSGNO_MAX - 300;
    pair.ends[0].stamp_us = UINT32_MAX - 900000;
    pair.ends[1].stamp_us = UINT32_MAX - 1200000;
    ls__test_start(&pair, i);
    while (!pair.ends[0].connected || !pair.ends[1].connected)
      ls__test_run(&pair, pair.now_ns + LS_MS);
    assert_int_equal(link_of(1 - pair.sender)->ack_number, 0);
    link_of(1 - pair.sender)->ack_number = LS_SEQ_MASK - 50;
    ls__test_run(&pair, 3 * LS_S);
    assert_true(link_of(pair.sender)->next < 1000000);
    assert_true(pair.ends[pair.sender].stream.msgno < 1000000);
    assert_true(link_of(1 - pair.sender)->ack_number < 1000000);
    ls__test_finish(&pair, 10 * LS_S);
    expect_all_delivered(2 * LS_US);
    assert_int_equal(stats_of(0).packets_unexpected + stats_of(1).packets_unexpected, 0);
    if (i < 7)
      ls__test_free(&pair);
  }
}

/* Nothing is sent for a while, and the stamps wrap in it. */
static void test_pause_over_wrap(void **state) {
  (void)state;
  static const int64_t pauses_ns[] = {10 * LS_S, 4500 * LS_S};
  for (unsigned i = 0; i < 2; i++) {
    ls__test_pair_defaults(&pair);
    pair.ends[0].stamp_us = pair.ends[1].stamp_us = UINT32_MAX - 3000000;
    ls__test_start(&pair, i);
    ls__test_run(&pair, LS_S);
    pair.source_ns += pauses_ns[i];
    ls__test_run(&pair, pair.source_ns + LS_S);
    assert_in_range(pair.pushed, 900, 1100);
    ls__test_finish(&pair, pair.now_ns + 2 * LS_S);
    expect_all_delivered(10 * LS_US);
    if (i == 0)
      ls__test_free(&pair);
  }
}

static bool lose_all_data(struct ls__test_pair *at, unsigned link, unsigned from,
                          const struct ls__header *header, const uint8_t *data, size_t len) {
  (void)link, (void)from, (void)data, (void)len;
  const int64_t *outage_ns = at->context; /* from, to */
  return !header->control && at->now_ns >= outage_ns[0] && at->now_ns < outage_ns[1];
}

/* Packets older than a second are given up by the sender; the receiver plays on when the next ones
 * come, also when more were lost than its buffer holds. */
static void test_outage(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    ls__test_pair_defaults(&pair);
    pair.stream.buffer_packets = i ? 1024 : 4096; /* the outage takes 2000 packets */
    pair.lossy = true;
    int64_t outage_ns[] = {2 * LS_S, 6 * LS_S};
    pair.lose = lose_all_data;
    pair.context = outage_ns;
    ls__test_start(&pair, 1);
    ls__test_run(&pair, 2 * LS_S);
    uint32_t before = pair.pushed;
    ls__test_run(&pair, 6 * LS_S);
    assert_in_range(pair.delivered, before - 11, before);
    uint32_t after = pair.pushed;
    ls__test_run(&pair, 12 * LS_S);
    ls__test_finish(&pair, 14 * LS_S);
    assert_int_equal(pair.ends[0].broken + pair.ends[1].broken, 0);
    assert_int_equal(pair.delivered + pair.skipped, pair.pushed);
    /* From the end of the outage on, nothing is missing but the first tenth of a second. */
    assert_true(pair.delivered >= before - 11 + pair.pushed - after - 50);
    struct ls__stats_link sent = stats_of(0), got = stats_of(1);
    assert_int_equal(got.packets_receive_dropped, pair.skipped);
    assert_true(sent.packets_send_dropped > 1000 &&
                sent.packets_send_dropped <= pair.skipped + 200);
    assert_true(pair.most_latency_ns - pair.least_latency_ns <= 1000 * LS_MS);
    if (i == 0)
      ls__test_free(&pair);
  }
}

/* Without too-late dropping at both ends, everything arrives, however late. */
static void test_no_drop(void **state) {
  (void)state;
  pair.stream.too_late_drop = false;
  pair.late = true;
  pair.stream.buffer_packets = 4096;
  pair.ends[0].link.flow_window = pair.ends[1].link.flow_window = 4096;
  int64_t outage_ns[] = {2 * LS_S, 5 * LS_S};
  pair.lose = lose_all_data;
  pair.context = outage_ns;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, 8 * LS_S);
  ls__test_finish(&pair, 20 * LS_S);
  assert_int_equal(pair.delivered, pair.pushed);
  assert_int_equal(stats_of(0).packets_send_dropped, 0);
}

/* A receiver that wants everything says so; its sender does not drop. One that drops all the same
 * says what it has dropped, and the receiver does not wait for that. */
static void test_sender_alone_drops(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    ls__test_pair_defaults(&pair);
    pair.stream.buffer_packets = 4096;
    pair.ends[0].link.flow_window = pair.ends[1].link.flow_window = 4096;
    int64_t outage_ns[] = {2 * LS_S, 5 * LS_S};
    pair.lose = lose_all_data;
    pair.context = outage_ns;
    pair.lossy = i == 1;
    pair.late = true;
    ls__test_start(&pair, 1);
    pair.ends[1].stream.config.too_late_drop = false;
    ls__test_run(&pair, LS_S);
    assert_false(link_of(0)->peer_flags & LS__FLAG_TLPKTDROP);
    if (i)
      link_of(0)->peer_flags |= LS__FLAG_TLPKTDROP;
    ls__test_run(&pair, 8 * LS_S);
    ls__test_finish(&pair, 20 * LS_S);
    assert_int_equal(pair.delivered + pair.skipped, pair.pushed);
    assert_int_equal(pair.skipped > 0, i == 1);
    if (i == 0)
      ls__test_free(&pair);
  }
}

/* A buffer that is too small for latency and rate: degraded, and alive (libsrt issue 2297). */
static void test_small_buffer(void **state) {
  (void)state;
  pair.stream.buffer_packets = 64; /* 128 ms of 500 packets a second, for 400 ms of latency */
  pair.ends[1].link.receive_latency_ns = 400 * LS_MS;
  pair.lossy = true;
  pair.ways[0][0].loss = pair.ways[0][1].loss = 0.02;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, 20 * LS_S);
  assert_int_equal(pair.ends[0].broken + pair.ends[1].broken, 0);
  uint32_t delivered = pair.delivered;
  assert_true(delivered > 20 * 64);
  ls__test_run(&pair, 25 * LS_S);
  assert_true(pair.delivered - delivered > 5 * 64);
  ls__test_finish(&pair, 30 * LS_S);
}

/* The rate law holds for everything that carries payload. */
static void test_rate(void **state) {
  (void)state;
  pair.payload_min = pair.payload_max = 1000;
  pair.stream.max_bandwidth_bps = 5000 * 1044; /* 625 packets a second, 500 are pushed */
  pair.ways[0][0].loss = 0.1;
  pair.ends[1].link.receive_latency_ns = 1000 * LS_MS;
  pair.ways[0][0].delay_ns = pair.ways[0][1].delay_ns = 10 * LS_MS;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  uint64_t bytes = link_of(0)->stats.bytes_sent;
  for (int second = 2; second < 12; second++) {
    ls__test_run(&pair, second * LS_S);
    assert_true(link_of(0)->stats.bytes_sent - bytes <= 5000 * 1044 / 8 + LS__STREAM_BURST_BYTES);
    bytes = link_of(0)->stats.bytes_sent;
  }
  ls__test_finish(&pair, 16 * LS_S);
  expect_all_delivered(2 * LS_US);
}

/* How late packets leave is measured from when their source had them, or the rate law lets them go:
 * what the law holds back is not late. */
static void test_lateness(void **state) {
  (void)state;
  for (int held = 0; held < 2; held++) {
    ls__test_pair_defaults(&pair);
    pair.payload_min = pair.payload_max = 1000;
    pair.stream.max_bandwidth_bps = held ? 400 * 8 * 1044 : 0; /* 500 a second are pushed */
    pair.late = held;
    ls__test_start(&pair, 1);
    ls__test_run(&pair, 2 * LS_S);
    const struct ls__stream *sender = &pair.ends[0].stream;
    assert_int_equal(sender->lateness.count, link_of(0)->stats.packets_sent_unique);
    assert_true(sender->lateness.count > 700);
    assert_int_equal(sender->late, 0);
    ls__test_free(&pair);
  }
  ls__test_pair_defaults(&pair);
  ls__test_start(&pair, 1);
}

/* The last packets are lost, and the last of the repetitions, and the goodbye. */
static bool lose_tail(struct ls__test_pair *at, unsigned link, unsigned from,
                      const struct ls__header *header, const uint8_t *data, size_t len) {
  (void)link, (void)from, (void)data, (void)len;
  unsigned *left = at->context;
  bool counts = header->control ? header->type == LS__CONTROL_SHUTDOWN : at->source_ns == LS_NEVER;
  if (!counts || left[header->control] == 0)
    return false;
  left[header->control]--;
  return true;
}

static void test_tail(void **state) {
  (void)state;
  unsigned left[] = {3, 2}; /* data, goodbyes */
  pair.lose = lose_tail;
  pair.context = left;
  pair.ends[1].link.receive_latency_ns = 1000 * LS_MS;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  pair.source_ns = LS_NEVER;
  for (int i = 0; i < 3; i++)
    assert_int_equal(ls__test_push(&pair), 0);
  int64_t pushed_ns = pair.now_ns;
  ls__test_finish(&pair, 5 * LS_S);
  assert_int_equal(left[0] + left[1], 0);
  expect_all_delivered(2 * LS_US);
  assert_int_equal(pair.ends[1].closed, 1);
  assert_true(pair.now_ns - pushed_ns < 2 * LS_S);
}

static bool lose_everything(struct ls__test_pair *at, unsigned link, unsigned from,
                            const struct ls__header *header, const uint8_t *data, size_t len) {
  (void)at, (void)link, (void)from, (void)header, (void)data, (void)len;
  return true;
}

/* The peer vanishes: after its silence the link is broken, what has arrived is still played. */
static void test_silence(void **state) {
  (void)state;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  pair.lose = lose_everything;
  pair.lossy = true;
  pair.source_ns = LS_NEVER;
  ls__test_run(&pair, 5900 * LS_MS);
  assert_int_equal(pair.ends[0].broken + pair.ends[1].broken, 0);
  ls__test_run(&pair, 6100 * LS_MS);
  assert_int_equal(pair.ends[0].broken, 1);
  assert_int_equal(pair.ends[1].broken, 1);
  assert_int_equal(pair.ends[0].reject, LS__REJECT_TIMEOUT);
  assert_true(ls__stream_ended(&pair.ends[0].stream) && ls__stream_ended(&pair.ends[1].stream));
  assert_int_equal(ls__test_push(&pair), LS_ESTATE);
}

/* Gives the receiver the packet that it expects next, before the peer's arrives, with a stamp that
 * is off by this. */
static void input_off(int64_t off_ns) {
  struct ls__test_end *end = &pair.ends[1];
  int64_t local_ns = ls__test_clock(end, pair.now_ns);
  const struct ls__stream *sender = &pair.ends[0].stream;
  uint32_t seq = link_of(1)->expected;
  int64_t stamp_ns = ls__sendbuf_slot(&sender->tx, seq)->stamp_us * LS_US + off_ns;
  uint8_t data[LS_HEADER_BYTES + 100] = {0};
  struct ls__header header = {.seq = seq,
                              .position = 3,
                              .msgno = 1,
                              .stamp_us = (uint32_t)(stamp_ns / LS_US),
                              .socket_id = end->link.socket_id};
  ls__header_put(&header, data);
  ls__stream_input(&end->stream, 0, data, sizeof data, local_ns);
}

/* A stamp from the far future does not hold up what comes after it. */
static void test_stamp_far_ahead(void **state) {
  (void)state;
  pair.lossy = true;
  ls__test_start(&pair, 1);
  for (int i = 1; i <= 4; i++) {
    ls__test_run(&pair, i * LS_S);
    input_off((INT64_C(11) << (2 * i - 1)) * LS_S);
    assert_int_equal(stats_of(1).packets_unexpected, i);
  }
  ls__test_finish(&pair, 6 * LS_S);
  assert_int_equal(pair.delivered, pair.pushed - 4);
  assert_int_equal(stats_of(1).packets_receive_dropped, 4);
  assert_true(pair.most_latency_ns - pair.least_latency_ns <= LS_US);
}

/* A newest packet with a stamp before the oldest's is no buffer of 500 000 years. */
static void test_stamps_out_of_order(void **state) {
  (void)state;
  pair.lossy = true;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  assert_in_range(stats_of(1).receive_buffer_ns, LS_MS, LS_S);
  /* A packet whose content is not what was pushed must not be delivered: the end is not waited for.
   */
  input_off(-900 * LS_MS);
  assert_int_equal(stats_of(1).receive_buffer_ns, 0);
}

/* A stream serves one connection after the other. What was left of the last one does not show. */
static void test_reopen(void **state) {
  (void)state;
  pair.lossy = true;
  pair.ways[0][0].loss = pair.ways[0][1].loss = 0.3;
  ls__test_start(&pair, 1);
  for (int round = 1; round <= 5; round++) {
    ls__test_run(&pair, round * LS_S);
    if (round == 5)
      break;
    for (unsigned i = 0; i < 2; i++) /* at once, and in the middle of everything */
      ls__stream_close(&pair.ends[i].stream, ls__test_clock(&pair.ends[i], pair.now_ns));
    while (ls__heap_first(&pair.flight)) {
      struct ls__heap_node *first = ls__heap_first(&pair.flight);
      ls__heap_remove(&pair.flight, first);
      pair.spare[pair.spare_count++] = (struct ls__test_datagram *)first;
    }
    struct ls__test_end *caller = &pair.ends[0];
    int64_t local_ns = ls__test_clock(caller, pair.now_ns);
    struct ls__link_config config = caller->link;
    config.socket_id -= (uint32_t)round;
    ls__stream_open(&caller->stream, 5000 * (uint32_t)round, local_ns);
    ls__stream_open(&pair.ends[1].stream, 0, 0);
    ls__stream_call(&caller->stream, 0, config, local_ns);
    pair.ends[1].opened = false;
    ls__test_shadow_free(&pair.shadows[0]);
    ls__test_shadow_init(&pair.shadows[0]);
    pair.next_delivery = pair.pushed;
  }
  assert_int_equal(pair.ends[0].connected, 5);
  assert_int_equal(pair.ends[1].connected, 5);
  assert_int_equal(pair.ends[0].closed + pair.ends[1].closed, 0);
  assert_int_equal(link_of(1)->stats.connections, 5);
  assert_true(pair.delivered > 500);
  ls__test_finish(&pair, 10 * LS_S);
}

/* Both ends close at once. */
static void test_close(void **state) {
  (void)state;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  for (unsigned i = 0; i < 2; i++)
    ls__stream_close(&pair.ends[i].stream, ls__test_clock(&pair.ends[i], pair.now_ns));
  pair.source_ns = LS_NEVER;
  ls__test_run(&pair, LS_S + 200 * LS_MS);
  assert_true(ls__stream_ended(&pair.ends[0].stream) && ls__stream_ended(&pair.ends[1].stream));
  assert_int_equal(pair.ends[0].closed + pair.ends[1].closed, 0);
}

static bool lose_link(struct ls__test_pair *at, unsigned link, unsigned from,
                      const struct ls__header *header, const uint8_t *data, size_t len) {
  (void)from, (void)header, (void)data, (void)len;
  const int *lost = at->context;
  return (int)link == *lost;
}

/* One stream over two links of different length, each of which loses a tenth: what one loses the
 * other brings, at the time it is due. Either link goes, and comes back in the middle of the
 * stream, also when the caller receives. */
static void test_two_links(void **state) {
  (void)state;
  for (unsigned sender = 0; sender < 2; sender++) {
    ls__test_pair_defaults(&pair);
    pair.sender = sender;
    pair.link_count = 2;
    pair.isn = LS_SEQ_MASK - 3100; /* wraps about when the link comes back */
    pair.ends[0].link.receive_latency_ns = pair.ends[1].link.receive_latency_ns = LS_S;
    for (unsigned i = 0; i < 4; i++)
      pair.ways[i / 2][i % 2] =
          (struct ls__model_config){.delay_ns = (i < 2 ? 10 : 60) * LS_MS, .loss = 0.1};
    int lost = -1;
    pair.lose = lose_link;
    pair.context = &lost;
    ls__test_start(&pair, 1);
    int64_t now_ns = 2 * LS_S;
    ls__test_run(&pair, now_ns);
    for (int round = 0; round < 4; round++) {
      unsigned link = (unsigned)round & 1;
      lost = (int)link;
      ls__test_run(&pair, now_ns += 6 * LS_S);
      lost = -1;
      for (unsigned end = 0; end < 2; end++)
        assert_int_equal(pair.ends[end].stream.links[link].link.phase, LS__LINK_ENDED);
      struct ls__test_end *caller = &pair.ends[LS__TEST_CALLS];
      struct ls__link_config config = caller->link;
      config.socket_id += 2 + (uint32_t)round;
      ls__test_shadow_free(&pair.shadows[link]);
      ls__test_shadow_init(&pair.shadows[link]);
      ls__stream_call(&caller->stream, link, config, ls__test_clock(caller, pair.now_ns));
      ls__test_run(&pair, now_ns += 2 * LS_S);
      for (unsigned end = 0; end < 2; end++)
        assert_int_equal(pair.ends[end].stream.links[link].link.phase, LS__LINK_CONNECTED);
    }
    ls__test_finish(&pair, now_ns + 2 * LS_S);
    expect_all_delivered(10 * LS_US);
    assert_int_equal(pair.ends[0].broken, 4);
    if (sender == 0)
      ls__test_free(&pair);
  }
}

/* A link that begins to call when the next number is the last one asks for the number before. */
static void test_call_at_the_wrap(void **state) {
  (void)state;
  pair.isn = LS_SEQ_MASK - 1;
  pair.interval_ns = 0;
  pair.link_count = 2;
  int lost = 1;
  pair.lose = lose_link;
  pair.context = &lost;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, LS_S);
  assert_int_equal(ls__test_push(&pair), 0);
  lost = 0;
  struct ls__test_end *caller = &pair.ends[LS__TEST_CALLS];
  struct ls__link_config config = caller->link;
  config.socket_id += 2;
  ls__stream_call(&caller->stream, 1, config, ls__test_clock(caller, pair.now_ns));
  ls__test_run(&pair, LS_S + 500 * LS_MS);
  assert_int_equal(ls__test_push(&pair), 0);
  ls__test_run(&pair, 2 * LS_S);
  assert_int_equal(pair.delivered, 2);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_plain),
      TEST(test_push_refuses),
      TEST(test_small_mss),
      TEST(test_wraps),
      TEST(test_pause_over_wrap),
      TEST(test_outage),
      TEST(test_no_drop),
      TEST(test_sender_alone_drops),
      TEST(test_small_buffer),
      TEST(test_rate),
      TEST(test_lateness),
      TEST(test_tail),
      TEST(test_silence),
      TEST(test_stamp_far_ahead),
      TEST(test_stamps_out_of_order),
      TEST(test_reopen),
      TEST(test_close),
      TEST(test_two_links),
      TEST(test_call_at_the_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
