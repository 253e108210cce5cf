#include "impair/model.h"

#include "base/testing.h"
#include "base/time.h"
#include "lockstep.h"

#include <math.h>

#define START 1000

static struct ls__model model_of(struct ls__model_config config) {
  struct ls__model model;
  char err[200] = "";
  if (ls__model_init(&model, &config, START, err, sizeof err))
    fail_msg("%s", err);
  return model;
}

/* What became of one packet. */
struct outcome {
  unsigned copies;
  enum ls__model_fate fate;
  int64_t offered_ns, at_ns[2];
};

/* Offers `count` packets of 1316 bytes each `gap_ns`, the first at START. */
static void offer(struct ls__model *model, struct outcome *results, unsigned count,
                  int64_t gap_ns) {
  for (unsigned i = 0; i < count; i++) {
    struct outcome *out = &results[i];
    *out = (struct outcome){.offered_ns = START + i * gap_ns};
    out->copies = ls__model_offer(model, out->offered_ns, 1316, out->at_ns, &out->fate);
    bool arrives = out->fate == LS_FATE_DELIVERED || out->fate == LS_FATE_DUPLICATED;
    assert_int_equal(out->copies, arrives ? 1 + (out->fate == LS_FATE_DUPLICATED) : 0);
    for (unsigned copy = 0; copy < out->copies; copy++)
      assert_true(out->at_ns[copy] >= out->offered_ns);
    assert_true(out->copies < 2 || out->at_ns[1] >= out->at_ns[0]);
  }
}

enum { MANY = 400000 };
static struct outcome outcomes[MANY], others[MANY];

static double share_of(enum ls__model_fate fate, unsigned count) {
  unsigned found = 0;
  for (unsigned i = 0; i < count; i++)
    found += outcomes[i].fate == fate;
  return (double)found / count;
}

static void test_perfect(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){0});
  offer(&model, outcomes, 1000, 10);
  for (unsigned i = 0; i < 1000; i++) {
    assert_int_equal(outcomes[i].fate, LS_FATE_DELIVERED);
    assert_int_equal(outcomes[i].at_ns[0], outcomes[i].offered_ns);
  }
}

static void test_delay(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){.delay_ns = 20 * LS_MS});
  offer(&model, outcomes, 1000, 1000);
  for (unsigned i = 0; i < 1000; i++)
    assert_int_equal(outcomes[i].at_ns[0], outcomes[i].offered_ns + 20 * LS_MS);
}

/* Mean loss and mean burst, each within four standard errors. A burst of mean b has the variance
 * b·(b - 1); losses of mean length b over n packets vary about (2b - 1) times as much as single
 * ones (less the share lost). */
static void test_loss(void **state) {
  (void)state;
  static const struct {
    double loss, burst, mean_burst;
  } cases[] = {
      {0.01, 0, 1 / 0.99}, {0.01, 1, 1 / 0.99}, {0.3, 1, 1 / 0.7}, {0.01, 3, 3},
      {0.05, 10, 10},      {0.5, 1.2, 1.2},     {0.2, 50, 50},     {0.9, 9, 9},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    double loss = cases[i].loss, burst = cases[i].mean_burst;
    struct ls__model model = model_of(
        (struct ls__model_config){.loss = loss, .burst_packets = cases[i].burst, .seed = 100 + i});
    offer(&model, outcomes, MANY, 1000);
    unsigned lost = 0, bursts = 0;
    for (unsigned n = 0; n < MANY; n++) {
      bool is_lost = outcomes[n].fate == LS_FATE_LOST;
      lost += is_lost;
      bursts += is_lost && (n == 0 || outcomes[n - 1].fate != LS_FATE_LOST);
    }
    double error = 4 * sqrt(loss * (1 - loss) * (2 * burst - 1) / MANY);
    assert_true(fabs((double)lost / MANY - loss) < error);
    double burst_error = 4 * sqrt(burst * (burst - 1) / bursts) + 1e-9;
    assert_true(fabs((double)lost / bursts - burst) < burst_error + 0.001 * burst);
  }
}

