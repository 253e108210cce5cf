#include "pace/schedule.h"

#include "base/prng.h"
#include "base/testing.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

static void init(struct ls__schedule *schedule, uint32_t slots, enum ls__late_policy late,
                 int64_t late_ns) {
  struct ls__schedule_config config = {
      .slots = slots, .slot_bytes = 100, .late = late, .late_ns = late_ns};
  assert_int_equal(ls__schedule_init(schedule, &config), 0);
}

static void add(struct ls__schedule *schedule, int64_t at_ns, uint64_t cookie) {
  struct ls__departure *departure = ls__schedule_reserve(schedule);
  assert_non_null(departure);
  departure->cookie = cookie;
  ls__schedule_commit(schedule, departure, at_ns);
}

/* Pops what is due at `due_ns` and releases it; the cookies must be `cookies`. */
static void expect(struct ls__schedule *schedule, int64_t due_ns, const uint64_t *cookies,
                   unsigned count) {
  struct ls__departure *batch[LS_BATCH];
  assert_int_equal(ls__schedule_pop(schedule, due_ns, due_ns, batch), count);
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(batch[i]->cookie, cookies[i]);
    ls__schedule_release(schedule, batch[i]);
  }
}

static void test_order(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 8, LS_LATE_SEND, LS_NEVER);
  assert_int_equal(ls__schedule_first(&schedule), LS_NEVER);
  add(&schedule, 30, 1);
  add(&schedule, 10, 2);
  add(&schedule, 10, 3);
  add(&schedule, -5, 4);
  add(&schedule, 10, 5);
  assert_int_equal(ls__schedule_first(&schedule), -5);
  expect(&schedule, -6, NULL, 0);
  expect(&schedule, 10, (uint64_t[]){4, 2, 3, 5}, 4);
  assert_int_equal(ls__schedule_first(&schedule), 30);
  expect(&schedule, 29, NULL, 0);
  expect(&schedule, LS_NEVER, (uint64_t[]){1}, 1);
  expect(&schedule, LS_NEVER, NULL, 0);
  ls__schedule_free(&schedule);
}

static void test_batch_limit(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 40, LS_LATE_SEND, LS_NEVER);
  for (unsigned i = 0; i < 40; i++)
    add(&schedule, 7, i);
  uint64_t cookies[40];
  for (unsigned i = 0; i < 40; i++)
    cookies[i] = i;
  expect(&schedule, 7, cookies, 16);
  expect(&schedule, 7, cookies + 16, 16);
  assert_int_equal(ls__schedule_count(&schedule), 8);
  expect(&schedule, 7, cookies + 32, 8);
  ls__schedule_free(&schedule);
}

static void test_full(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 2, LS_LATE_SEND, LS_NEVER);
  add(&schedule, 1, 1);
  struct ls__departure *second = ls__schedule_reserve(&schedule);
  assert_non_null(second);
  assert_null(ls__schedule_reserve(&schedule));
  assert_null(ls__schedule_reserve(&schedule));
  assert_int_equal(schedule.full, 2);
  ls__schedule_abandon(&schedule, second);
  add(&schedule, 2, 2);
  assert_null(ls__schedule_reserve(&schedule));
  expect(&schedule, 5, (uint64_t[]){1, 2}, 2);
  assert_non_null(ls__schedule_reserve(&schedule));
  assert_int_equal(schedule.full, 3);
  ls__schedule_free(&schedule);
}

/* A slot comes back empty, whatever its last owner wrote. */
static void test_slot_is_fresh(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 1, LS_LATE_SEND, LS_NEVER);
  struct ls__departure *departure = ls__schedule_reserve(&schedule);
  departure->length = 100;
  departure->cookie = 9;
  departure->to = (struct ls__addr){.family = 4, .port = 5000};
  departure->from = (struct ls__addr){.family = 6, .port = 5001};
  ls__schedule_abandon(&schedule, departure);
  departure = ls__schedule_reserve(&schedule);
  struct ls__addr none = {0};
  assert_int_equal(departure->length, 0);
  assert_int_equal(departure->cookie, 0);
  assert_true(ls__addr_equal(&departure->to, &none));
  assert_true(ls__addr_equal(&departure->from, &none));
  ls__schedule_free(&schedule);
}

