#include "base/statistics.gen.h"
#include "base/testing.h"
#include "base/time.h"
#include "lockstep.h"

#include <string.h>

static char err[250];

static void test_life(void **state) {
  (void)state;
  struct ls__stats_simulation stats;
  struct ls__stats_link link;
  int64_t sim = ls_simulation_open();
  assert_true(sim > 0);
  assert_int_equal(ls_simulation_run(sim, LS_S, err, sizeof err), LS_EINVAL);
  assert_string_equal(err, "a simulation needs at least one link");
  assert_int_equal(ls_simulation_link_add(sim), 0);
  assert_int_equal(ls_simulation_option(sim, LS_SELF, "rate_bps", "1000000", err, 250), 0);
  assert_int_equal(ls_simulation_option(sim, 0, "delay_ns", "20000000", err, 250), 0);
  assert_int_equal(ls_simulation_option(sim, 1, "delay_ns", "2", err, 250), LS_EINDEX);
  assert_string_equal(err, "the simulation has no link 1");
  assert_int_equal(ls_simulation_option(sim, LS_SELF, "delay_ns", "2", err, 250), LS_EOPTION);
  assert_int_equal(ls_simulation_finish(sim), LS_ESTATE);
  assert_int_equal(ls_simulation_run(sim, 10 * LS_S, err, sizeof err), 1);
  assert_string_equal(err, "");
  assert_int_equal(ls_simulation_link_add(sim), LS_ESTATE);
  assert_int_equal(ls_simulation_option(sim, 0, "loss", "0", err, 250), LS_ESTATE);
  assert_int_equal(ls_simulation_finish(sim), 0);
  assert_int_equal(ls_simulation_run(sim, 10 * LS_S, err, sizeof err), 0);
  assert_int_equal(ls_simulation_stats(sim, LS_SCOPE_SIMULATION, LS_SELF, &stats, sizeof stats),
                   sizeof stats);
  assert_in_range(stats.delivered, 940, 960);
  assert_int_equal(stats.delivered, stats.sent);
  assert_int_equal(ls_simulation_stats(sim, LS_SCOPE_LINK, 1, &link, sizeof link), sizeof link);
  assert_int_equal(link.packets_received_unique, stats.sent);
  assert_int_equal(ls_simulation_stats(sim, LS_SCOPE_LINK, 2, &link, sizeof link), LS_EINDEX);
  assert_int_equal(ls_simulation_stats(sim, LS_SCOPE_FLOW, 0, &link, sizeof link), LS_EINVAL);
  assert_int_equal(ls_simulation_stats(sim, LS_SCOPE_LINK, 0, &link, 8), LS_ESIZE);
  assert_int_equal(ls_simulation_close(sim), 0);
  assert_int_equal(ls_simulation_close(sim), LS_EHANDLE);
  assert_int_equal(ls_simulation_run(sim, 1, err, sizeof err), LS_EHANDLE);
}

static void test_limit(void **state) {
  (void)state;
  int64_t sims[16];
  for (int i = 0; i < 16; i++)
    assert_true((sims[i] = ls_simulation_open()) > 0);
  assert_int_equal(ls_simulation_open(), LS_ELIMIT);
  for (int i = 0; i < 8; i++)
    assert_int_equal(ls_simulation_link_add(sims[0]), i);
  assert_int_equal(ls_simulation_link_add(sims[0]), LS_ELIMIT);
  for (int i = 0; i < 16; i++)
    assert_int_equal(ls_simulation_close(sims[i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_life), cmocka_unit_test(test_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