static void test_all_lost(void **state) {
  (void)state;
  for (unsigned burst = 0; burst < 4; burst++) {
    struct ls__model model =
        model_of((struct ls__model_config){.loss = 1, .burst_packets = burst, .seed = burst});
    offer(&model, outcomes, 1000, 1000);
    assert_true(share_of(LS_FATE_LOST, 1000) == 1.0);
  }
}

/* Packets so far apart that none has to wait for another: mean, deviation, limits. */
static void test_jitter(void **state) {
  (void)state;
  struct ls__model model = model_of(
      (struct ls__model_config){.delay_ns = 20 * LS_MS, .jitter_ns = 2 * LS_MS, .seed = 5});
  offer(&model, outcomes, MANY, 20 * LS_MS);
  double sum = 0, squares = 0;
  int64_t least_ns = LS_NEVER, most_ns = 0;
  for (unsigned i = 0; i < MANY; i++) {
    int64_t delay_ns = outcomes[i].at_ns[0] - outcomes[i].offered_ns;
    double sigmas = (double)(delay_ns - 20 * LS_MS) / (2 * LS_MS);
    sum += sigmas;
    squares += sigmas * sigmas;
    least_ns = ls__time_min(least_ns, delay_ns);
    most_ns = ls__time_max(most_ns, delay_ns);
  }
  assert_true(fabs(sum / MANY) < 4 / sqrt(MANY));
  assert_true(fabs(sqrt(squares / MANY) - 0.98658) < 4 / sqrt(2.0 * MANY));
  assert_true(least_ns >= 14 * LS_MS && least_ns < 14500 * LS_US);
  assert_true(most_ns <= 26 * LS_MS && most_ns > 25500 * LS_US);
}

static void test_delay_never_negative(void **state) {
  (void)state;
  struct ls__model model =
      model_of((struct ls__model_config){.delay_ns = 1 * LS_MS, .jitter_ns = 5 * LS_MS, .seed = 6});
  offer(&model, outcomes, 10000, 40 * LS_MS); /* offer() checks each */
  unsigned at_once = 0;
  for (unsigned i = 0; i < 10000; i++)
    at_once += outcomes[i].at_ns[0] == outcomes[i].offered_ns;
  assert_in_range(at_once, 4000, 4400); /* 42 % lie more than 0.2 sigma below the mean */
}

static void test_order_kept(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){.delay_ns = 20 * LS_MS,
                                                              .jitter_ns = 5 * LS_MS,
                                                              .duplicate = 0.1,
                                                              .loss = 0.1,
                                                              .rate_bps = 100000000,
                                                              .seed = 7});
  offer(&model, outcomes, MANY, 100 * LS_US);
  int64_t newest_ns = 0;
  for (unsigned i = 0; i < MANY; i++)
    for (unsigned copy = 0; copy < outcomes[i].copies; copy++) {
      assert_true(outcomes[i].at_ns[copy] >= newest_ns);
      newest_ns = outcomes[i].at_ns[copy];
    }
}

/* The share held back, by how much, and that nobody else is. */
static void test_reorder(void **state) {
  (void)state;
  struct ls__model model =
      model_of((struct ls__model_config){.delay_ns = 20 * LS_MS, .reorder = 0.05, .seed = 8});
  offer(&model, outcomes, MANY, 100 * LS_US);
  unsigned held = 0, passed = 0;
  double sum_ns = 0;
  for (unsigned i = 0; i < MANY; i++) {
    int64_t hold_ns = outcomes[i].at_ns[0] - outcomes[i].offered_ns - 20 * LS_MS;
    if (!hold_ns)
      continue;
    assert_in_range(hold_ns, LS_MODEL_HOLD_MIN_NS, LS_MODEL_HOLD_MAX_NS);
    held++;
    sum_ns += (double)hold_ns;
    passed += i + 1 < MANY && outcomes[i + 1].at_ns[0] < outcomes[i].at_ns[0];
  }
  assert_true(fabs((double)held / MANY - 0.05) < 4 * sqrt(0.05 * 0.95 / MANY));
  assert_true(fabs(sum_ns / held - 3e6) < 4 * 4e6 / sqrt(12.0 * held));
  assert_true(passed > held * 9 / 10);
}

