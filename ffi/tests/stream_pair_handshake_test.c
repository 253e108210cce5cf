/* The handshake of two real ends over links that lose its packets or are very long. */
#include "base/seq.h"
#include "stream/testing.h"

static struct ls__test_pair pair;

static int tear_down(void **state) {
  (void)state;
  ls__test_free(&pair);
  return 0;
}

/* Which of the handshake packets of each end are lost: bit k is the k-th. */
struct losses {
  unsigned masks[2], seen[2];
};

static bool lose_handshakes(struct ls__test_pair *at, unsigned link, unsigned from,
                            const struct ls__header *header, const uint8_t *data, size_t len) {
  (void)link, (void)data, (void)len;
  struct losses *losses = at->context;
  if (!header->control || header->type != LS__CONTROL_HANDSHAKE)
    return false;
  unsigned k = losses->seen[from]++;
  return k < 32 && losses->masks[from] >> k & 1;
}

/* One connection under these losses: made within three seconds, once at each end, and payload that
 * was pushed from the first moment on arrives whole. */
static void connect_with(unsigned caller_mask, unsigned listener_mask, unsigned sender) {
  struct losses losses = {.masks = {caller_mask, listener_mask}};
  ls__test_pair_defaults(&pair);
  pair.sender = sender;
  pair.interval_ns = 20 * LS_MS;
  pair.flight_max = 256;
  for (unsigned i = 0; i < 2; i++)
    pair.ends[i].link.receive_latency_ns = 2 * LS_S;
  pair.stream.send_drop_delay_ns = 2 * LS_S;
  pair.lose = lose_handshakes;
  pair.context = &losses;
  ls__test_start(&pair, 1);
  while (pair.ends[0].connected == 0) {
    ls__test_run(&pair, pair.now_ns + 10 * LS_MS);
    assert_true(pair.now_ns < 3 * LS_S);
  }
  ls__test_run(&pair, pair.now_ns + 300 * LS_MS);
  ls__test_finish(&pair, pair.now_ns + 10 * LS_S);
  assert_int_equal(pair.ends[0].connected, 1);
  assert_int_equal(pair.ends[1].connected, 1);
  assert_int_equal(pair.ends[0].broken + pair.ends[1].broken, 0);
  assert_int_equal(pair.delivered, pair.pushed);
  assert_true(pair.pushed >= 15);
  assert_true(pair.most_latency_ns - pair.least_latency_ns <= 2 * LS_US);
}

/* Every way in which up to three of the first six packets of each end are lost (libsrt issue 1648:
 * a lost answer left the caller "confused" by what came after it). */
static void test_losses(void **state) {
  (void)state;
  unsigned runs = 0;
  for (unsigned caller = 0; caller < 64; caller++)
    for (unsigned listener = 0; listener < 64; listener++) {
      if (__builtin_popcount(caller) > 3 || __builtin_popcount(listener) > 3)
        continue;
      connect_with(caller, listener, (caller ^ listener) & 1);
      ls__test_free(&pair);
      runs++;
    }
  assert_int_equal(runs, 42 * 42);
  ls__test_pair_defaults(&pair);
}

/* A path on which every request is repeated before it is answered: one connection, for which each
 * repeated conclusion gets the same answer (held by the shadow). */
static void test_long_paths(void **state) {
  (void)state;
  for (int64_t rtt_ns = 50 * LS_MS; rtt_ns <= 900 * LS_MS; rtt_ns += 50 * LS_MS)
    for (unsigned sender = 0; sender < 2; sender++) {
      struct losses losses = {.masks = {0, 0}};
      ls__test_pair_defaults(&pair);
      pair.sender = sender;
      pair.lose = lose_handshakes; /* counts */
      pair.context = &losses;
      for (unsigned i = 0; i < 2; i++) {
        pair.ends[i].link.receive_latency_ns = 4 * LS_S;
        pair.ways[0][i].delay_ns = rtt_ns / 2;
      }
      pair.stream.buffer_packets = 4096;
      pair.ends[0].link.flow_window = pair.ends[1].link.flow_window = 4096;
      ls__test_start(&pair, 1);
      while (pair.ends[0].connected == 0)
        ls__test_run(&pair, pair.now_ns + LS_MS);
      assert_in_range(pair.now_ns, 2 * rtt_ns, 2 * rtt_ns + LS_MS);
      ls__test_run(&pair, pair.now_ns + 3 * LS_S);
      ls__test_finish(&pair, pair.now_ns + 20 * LS_S);
      unsigned asked = 2 * (unsigned)((rtt_ns - 1) / LS__HANDSHAKE_RETRY_NS + 1);
      assert_in_range(losses.seen[0], asked, asked + 2);
      assert_int_equal(pair.ends[0].connected + pair.ends[1].connected, 2);
      assert_int_equal(pair.ends[0].stream.links[0].link.stats.connections, 1);
      assert_int_equal(pair.ends[1].stream.links[0].link.stats.connections, 1);
      assert_int_equal(pair.delivered, pair.pushed);
      if (rtt_ns < 900 * LS_MS || sender == 0)
        ls__test_free(&pair);
    }
}

/* What the listener refuses with is what the caller is told, at once; also when the refusal is lost
 * at first. */
static void test_refusals(void **state) {
  (void)state;
  static const int codes[] = {LS__REJECT_RESOURCE, LS__REJECT_BADSECRET, LS__REJECT_GROUP,
                              LS__REJECT_NOTFOUND, LS__REJECT_CONFLICT,  2042};
  for (size_t i = 0; i < 2 * sizeof codes / sizeof *codes; i++) {
    struct losses losses = {.masks = {0, i % 2 ? 2 : 0}};
    ls__test_pair_defaults(&pair);
    pair.reject = codes[i / 2];
    pair.lose = lose_handshakes;
    pair.context = &losses;
    ls__test_start(&pair, 1);
    ls__test_run(&pair, i % 2 ? 335 * LS_MS : 85 * LS_MS);
    assert_int_equal(pair.ends[0].broken, 1);
    assert_int_equal(pair.ends[0].reject, codes[i / 2]);
    assert_int_equal(pair.ends[0].connected + pair.ends[1].connected, 0);
    assert_true(ls__stream_ended(&pair.ends[0].stream));
    unsigned asked = losses.seen[0];
    ls__test_run(&pair, 10 * LS_S);
    assert_int_equal(losses.seen[0], asked);
    if (i + 1 < 2 * sizeof codes / sizeof *codes)
      ls__test_free(&pair);
  }
}

/* Nobody there: the caller is told after its time-out and falls silent. */
static void test_nobody(void **state) {
  (void)state;
  struct losses losses = {.masks = {UINT32_MAX, 0}};
  ls__test_pair_defaults(&pair);
  pair.lose = lose_handshakes;
  pair.context = &losses;
  ls__test_start(&pair, 1);
  ls__test_run(&pair, 2999 * LS_MS);
  assert_int_equal(pair.ends[0].broken, 0);
  ls__test_run(&pair, 60 * LS_S);
  assert_int_equal(pair.ends[0].broken, 1);
  assert_int_equal(pair.ends[0].reject, LS__REJECT_TIMEOUT);
  assert_int_equal(losses.seen[0], 12);
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_losses),
      TEST(test_long_paths),
      TEST(test_refusals),
      TEST(test_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
