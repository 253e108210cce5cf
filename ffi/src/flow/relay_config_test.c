#include "flow/relay_config.h"

#include "base/testing.h"
#include "base/time.h"
#include "lockstep.h"

#include <stdlib.h>

static struct ls__relay_config config;
static char err[250];

static int set(const char *name, const char *value) {
  err[0] = 0;
  return ls__relay_config_set(&config, name, value, err, sizeof err);
}

static void begin(const char *local, const char *target) {
  ls__relay_config_init(&config);
  if (local)
    assert_int_equal(set("local", local), 0);
  if (target)
    assert_int_equal(set("target", target), 0);
}

static int finish(void) {
  err[0] = 0;
  return ls__relay_config_finish(&config, err, sizeof err);
}

static void test_defaults(void **state) {
  (void)state;
  begin(":5000", "192.0.2.1:5000");
  assert_int_equal(finish(), 0);
  assert_int_equal(config.local.port, 5000);
  assert_int_equal(config.target.family, 4);
  assert_int_equal(config.queue_packets, 16384);
  assert_int_equal(config.silence_ns, 30 * LS_S);
  assert_int_equal(config.ways.forward.seed, 1);
  assert_true(config.ways.backward.seed == ~UINT64_C(1));
  assert_int_equal(config.ways.forward.delay_ns, 0);
  assert_true(config.ways.forward.loss == 0);
}

/* Each option of the model reaches its field, in both directions or in one. */
static void test_directions(void **state) {
  (void)state;
  const struct {
    const char *name, *value;
    int64_t offset;
    bool share;
  } fields[] = {
#define FIELD(field, value, share) {#field, value, offsetof(struct ls__model_config, field), share}
      FIELD(delay_ns, "20000000", false),
      FIELD(jitter_ns, "3", false),
      FIELD(loss, "0.5", true),
      FIELD(burst_packets, "4", true),
      FIELD(outage_every_ns, "5000", false),
      FIELD(outage_for_ns, "6", false),
      FIELD(reorder, "0.25", true),
      FIELD(duplicate, "0.125", true),
      FIELD(rate_bps, "1000000", false),
      FIELD(queue_bytes, "9000", false),
#undef FIELD
  };
  static const char *const prefixes[] = {"", "forward_", "backward_"};
  for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
    for (unsigned way = 0; way < 3; way++) {
      begin(NULL, NULL);
      char name[64];
      snprintf(name, sizeof name, "%s%s", prefixes[way], fields[i].name);
      assert_int_equal(set(name, fields[i].value), 0);
      for (unsigned side = 0; side < 2; side++) {
        const char *at =
            (const char *)(side ? &config.ways.backward : &config.ways.forward) + fields[i].offset;
        double value = fields[i].share ? *(const double *)(const void *)at
                                       : (double)*(const int64_t *)(const void *)at;
        bool reached = way == 0 || way == side + 1;
        assert_true(value == (reached ? strtod(fields[i].value, NULL) : 0));
      }
    }
}

static void test_later_holds(void **state) {
  (void)state;
  begin(NULL, NULL);
  assert_int_equal(set("delay_ns", "10"), 0);
  assert_int_equal(set("backward_delay_ns", "20"), 0);
  assert_int_equal(config.ways.forward.delay_ns, 10);
  assert_int_equal(config.ways.backward.delay_ns, 20);
  assert_int_equal(set("delay_ns", "30"), 0);
  assert_int_equal(config.ways.forward.delay_ns, 30);
  assert_int_equal(config.ways.backward.delay_ns, 30);
}

static void test_refused_options(void **state) {
  (void)state;
  begin(NULL, NULL);
  static const struct {
    const char *name, *value;
    int code;
    const char *sentence;
  } cases[] = {
      {"lag", "1", LS_EOPTION, "there is no option 'lag' here"},
      {"sideward_loss", "1", LS_EOPTION, "there is no option 'sideward_loss' here"},
      {"loss", "2", LS_EINVAL, "loss: '2' is not a number from 0 to 1"},
      {"backward_loss", "-1", LS_EINVAL, "backward_loss: '-1' is not a number from 0 to 1"},
      {"delay_ns", "60000000001", LS_EINVAL,
       "delay_ns: '60000000001' is not a whole number from 0 to 60000000000"},
      {"burst_packets", "0", LS_EINVAL, "burst_packets: '0' is not a number from 1 to 1000000"},
      {"queue_packets", "0", LS_EINVAL,
       "queue_packets: '0' is not a whole number from 1 to 1048576"},
      {"seed", "-1", LS_EINVAL, "seed: '-1' is not a whole number from 0 to 9223372036854775807"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(set(cases[i].name, cases[i].value), cases[i].code);
    assert_string_equal(err, cases[i].sentence);
  }
}

/* What looks like the relay itself, and is another address, port or family. */
static void test_neighbours(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{":1", "127.0.0.1:2"},
                                         {":1", "192.0.2.1:1"},
                                         {"0.0.0.0:1", "[::1]:1"},
                                         {"127.0.0.1:1", "127.0.0.2:1"}};
  for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    begin(pairs[i][0], pairs[i][1]);
    assert_int_equal(ls__relay_config_finish(&config, err, sizeof err), 0);
  }
}

static void test_refused_together(void **state) {
  (void)state;
  static const struct {
    const char *local, *target, *option[2], *sentence;
  } cases[] = {
      {NULL, "192.0.2.1:1", {NULL}, "a relay needs an address to listen on: set local"},
      {":1", NULL, {NULL}, "a relay needs an address to relay to: set target"},
      {":1", ":2", {NULL}, "target is [::]:2: it needs a host and a port"},
      {":1", "192.0.2.1:0", {NULL}, "target is 192.0.2.1:0: it needs a host and a port"},
      {"192.0.2.1:1",
       "192.0.2.1:1",
       {NULL},
       "target is 192.0.2.1:1, the address that the relay listens on"},
      {":1", "127.1.2.3:1", {NULL}, "target is 127.1.2.3:1, the address that the relay listens on"},
      {":1", "[::1]:1", {NULL}, "target is [::1]:1, the address that the relay listens on"},
      {"0.0.0.0:1",
       "127.0.0.1:1",
       {NULL},
       "target is 127.0.0.1:1, the address that the relay listens on"},
      {":1",
       "192.0.2.1:1",
       {"forward_rate_bps", "9"},
       "to the target: rate is 9 bit/s: it must be 0 (no limit) or lie between 1000 and "
       "1000000000000 bit/s"},
      {":1",
       "192.0.2.1:1",
       {"backward_queue_bytes", "9"},
       "from the target: queue is 9 bytes, but nothing queues without a rate: set rate"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin(cases[i].local, cases[i].target);
    if (cases[i].option[0])
      assert_int_equal(set(cases[i].option[0], cases[i].option[1]), 0);
    assert_int_equal(finish(), LS_EINVAL);
    assert_string_equal(err, cases[i].sentence);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),    cmocka_unit_test(test_directions),
      cmocka_unit_test(test_later_holds), cmocka_unit_test(test_refused_options),
      cmocka_unit_test(test_neighbours),  cmocka_unit_test(test_refused_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