static void test_duplicate(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){
      .delay_ns = 20 * LS_MS, .jitter_ns = LS_MS, .duplicate = 0.02, .seed = 9});
  offer(&model, outcomes, MANY, LS_MS);
  double share = share_of(LS_FATE_DUPLICATED, MANY);
  assert_true(fabs(share - 0.02) < 4 * sqrt(0.02 * 0.98 / MANY));
  unsigned apart = 0;
  for (unsigned i = 0; i < MANY; i++)
    apart += outcomes[i].copies == 2 && outcomes[i].at_ns[1] > outcomes[i].at_ns[0];
  assert_true(apart > share * MANY / 3); /* a delay of its own, later in half of the cases */
}

static void test_outage(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){
      .delay_ns = 20 * LS_MS, .outage_every_ns = 1000, .outage_for_ns = 300});
  for (int64_t now_ns = START; now_ns < START + 10000; now_ns++) {
    int64_t at_ns[2];
    enum ls__model_fate fate;
    ls__model_offer(&model, now_ns, 100, at_ns, &fate);
    bool down = (now_ns - START) % 1000 >= 700;
    assert_int_equal(fate, down ? LS_FATE_OUTAGE : LS_FATE_DELIVERED);
  }
}

/* A line that always has a packet: each leaves when the last bit of the one before has, exact to
 * the nanosecond and rounded up. */
static void test_rate(void **state) {
  (void)state;
  static const uint64_t rates_bps[] = {1000000, 9999991, 333333333, 7000000001};
  for (unsigned i = 0; i < sizeof rates_bps / sizeof *rates_bps; i++) {
    uint64_t rate_bps = rates_bps[i];
    struct ls__model model = model_of((struct ls__model_config){
        .delay_ns = 5 * LS_MS, .rate_bps = rate_bps, .queue_bytes = LS_MODEL_QUEUE_MAX_BYTES});
    unsigned count = 100000;
    offer(&model, outcomes, count, 10);
    for (unsigned n = 0; n < count; n++) {
      __int128 bits = (__int128)(n + 1) * 1316 * 8;
      int64_t sent_ns = (int64_t)((bits * LS_S + rate_bps - 1) / rate_bps);
      assert_int_equal(outcomes[n].at_ns[0], START + sent_ns + 5 * LS_MS);
    }
  }
}

/* Offered above the rate: what arrives has the rate, and the queue adds its length at most. */
static void test_overflow(void **state) {
  (void)state;
  struct ls__model model =
      model_of((struct ls__model_config){.rate_bps = 10000000, .queue_bytes = 100000});
  offer(&model, outcomes, 20000, 500 * LS_US); /* 21 Mbit/s for 10 s */
  unsigned passed = 0;
  int64_t longest_ns = 0, newest_ns = 0;
  for (unsigned i = 0; i < 20000; i++)
    if (outcomes[i].copies) {
      passed++;
      newest_ns = outcomes[i].at_ns[0];
      longest_ns = ls__time_max(longest_ns, newest_ns - outcomes[i].offered_ns);
    } else {
      assert_int_equal(outcomes[i].fate, LS_FATE_OVERFLOW);
    }
  double rate_bps = passed * 1316.0 * 8 * 1e9 / (double)(newest_ns - START);
  assert_true(fabs(rate_bps - 1e7) < 1e4);
  assert_true(longest_ns <= 80 * LS_MS && longest_ns > 78 * LS_MS);
}

