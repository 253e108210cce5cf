#include "stream/tsbpd.h"

#include "base/seq.h"

void ls__tsbpd_start(struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns,
                     int64_t latency_ns) {
  *clock = (struct ls__tsbpd){.base_ns = now_ns - (int64_t)stamp_us * LS_US,
                              .latency_ns = latency_ns,
                              .started = true,
                              .since_ns = now_ns};
}

void ls__drift_link_init(struct ls__drift_link *link, int64_t now_ns) {
  *link = (struct ls__drift_link){.window_ns = now_ns};
}

/* What a rate makes of a span. */
static int64_t gain(int64_t span_ns, int64_t rate_ppb) {
  return span_ns / LS_S * rate_ppb + span_ns % LS_S * rate_ppb / LS_S;
}

int64_t ls__tsbpd_correction(const struct ls__tsbpd *clock, int64_t now_ns) {
  int64_t elapsed_ns = now_ns - clock->since_ns;
  int64_t held_ns = ls__time_min(elapsed_ns, clock->hold_ns);
  return clock->correction_ns + gain(held_ns, clock->rate_ppb) +
         gain(elapsed_ns - held_ns, clock->integral_ppb);
}

int64_t ls__tsbpd_unwrap(const struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns) {
  int64_t peer_ns = now_ns - clock->base_ns - ls__tsbpd_correction(clock, now_ns);
  return ls__stamp_unwrap(stamp_us, peer_ns / LS_US);
}

int64_t ls__tsbpd_due(const struct ls__tsbpd *clock, int64_t stamp_us, int64_t now_ns) {
  return clock->base_ns + stamp_us * LS_US + clock->latency_ns +
         ls__tsbpd_correction(clock, now_ns);
}

static int64_t clamp(int64_t value, int64_t limit) {
  return value > limit ? limit : value < -limit ? -limit : value;
}

static int64_t distance(int64_t a, int64_t b) {
  return a < b ? b - a : a - b;
}

/* n of the servo law. */
static int64_t grown(struct ls__tsbpd *clock) {
  unsigned n = LS__DRIFT_N_FIRST + clock->updates / LS__DRIFT_N_WINDOWS;
  if (n >= LS__DRIFT_N_LAST)
    return LS__DRIFT_N_LAST;
  clock->updates++;
  return n;
}

static void update(struct ls__tsbpd *clock, int64_t error_ns, int64_t window_ns, int64_t now_ns) {
  int64_t n = grown(clock);
  clock->correction_ns = ls__tsbpd_correction(clock, now_ns);
  clock->since_ns = now_ns;
  clock->hold_ns = 2 * window_ns;
  /* ns of error over a window of ns, in parts per 10^9; a window is at least a second. */
  int64_t error_ppb = error_ns * 1000 / (window_ns / LS_MS);
  int64_t proportional_ppb = clamp(error_ppb / n, LS__DRIFT_RATE_MAX_PPB);
  if (distance(proportional_ppb, 0) < LS__DRIFT_RATE_MAX_PPB)
    clock->integral_ppb =
        clamp(clock->integral_ppb + error_ppb / (2 * n * n), LS__DRIFT_INTEGRAL_MAX_PPB);
  clock->rate_ppb = clamp(clock->integral_ppb + proportional_ppb, LS__DRIFT_RATE_MAX_PPB);
}

static bool same(int64_t rtt_ns, int64_t other_ns) {
  return distance(rtt_ns, other_ns) <=
         ls__time_max(other_ns / LS__DRIFT_SAME_SHARE, LS__DRIFT_SAME_MIN_NS);
}

/* Whether the offset of this window becomes the reference. */
static bool refer(struct ls__drift_link *link) {
  if (link->level_windows == 0 || !same(link->best_rtt_ns, link->level_rtt_ns)) {
    link->level_rtt_ns = link->best_rtt_ns;
    link->level_windows = 0;
  }
  link->level_windows++;
  bool settled = link->level_windows >= LS__DRIFT_SETTLED_WINDOWS &&
                 !same(link->best_rtt_ns, link->reference_rtt_ns);
  if (link->referenced && !settled)
    return false;
  link->referenced = true;
  link->reference_ns = link->best_offset_ns;
  link->reference_rtt_ns = link->best_rtt_ns;
  return true;
}

static int64_t error_of(const struct ls__drift_link *link) {
  int64_t error_ns = link->best_offset_ns - link->reference_ns;
  int64_t explained_ns = distance(link->best_rtt_ns, link->reference_rtt_ns) / 2;
  return error_ns - clamp(error_ns, explained_ns);
}

static void open_window(struct ls__drift_link *link, int64_t now_ns) {
  link->window_ns = now_ns;
  link->count = 0;
}

void ls__tsbpd_sample(struct ls__tsbpd *clock, struct ls__drift_link *link, uint32_t stamp_us,
                      int64_t rtt_ns, int64_t now_ns) {
  if (rtt_ns <= 0)
    return; /* the way of a keepalive cannot be told from its clock */
  if (now_ns - link->window_ns > LS__DRIFT_WINDOW_MAX_NS && link->count < LS__DRIFT_SAMPLES_MIN)
    open_window(link, now_ns);
  int64_t stamp = ls__tsbpd_unwrap(clock, stamp_us, now_ns);
  if (link->count++ == 0 || rtt_ns < link->best_rtt_ns) {
    link->best_rtt_ns = rtt_ns;
    link->best_offset_ns =
        now_ns - rtt_ns / 2 - clock->base_ns - stamp * LS_US - ls__tsbpd_correction(clock, now_ns);
  }
  int64_t window_ns = now_ns - link->window_ns;
  if (window_ns < LS__DRIFT_WINDOW_NS || link->count < LS__DRIFT_SAMPLES_MIN)
    return;
  if (!refer(link))
    update(clock, error_of(link), window_ns, now_ns);
  open_window(link, now_ns);
}