static void test_late(void **state) {
  (void)state;
  static const struct {
    enum ls__late_policy policy;
    int64_t at_ns, now_ns;
    unsigned popped, sent, dropped;
  } cases[] = {
      {LS_LATE_SEND, 100, 1100, 1, 0, 0}, /* exactly the limit is in time */
      {LS_LATE_SEND, 100, 1101, 1, 1, 0},
      {LS_LATE_DROP, 100, 1100, 1, 0, 0},
      {LS_LATE_DROP, 100, 1101, 0, 0, 1},
      {LS_LATE_DROP, 100, 50, 1, 0, 0}, /* handed over ahead of its time */
      {LS_LATE_DROP, INT64_MIN, INT64_MAX - 1, 0, 0, 1},
      {LS_LATE_DROP, INT64_MAX - 1, INT64_MIN, 1, 0, 0},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__schedule schedule;
    init(&schedule, 1, cases[i].policy, 1000);
    add(&schedule, cases[i].at_ns, 1);
    struct ls__departure *batch[LS_BATCH];
    assert_int_equal(ls__schedule_pop(&schedule, INT64_MAX - 1, cases[i].now_ns, batch),
                     cases[i].popped);
    assert_int_equal(schedule.late_sent, cases[i].sent);
    assert_int_equal(schedule.late_dropped, cases[i].dropped);
    if (cases[i].dropped)
      assert_non_null(ls__schedule_reserve(&schedule)); /* its slot is free again */
    ls__schedule_free(&schedule);
  }
}

/* What is dropped does not shorten the batch. */
static void test_late_do_not_fill_batch(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 64, LS_LATE_DROP, 10);
  for (unsigned i = 0; i < 32; i++)
    add(&schedule, 0, i);
  for (unsigned i = 32; i < 64; i++)
    add(&schedule, 100, i);
  struct ls__departure *batch[LS_BATCH];
  assert_int_equal(ls__schedule_pop(&schedule, 100, 100, batch), LS_BATCH);
  assert_int_equal(batch[0]->cookie, 32);
  assert_int_equal(schedule.late_dropped, 32);
  ls__schedule_free(&schedule);
}

/* One that the backend could not take is late once, however often it is tried. */
static void test_late_counts_once(void **state) {
  (void)state;
  struct ls__schedule schedule;
  init(&schedule, 1, LS_LATE_SEND, 10);
  struct ls__departure *batch[LS_BATCH];
  for (int round = 0; round < 2; round++) {
    add(&schedule, 0, 1);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(ls__schedule_pop(&schedule, 11, 11, batch), 1);
      if (i < 2)
        ls__schedule_restore(&schedule, batch[0]);
    }
    ls__schedule_release(&schedule, batch[0]);
  }
  assert_int_equal(schedule.late_sent, 2);
  ls__schedule_free(&schedule);
}

/* A packet of the reference model: kept in a plain array, found by search. */
struct packet {
  int64_t at_ns;
  uint64_t order;
};

static unsigned earliest(const struct packet *packets, unsigned count) {
  unsigned best = 0;
  for (unsigned i = 1; i < count; i++)
    if (packets[i].at_ns < packets[best].at_ns ||
        (packets[i].at_ns == packets[best].at_ns && packets[i].order < packets[best].order))
      best = i;
  return best;
}

static void check_payload(const struct ls__departure *departure) {
  assert_int_equal(departure->length, 1 + departure->cookie % 100);
  for (uint32_t i = 0; i < departure->length; i++)
    assert_int_equal(departure->payload[i], (uint8_t)(departure->cookie * 31 + i));
}

static void add_packet(struct ls__schedule *schedule, struct packet *packets, unsigned *waiting,
                       struct packet packet) {
  struct ls__departure *departure = ls__schedule_reserve(schedule);
  departure->cookie = packet.order;
  departure->length = 1 + (uint32_t)(packet.order % 100);
  for (uint32_t i = 0; i < departure->length; i++)
    departure->payload[i] = (uint8_t)(packet.order * 31 + i);
  ls__schedule_commit(schedule, departure, packet.at_ns);
  packets[(*waiting)++] = packet;
}

/* Random committing, popping, and a backend that takes only the first of a batch: order and
 * payload against the model. */