static void test_queue(void **state) {
  (void)state;
  int64_t at_ns[2];
  enum ls__model_fate fate;
  /* Unset, it holds 250 ms: 31 250 bytes at 1 Mbit/s. */
  struct ls__model model = model_of((struct ls__model_config){.rate_bps = 1000000});
  assert_int_equal(ls__model_offer(&model, START, 30000, at_ns, &fate), 1);
  assert_int_equal(ls__model_offer(&model, START, 1251, at_ns, &fate), 0);
  assert_int_equal(fate, LS_FATE_OVERFLOW);
  assert_int_equal(ls__model_offer(&model, START, 1250, at_ns, &fate), 1);
  assert_int_equal(at_ns[0], START + 250 * LS_MS);
  assert_int_equal(ls__model_offer(&model, START, 1, at_ns, &fate), 0);
  /* Room for one more byte after 8 µs. */
  assert_int_equal(ls__model_offer(&model, START + 8 * LS_US - 1, 1, at_ns, &fate), 0);
  assert_int_equal(ls__model_offer(&model, START + 8 * LS_US, 1, at_ns, &fate), 1);
  /* An idle line takes what the queue could not hold. */
  model = model_of((struct ls__model_config){.rate_bps = 1000000, .queue_bytes = 10});
  assert_int_equal(ls__model_offer(&model, START, 1250, at_ns, &fate), 1);
  assert_int_equal(at_ns[0], START + 10 * LS_MS);
  assert_int_equal(ls__model_offer(&model, START + 10 * LS_MS - 1, 1250, at_ns, &fate), 0);
  assert_int_equal(ls__model_offer(&model, START + 10 * LS_MS, 1250, at_ns, &fate), 1);
}

/* A lost packet has used the line; one in an outage has not. */
static void test_line_is_used_by_lost(void **state) {
  (void)state;
  int64_t at_ns[2];
  enum ls__model_fate fate;
  struct ls__model model =
      model_of((struct ls__model_config){.rate_bps = 1000000, .queue_bytes = 1000, .loss = 1});
  ls__model_offer(&model, START, 1000, at_ns, &fate);
  assert_int_equal(fate, LS_FATE_LOST);
  ls__model_offer(&model, START, 1000, at_ns, &fate);
  assert_int_equal(fate, LS_FATE_OVERFLOW);
  model = model_of((struct ls__model_config){
      .rate_bps = 1000000, .queue_bytes = 1000, .outage_every_ns = 1000, .outage_for_ns = 999});
  ls__model_offer(&model, START + 1, 1000, at_ns, &fate);
  assert_int_equal(fate, LS_FATE_OUTAGE);
  ls__model_offer(&model, START + 1000, 1000, at_ns, &fate);
  assert_int_equal(fate, LS_FATE_DELIVERED);
}

static void test_time_backwards(void **state) {
  (void)state;
  int64_t at_ns[2];
  enum ls__model_fate fate;
  struct ls__model model = model_of((struct ls__model_config){.delay_ns = 100});
  assert_int_equal(ls__model_offer(&model, START + 50, 10, at_ns, &fate), 1);
  assert_int_equal(ls__model_offer(&model, START - 500, 10, at_ns, &fate), 1);
  assert_int_equal(at_ns[0], START + 150);
}

static const struct ls__model_config everything = {.delay_ns = 20 * LS_MS,
                                                   .jitter_ns = 3 * LS_MS,
                                                   .loss = 0.05,
                                                   .burst_packets = 2,
                                                   .outage_every_ns = 10 * LS_S,
                                                   .outage_for_ns = 1 * LS_S,
                                                   .reorder = 0.05,
                                                   .duplicate = 0.05,
                                                   .rate_bps = 11000000,
                                                   .queue_bytes = 60000,
                                                   .seed = 42};

static void test_repeatable(void **state) {
  (void)state;
  struct ls__model model = model_of(everything), same = model_of(everything);
  struct ls__model_config config = everything;
  config.seed++;
  offer(&model, outcomes, 50000, LS_MS);
  offer(&same, others, 50000, LS_MS);
  assert_memory_equal(outcomes, others, 50000 * sizeof *outcomes);
  struct ls__model different = model_of(config);
  offer(&different, others, 50000, LS_MS);
  assert_memory_not_equal(outcomes, others, 50000 * sizeof *outcomes);
}

/* Whether packet `i` met with `fate`, or its delay, or its hold: what one property decides. */
enum property { LOSS, JITTER, REORDER, DUPLICATE, PROPERTIES };

static int64_t decision(enum property property, const struct outcome *out) {
  int64_t delay_ns = out->at_ns[0] - out->offered_ns;
  switch (property) {
  case LOSS:
    return out->fate == LS_FATE_LOST;
  case DUPLICATE:
    return out->fate == LS_FATE_DUPLICATED;
  case JITTER: /* packets are a second apart: only a hold (1..5 ms) can be added */
    return delay_ns;
  default:
    return delay_ns > 20 * LS_MS + 1; /* held; only read where there is no jitter */
  }
}

