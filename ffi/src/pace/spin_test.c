#include "pace/spin.h"

#include "base/prng.h"
#include "base/testing.h"
#include "base/time.h"

#define MARGIN LS_SPIN_MARGIN_START_NS

/* What a thread has spun, and how well it met its departures. */
struct run {
  struct {
    int64_t from_ns, to_ns;
  } spins[400000];
  unsigned count;
  int64_t now_ns;
  unsigned departures, met; /* met: left within 1 µs */
};

static struct run run;

/* Waits for a departure as the event loop does. A sleep overruns by 30..90 µs, a spin by 200 ns. */
static void wait_for(struct ls__spin *spin, struct ls__prng *prng, int64_t next_ns) {
  while (run.now_ns < next_ns) {
    struct ls__spin_plan plan = ls__spin_plan(spin, run.now_ns, next_ns);
    assert_true(plan.until_ns > run.now_ns && plan.until_ns <= next_ns);
    if (plan.spin) {
      int64_t to_ns = plan.until_ns + 200;
      assert_true(run.count < sizeof run.spins / sizeof *run.spins);
      run.spins[run.count].from_ns = run.now_ns;
      run.spins[run.count++].to_ns = to_ns;
      ls__spin_charge(spin, run.now_ns, to_ns);
      run.now_ns = to_ns;
    } else {
      int64_t woke_ns = plan.until_ns + 30000 + (int64_t)ls__prng_below(prng, 60000);
      ls__spin_woke(spin, plan.until_ns, woke_ns);
      run.now_ns = woke_ns;
    }
  }
  run.departures++;
  run.met += run.now_ns - next_ns < 1000;
}

/* The most that was spun in any window of LS_SPIN_WINDOW_NS. It is reached by a window that ends
 * with a spin. */
static int64_t worst_window(void) {
  int64_t worst_ns = 0, sum_ns = 0;
  for (unsigned first = 0, last = 0; last < run.count; last++) {
    sum_ns += run.spins[last].to_ns - run.spins[last].from_ns;
    int64_t begin_ns = run.spins[last].to_ns - LS_SPIN_WINDOW_NS;
    while (run.spins[first].to_ns <= begin_ns) {
      sum_ns -= run.spins[first].to_ns - run.spins[first].from_ns;
      first++;
    }
    int64_t cut_ns = ls__time_max(begin_ns - run.spins[first].from_ns, 0);
    worst_ns = ls__time_max(worst_ns, sum_ns - cut_ns);
  }
  return worst_ns;
}

static int64_t total_spun(void) {
  int64_t sum_ns = 0;
  for (unsigned i = 0; i < run.count; i++)
    sum_ns += run.spins[i].to_ns - run.spins[i].from_ns;
  return sum_ns;
}

/* Random departures; the law of the header holds in every window, with the 200 ns by which each
 * spin overran its grant. */
static void test_budget_law(void **state) {
  (void)state;
  for (uint32_t budget = 1; budget <= 100; budget += budget < 10 ? 3 : 15) {
    struct ls__spin spin;
    struct ls__prng prng;
    ls__prng_seed(&prng, budget);
    ls__spin_init(&spin, budget);
    run = (struct run){.now_ns = 5 * LS_S + 1};
    while (run.now_ns < 9 * LS_S) {
      /* Between one packet each 20 µs and idle stretches. */
      uint64_t gap_ns = ls__prng_below(&prng, 100) ? 300000 : 200000000;
      wait_for(&spin, &prng, run.now_ns + 1 + (int64_t)ls__prng_below(&prng, gap_ns));
    }
    int64_t budget_ns = LS_SPIN_WINDOW_NS / 100 * budget;
    int64_t overruns_ns = LS_SPIN_WINDOW_NS / 20000 * 200;
    assert_true(worst_window() <= budget_ns + overruns_ns);
    assert_int_equal(spin.total_ns, total_spun());
    assert_int_equal(spin.spins, run.count);
  }
}

/* Under a load that asks for more, at least nine tenths of the budget are used (16 of 17 slots are
 * what the account grants). */
static void test_budget_is_used(void **state) {
  (void)state;
  struct ls__spin spin;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  ls__spin_init(&spin, 10);
  run = (struct run){.now_ns = LS_S};
  while (run.now_ns < 6 * LS_S)
    wait_for(&spin, &prng, run.now_ns + 125000);
  assert_true(total_spun() > 5 * LS_S / 10 * 9 / 10);
  assert_true(spin.over_budget > 0);
}

/* With budget enough nearly every departure is met: that is what it is for. */
static void test_departures_are_met(void **state) {
  (void)state;
  struct ls__spin spin;
  struct ls__prng prng;
  ls__prng_seed(&prng, 1);
  ls__spin_init(&spin, 50);
  run = (struct run){.now_ns = LS_S};
  while (run.now_ns < 6 * LS_S)
    wait_for(&spin, &prng, run.now_ns + 1000000);
  assert_true(run.met > run.departures * 9 / 10);
  assert_int_equal(spin.over_budget, 0);
}

