/* The checking output: looks for the measuring payload of `media/marker.h` in what a viewer gets.
 */
#include "base/time.h"
#include "flow/flow.h"
#include "media/marker.h"
#include "pace/histogram.h"

#include <stdlib.h>

struct check_output {
  struct ls__endpoint endpoint;
  struct ls__marker_checker checker;
  /* Above `base_ns`, so that the resolution is that of the variation and not of the whole. */
  struct ls__histogram latency;
  int64_t base_ns; /* LS_NEVER before the first */
};

/* How far below the first latency a smaller one is still told apart. */
#define BELOW_NS (5 * LS_MS)

static int prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  (void)endpoint;
  (void)err;
  (void)err_len;
  return 0;
}

static int start(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len) {
  struct check_output *check = (struct check_output *)endpoint;
  (void)now_ns;
  (void)err;
  (void)err_len;
  ls__marker_checker_init(&check->checker);
  ls__histogram_reset(&check->latency);
  check->base_ns = LS_NEVER;
  return 0;
}

static void push(struct ls__endpoint *endpoint, const uint8_t *payload, size_t len, int64_t at_ns,
                 int64_t now_ns) {
  struct check_output *check = (struct check_output *)endpoint;
  int64_t latency_ns;
  (void)at_ns;
  endpoint->stats.packets++;
  endpoint->stats.bytes += len;
  for (size_t at = 0; at + LS_TS_SIZE <= len; at += LS_TS_SIZE)
    if (ls__marker_check(&check->checker, payload + at, now_ns, &latency_ns)) {
      if (check->base_ns == LS_NEVER)
        check->base_ns = latency_ns - BELOW_NS;
      ls__histogram_record(&check->latency, latency_ns - check->base_ns);
    }
  if (len % LS_TS_SIZE != 0)
    endpoint->stats.errors++;
}

static void nothing(struct ls__endpoint *endpoint, int64_t now_ns) {
  (void)endpoint;
  (void)now_ns;
}

static void shut(struct ls__endpoint *endpoint) {
  (void)endpoint;
}

static bool always(const struct ls__endpoint *endpoint) {
  (void)endpoint;
  return true;
}

static void gauges(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct check_output *check = (struct check_output *)endpoint;
  struct ls__stats_endpoint *stats = &endpoint->stats;
  (void)now_ns;
  stats->check_ts_packets = check->checker.ts_packets;
  stats->check_ts_lost = check->checker.ts_lost;
  stats->check_ts_wrong = check->checker.wrong;
  if (check->checker.measured > 0) {
    int64_t p50_ns = check->base_ns + ls__histogram_percentile(&check->latency, 50000);
    stats->check_latency_min_ns = check->checker.latency_min_ns;
    stats->check_latency_p50_ns = p50_ns;
    stats->check_latency_max_ns = check->checker.latency_max_ns;
  }
  stats->check_jitter_ns = (uint64_t)ls__marker_jitter_ns(&check->checker);
}

static void destroy(struct ls__endpoint *endpoint) {
  free(endpoint);
}

struct ls__endpoint *ls__check_output_new(void) {
  static const struct ls__endpoint_ops ops = {.prepare = prepare,
                                              .start = start,
                                              .stop = nothing,
                                              .ended = always,
                                              .shut = shut,
                                              .push = push,
                                              .flush = nothing,
                                              .has_room = always,
                                              .gauges = gauges,
                                              .destroy = destroy};
  struct check_output *check = calloc(1, sizeof *check);
  if (!check)
    return NULL;
  check->endpoint.ops = &ops;
  return &check->endpoint;
}