static struct ls__model_config only(unsigned mask) {
  struct ls__model_config config = {.delay_ns = 20 * LS_MS, .seed = 77};
  config.loss = mask & 1 << LOSS ? 0.1 : 0;
  config.burst_packets = 2;
  config.jitter_ns = mask & 1 << JITTER ? 3 * LS_MS : 0;
  config.reorder = mask & 1 << REORDER ? 0.1 : 0;
  config.duplicate = mask & 1 << DUPLICATE ? 0.1 : 0;
  return config;
}

/* One property alone, and together with each of the others, the rate and an outage: wherever the
 * packet arrives in both runs, what the property decides is the same. */
static void test_streams_are_independent(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  for (int property = 0; property < PROPERTIES; property++)
    for (int other = 0; other < PROPERTIES; other++) {
      /* A hold cannot be told from jitter by the delay alone. */
      if ((property == JITTER && other == REORDER) || (property == REORDER && other == JITTER))
        continue;
      struct ls__model alone = model_of(only(1u << property));
      struct ls__model_config config = only(1u << property | 1u << other);
      config.outage_every_ns = 100 * LS_S;
      config.outage_for_ns = 30 * LS_S;
      struct ls__model both = model_of(config);
      offer(&alone, outcomes, COUNT, LS_S);
      offer(&both, others, COUNT, LS_S);
      unsigned compared = 0, decided = 0;
      for (unsigned i = 0; i < COUNT; i++) {
        bool hidden = others[i].fate == LS_FATE_OUTAGE ||
                      (property != LOSS && others[i].fate == LS_FATE_LOST) ||
                      (property != LOSS && outcomes[i].fate == LS_FATE_LOST);
        if (hidden)
          continue;
        int64_t a = decision((enum property)property, &outcomes[i]);
        assert_int_equal(a, decision((enum property)property, &others[i]));
        compared++;
        decided += a != 0;
      }
      assert_true(compared > COUNT / 2 && decided > COUNT / 20);
    }
}

/* The same for jitter against holding back: the delay with both is the delay with jitter alone
 * plus the hold of reorder alone. */
static void test_jitter_and_reorder_are_independent(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static struct outcome both_outcomes[COUNT];
  struct ls__model jitter = model_of(only(1u << JITTER)), reorder = model_of(only(1u << REORDER));
  struct ls__model both = model_of(only(1u << JITTER | 1u << REORDER));
  offer(&jitter, outcomes, COUNT, LS_S);
  offer(&reorder, others, COUNT, LS_S);
  offer(&both, both_outcomes, COUNT, LS_S);
  for (unsigned i = 0; i < COUNT; i++) {
    int64_t hold_ns = others[i].at_ns[0] - others[i].offered_ns - 20 * LS_MS;
    assert_int_equal(both_outcomes[i].at_ns[0], outcomes[i].at_ns[0] + hold_ns);
  }
}

