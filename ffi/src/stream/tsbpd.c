#include "stream/tsbpd.h"

#include "base/seq.h"

void ls__tsbpd_start(struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns,
                     int64_t latency_ns) {
  *clock = (struct ls__tsbpd){.base_ns = now_ns - (int64_t)stamp_us * LS_US,
                              .latency_ns = latency_ns,
                              .started = true,
                              .since_ns = now_ns};
}

void ls__drift_link_init(struct ls__drift_link *link, uint32_t stamp_us, int64_t now_ns) {
  *link = (struct ls__drift_link){.newest_us = stamp_us, .window_ns = now_ns};
}

int64_t ls__drift_unwrap(struct ls__drift_link *link, uint32_t stamp_us) {
  int64_t stamp = ls__stamp_unwrap(stamp_us, link->newest_us);
  if (stamp > link->newest_us)
    link->newest_us = stamp;
  return stamp;
}

int64_t ls__tsbpd_correction(const struct ls__tsbpd *clock, int64_t now_ns) {
  int64_t elapsed_us = (now_ns - clock->since_ns) / LS_US; /* µs · ppb fits for 290 years */
  return clock->correction_ns + elapsed_us * clock->rate_ppb / LS_MS;
}

int64_t ls__tsbpd_due(const struct ls__tsbpd *clock, int64_t stamp_us, int64_t now_ns) {
  return clock->base_ns + stamp_us * LS_US + clock->latency_ns +
         ls__tsbpd_correction(clock, now_ns);
}

static int64_t clamp(int64_t value, int64_t limit) {
  return value > limit ? limit : value < -limit ? -limit : value;
}

static void update(struct ls__tsbpd *clock, int64_t error_ns, int64_t window_ns, int64_t now_ns) {
  /* ns of error over a window of ns, in parts per 10^9; a window is at least a second. */
  int64_t error_ppb = error_ns * 1000 / (window_ns / LS_MS);
  clock->integral_ppb =
      clamp(clock->integral_ppb + error_ppb / LS__DRIFT_INTEGRAL, LS__DRIFT_RATE_MAX_PPB);
  clock->correction_ns = ls__tsbpd_correction(clock, now_ns);
  clock->since_ns = now_ns;
  clock->rate_ppb =
      clamp(clock->integral_ppb + error_ppb / LS__DRIFT_PROPORTIONAL, LS__DRIFT_RATE_MAX_PPB);
}

void ls__tsbpd_sample(struct ls__tsbpd *clock, struct ls__drift_link *link, uint32_t stamp_us,
                      int64_t rtt_ns, int64_t now_ns) {
  int64_t stamp = ls__drift_unwrap(link, stamp_us);
  if (rtt_ns <= 0)
    return; /* a keepalive only moves the wrap: its way cannot be told from its clock */
  if (link->first_rtt_ns == 0)
    link->first_rtt_ns = rtt_ns;
  /* Half of what the round trip has grown is on this way: without this, a longer path would look
   * like a slower clock. */
  int64_t sample_ns = now_ns - clock->base_ns - stamp * LS_US - (rtt_ns - link->first_rtt_ns) / 2;
  if (link->count == 0)
    link->anchor_ns =
        link->referenced ? link->reference_ns + ls__tsbpd_correction(clock, now_ns) : sample_ns;
  int64_t offset_ns = clamp(sample_ns - link->anchor_ns, LS__DRIFT_OUTLIER_NS);
  link->sum_ns += offset_ns;
  link->count++;
  int64_t window_ns = now_ns - link->window_ns;
  if (window_ns < LS__DRIFT_WINDOW_NS || link->count < LS__DRIFT_SAMPLES_MIN)
    return;
  int64_t mean_ns = link->anchor_ns + link->sum_ns / link->count;
  link->window_ns = now_ns;
  link->sum_ns = 0;
  link->count = 0;
  if (!link->referenced) {
    link->reference_ns = mean_ns - ls__tsbpd_correction(clock, now_ns);
    link->referenced = true;
    return;
  }
  update(clock, mean_ns - link->reference_ns - ls__tsbpd_correction(clock, now_ns), window_ns,
         now_ns);
}