static void test_against_model(void **state) {
  (void)state;
  enum { SLOTS = 50 };
  for (uint64_t seed = 0; seed < 50; seed++) {
    struct ls__prng prng;
    ls__prng_seed(&prng, seed);
    struct ls__schedule schedule;
    init(&schedule, SLOTS, LS_LATE_SEND, LS_NEVER);
    struct packet packets[SLOTS];
    unsigned waiting = 0;
    uint64_t order = 0;
    for (unsigned step = 0; step < 2000; step++) {
      int64_t now_ns = step;
      if (ls__prng_below(&prng, 8) && waiting < SLOTS) {
        /* Few distinct times: many equals. */
        struct packet packet = {now_ns + (int64_t)ls__prng_below(&prng, 5) * 20 - 20, order++};
        add_packet(&schedule, packets, &waiting, packet);
        continue;
      }
      assert_int_equal(ls__schedule_first(&schedule),
                       waiting ? packets[earliest(packets, waiting)].at_ns : LS_NEVER);
      struct ls__departure *batch[LS_BATCH];
      unsigned count = ls__schedule_pop(&schedule, now_ns, now_ns, batch);
      unsigned taken = (unsigned)ls__prng_below(&prng, count + 1);
      for (unsigned i = 0; i < taken; i++) {
        unsigned first = earliest(packets, waiting);
        assert_true(packets[first].at_ns <= now_ns);
        assert_int_equal(batch[i]->cookie, packets[first].order);
        assert_int_equal(batch[i]->node.at_ns, packets[first].at_ns);
        check_payload(batch[i]);
        ls__schedule_release(&schedule, batch[i]);
        packets[first] = packets[--waiting];
      }
      for (unsigned i = count; i > taken; i--)
        ls__schedule_restore(&schedule, batch[i - 1]);
      assert_int_equal(ls__schedule_count(&schedule), waiting);
    }
    assert_int_equal(schedule.full, 0);
    ls__schedule_free(&schedule);
  }
}

/* Every slot's payload is its own, to the last byte. */
static void test_payloads_are_apart(void **state) {
  (void)state;
  enum { SLOTS = 9, BYTES = 1457 };
  struct ls__schedule schedule;
  struct ls__schedule_config config = {.slots = SLOTS, .slot_bytes = BYTES};
  assert_int_equal(ls__schedule_init(&schedule, &config), 0);
  struct ls__departure *departures[SLOTS];
  for (int i = 0; i < SLOTS; i++) {
    departures[i] = ls__schedule_reserve(&schedule);
    memset(departures[i]->payload, i, BYTES);
  }
  for (int i = 0; i < SLOTS; i++)
    for (int j = 0; j < BYTES; j++)
      assert_int_equal(departures[i]->payload[j], i);
  ls__schedule_free(&schedule);
}

static struct ls__departure *popped(struct ls__schedule *schedule) {
  init(schedule, 2, LS_LATE_SEND, LS_NEVER);
  add(schedule, 0, 0);
  struct ls__departure *batch[LS_BATCH];
  ls__schedule_pop(schedule, 0, 0, batch);
  return batch[0];
}

static void release_twice(void) {
  struct ls__schedule schedule;
  struct ls__departure *departure = popped(&schedule);
  ls__schedule_release(&schedule, departure);
  ls__schedule_release(&schedule, departure);
}

static void commit_popped(void) {
  struct ls__schedule schedule;
  ls__schedule_commit(&schedule, popped(&schedule), 1);
}

static void commit_too_long(void) {
  struct ls__schedule schedule;
  init(&schedule, 1, LS_LATE_SEND, LS_NEVER);
  struct ls__departure *departure = ls__schedule_reserve(&schedule);
  departure->length = 101;
  ls__schedule_commit(&schedule, departure, 1);
}

static void commit_never(void) {
  struct ls__schedule schedule;
  init(&schedule, 1, LS_LATE_SEND, LS_NEVER);
  ls__schedule_commit(&schedule, ls__schedule_reserve(&schedule), LS_NEVER);
}

static void test_programmer_errors(void **state) {
  (void)state;
  assert_true(ls__test_aborts(release_twice));
  assert_true(ls__test_aborts(commit_popped));
  assert_true(ls__test_aborts(commit_too_long));
  assert_true(ls__test_aborts(commit_never));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_batch_limit),
      cmocka_unit_test(test_full),
      cmocka_unit_test(test_slot_is_fresh),
      cmocka_unit_test(test_late),
      cmocka_unit_test(test_late_do_not_fill_batch),
      cmocka_unit_test(test_late_counts_once),
      cmocka_unit_test(test_against_model),
      cmocka_unit_test(test_payloads_are_apart),
      cmocka_unit_test(test_programmer_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