static void test_configurations(void **state) {
  (void)state;
  const struct {
    struct ls__model_config config;
    const char *sentence; /* NULL: accepted */
  } cases[] = {
      {{0}, NULL},
      {{.delay_ns = LS_MODEL_DELAY_MAX_NS, .jitter_ns = LS_MODEL_DELAY_MAX_NS}, NULL},
      {{.delay_ns = -1}, "delay is -1e-06 ms: it must lie between 0 and 60000 ms"},
      {{.delay_ns = 61 * LS_S}, "delay is 61000 ms: it must lie between 0 and 60000 ms"},
      {{.jitter_ns = -LS_MS}, "jitter is -1 ms: it must lie between 0 and 60000 ms"},
      {{.loss = 1, .burst_packets = 2}, NULL},
      {{.loss = 1.5}, "loss is 1.5: it must lie between 0 and 1 (0.01 is 1 %)"},
      {{.loss = -0.1}, "loss is -0.1: it must lie between 0 and 1 (0.01 is 1 %)"},
      {{.loss = NAN}, "loss is nan: it must lie between 0 and 1 (0.01 is 1 %)"},
      {{.burst_packets = 0.5}, "burst is 0.5: it must lie between 1 and 1000000 packets"},
      {{.burst_packets = 2e6}, "burst is 2000000: it must lie between 1 and 1000000 packets"},
      {{.burst_packets = NAN}, "burst is nan: it must lie between 1 and 1000000 packets"},
      {{.loss = 0.75, .burst_packets = 3}, NULL},
      {{.loss = 0.8, .burst_packets = 3},
       "loss is 0.8: bursts of 3 packets lose at most 0.75; make burst at least 4"},
      {{.outage_every_ns = LS_S}, NULL},
      {{.outage_every_ns = -LS_S},
       "outage period is -1000 ms: it must lie between 0 and 86400000 ms"},
      {{.outage_every_ns = LS_S, .outage_for_ns = -LS_S},
       "outage length is -1000 ms: it must not be negative"},
      {{.outage_every_ns = LS_S, .outage_for_ns = LS_S},
       "outage length is 1000 ms: it must be shorter than its period of 1000 ms"},
      {{.outage_for_ns = LS_S},
       "outage length is 1000 ms: it must be shorter than its period of 0 ms"},
      {{.reorder = 1.01}, "reorder is 1.01: it must lie between 0 and 1 (0.01 is 1 %)"},
      {{.duplicate = -1}, "duplicate is -1: it must lie between 0 and 1 (0.01 is 1 %)"},
      {{.rate_bps = 999},
       "rate is 999 bit/s: it must be 0 (no limit) or lie between 1000 and 1000000000000 bit/s"},
      {{.rate_bps = 1000, .queue_bytes = LS_MODEL_QUEUE_MAX_BYTES}, NULL},
      {{.rate_bps = 1000, .queue_bytes = LS_MODEL_QUEUE_MAX_BYTES + 1},
       "queue is 1073741825 bytes: it must not exceed 1073741824 bytes"},
      {{.queue_bytes = 1500}, "queue is 1500 bytes, but nothing queues without a rate: set rate"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__model model;
    char err[200] = "";
    int expected = cases[i].sentence ? LS_EINVAL : 0;
    assert_int_equal(ls__model_check(&cases[i].config, err, sizeof err), expected);
    assert_string_equal(err, cases[i].sentence ? cases[i].sentence : "");
    assert_int_equal(ls__model_init(&model, &cases[i].config, START, NULL, 0), expected);
  }
}

/* The slowest line with the longest queue stays within time. */
static void test_extremes(void **state) {
  (void)state;
  struct ls__model model = model_of((struct ls__model_config){
      .rate_bps = 1000, .queue_bytes = LS_MODEL_QUEUE_MAX_BYTES, .delay_ns = 60 * LS_S});
  int64_t at_ns[2] = {0}, newest_ns = 0;
  enum ls__model_fate fate;
  unsigned passed = 0;
  while (ls__model_offer(&model, START, 65535, at_ns, &fate)) {
    assert_true(at_ns[0] > newest_ns);
    newest_ns = at_ns[0];
    passed++;
  }
  assert_int_equal(passed, (1 << 30) / 65535);
  model = model_of((struct ls__model_config){.rate_bps = LS_MODEL_RATE_MAX_BPS});
  assert_int_equal(model.config.queue_bytes, LS_MODEL_QUEUE_MAX_BYTES);
  offer(&model, outcomes, 1000, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_perfect),
      cmocka_unit_test(test_delay),
      cmocka_unit_test(test_loss),
      cmocka_unit_test(test_all_lost),
      cmocka_unit_test(test_jitter),
      cmocka_unit_test(test_delay_never_negative),
      cmocka_unit_test(test_order_kept),
      cmocka_unit_test(test_reorder),
      cmocka_unit_test(test_duplicate),
      cmocka_unit_test(test_outage),
      cmocka_unit_test(test_rate),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_queue),
      cmocka_unit_test(test_line_is_used_by_lost),
      cmocka_unit_test(test_time_backwards),
      cmocka_unit_test(test_repeatable),
      cmocka_unit_test(test_streams_are_independent),
      cmocka_unit_test(test_jitter_and_reorder_are_independent),
      cmocka_unit_test(test_configurations),
      cmocka_unit_test(test_extremes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