static void test_no_budget(void **state) {
  (void)state;
  struct ls__spin spin;
  ls__spin_init(&spin, 0);
  struct ls__spin_plan plan = ls__spin_plan(&spin, 1000, 50000);
  assert_false(plan.spin);
  assert_int_equal(plan.until_ns, 50000);
  assert_int_equal(spin.over_budget, 0);
}

static void test_plan(void **state) {
  (void)state;
  static const struct {
    int64_t now_ns, next_ns, until_ns;
    bool spin;
  } cases[] = {
      {1000, LS_NEVER, LS_NEVER, false},  {1000, 1000, 1000, false}, /* due */
      {1000, 999, 1000, false},           {1000, INT64_MIN, 1000, false},
      {1000, 1001, 1001, true},           {1000, 1000 + MARGIN, 1000 + MARGIN, true},
      {1000, 1001 + MARGIN, 1001, false}, {0, LS_S, LS_S - MARGIN, false},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__spin spin;
    ls__spin_init(&spin, 10);
    struct ls__spin_plan plan = ls__spin_plan(&spin, cases[i].now_ns, cases[i].next_ns);
    assert_int_equal(plan.until_ns, cases[i].until_ns);
    assert_int_equal(plan.spin, cases[i].spin);
  }
}

/* A spin that was preempted for 9.95 of the 10 ms keeps the next ones out until it is past. */
static void test_overrun_is_charged(void **state) {
  (void)state;
  struct ls__spin spin;
  ls__spin_init(&spin, 10);
  int64_t from_ns = LS_S, to_ns = from_ns + 9950 * LS_US;
  ls__spin_charge(&spin, from_ns, to_ns);
  assert_true(ls__spin_plan(&spin, to_ns, to_ns + 50 * LS_US).spin);
  assert_false(ls__spin_plan(&spin, to_ns, to_ns + 51 * LS_US).spin);
  assert_int_equal(spin.over_budget, 1);
  ls__spin_plan(&spin, to_ns + 10, to_ns + 51 * LS_US); /* the same departure, asked for again */
  assert_int_equal(spin.over_budget, 1);
  /* A window and a slot later all is free. */
  int64_t later_ns = to_ns + LS_SPIN_WINDOW_NS + LS_SPIN_WINDOW_NS / LS_SPIN_SLOTS;
  assert_true(ls__spin_plan(&spin, later_ns, later_ns + 90 * LS_US).spin);
}

/* A thread that was stopped while spinning, longer than the account reaches. */
static void test_long_overrun(void **state) {
  (void)state;
  struct ls__spin spin;
  ls__spin_init(&spin, 100);
  ls__spin_charge(&spin, LS_S, 3600 * LS_S + 1);
  assert_int_equal(spin.total_ns, 3599 * LS_S + 1);
  assert_false(ls__spin_plan(&spin, 3600 * LS_S + 1, 3600 * LS_S + 1000).spin);
  int64_t later_ns = 3600 * LS_S + 2 * LS_SPIN_WINDOW_NS;
  assert_true(ls__spin_plan(&spin, later_ns, later_ns + 1000).spin);
}

/* Overruns spread evenly over 0..`width`: the margin settles at 95 % of it, within its bounds. */
static void test_margin(void **state) {
  (void)state;
  static const struct {
    uint64_t width_ns;
    int64_t settles_ns;
  } cases[] = {{10000, LS_SPIN_MARGIN_MIN_NS},
               {60000, 57000},
               {100000, 95000},
               {180000, 171000},
               {1000000, LS_SPIN_MARGIN_MAX_NS}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ls__spin spin;
    struct ls__prng prng;
    ls__prng_seed(&prng, i);
    ls__spin_init(&spin, 10);
    int64_t sum_ns = 0;
    for (int n = 0; n < 12000; n++) {
      int64_t overrun_ns = (int64_t)ls__prng_below(&prng, cases[i].width_ns);
      ls__spin_woke(&spin, LS_S, LS_S + overrun_ns);
      assert_true(spin.margin_ns >= LS_SPIN_MARGIN_MIN_NS);
      assert_true(spin.margin_ns <= LS_SPIN_MARGIN_MAX_NS);
      sum_ns += n < 2000 ? 0 : spin.margin_ns;
    }
    int64_t error_ns = sum_ns / 10000 - cases[i].settles_ns;
    assert_true(error_ns > -cases[i].settles_ns / 20 && error_ns < cases[i].settles_ns / 20);
  }
}

static void test_early_wakeup_counts_as_none(void **state) {
  (void)state;
  struct ls__spin spin;
  ls__spin_init(&spin, 10);
  int64_t before_ns = spin.margin_ns;
  ls__spin_woke(&spin, LS_S, LS_S - 500 * LS_US);
  assert_true(spin.margin_ns < before_ns && spin.margin_ns > before_ns * 99 / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_budget_law),
      cmocka_unit_test(test_budget_is_used),
      cmocka_unit_test(test_departures_are_met),
      cmocka_unit_test(test_no_budget),
      cmocka_unit_test(test_plan),
      cmocka_unit_test(test_overrun_is_charged),
      cmocka_unit_test(test_long_overrun),
      cmocka_unit_test(test_margin),
      cmocka_unit_test(test_early_wakeup_counts_as_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
