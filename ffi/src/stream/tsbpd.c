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
  int64_t nominal_ns = clock->base_ns + stamp_us * LS_US + clock->latency_ns;
  int64_t due_ns = nominal_ns + ls__tsbpd_correction(clock, now_ns);
  /* The line runs on until then: one step of iteration leaves a part in 10^6 of the wait. */
  return due_ns > now_ns ? nominal_ns + ls__tsbpd_correction(clock, due_ns) : due_ns;
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

/* Follows where the windows are; whether the path has changed for good. */
static bool path_changed(struct ls__drift_link *link, const struct ls__drift_sample *window) {
  struct ls__drift_sample *average = &link->average;
  int64_t off_ns = window->rtt_ns - average->rtt_ns;
  average->rtt_ns += off_ns / LS__DRIFT_AVERAGE;
  average->offset_ns += (window->offset_ns - average->offset_ns) / LS__DRIFT_AVERAGE;
  link->spread_ns += (distance(off_ns, 0) - link->spread_ns) / LS__DRIFT_AVERAGE;
  int64_t same_ns =
      ls__time_max(link->reference.rtt_ns / LS__DRIFT_SAME_SHARE, LS__DRIFT_SAME_MIN_NS);
  same_ns = ls__time_max(same_ns, LS__DRIFT_SAME_SPREADS * link->spread_ns);
  bool same = distance(average->rtt_ns, link->reference.rtt_ns) <= same_ns;
  link->elsewhere = same ? 0 : link->elsewhere + 1;
  return link->elsewhere >= LS__DRIFT_CHANGED_WINDOWS;
}

/* Makes the reference from the first window, or anew; whether this window only served for that. */
static bool refer(struct ls__drift_link *link, const struct ls__drift_sample *window) {
  if (!link->referenced) {
    link->referenced = true;
    link->reference = link->average = *window;
    return true;
  }
  if (!path_changed(link, window))
    return false;
  link->reference = link->average;
  link->elsewhere = 0;
  return true;
}

static int64_t error_of(const struct ls__drift_link *link, const struct ls__drift_sample *window) {
  int64_t error_ns = window->offset_ns - link->reference.offset_ns;
  int64_t explained_ns = distance(window->rtt_ns, link->reference.rtt_ns) / 2;
  return error_ns - clamp(error_ns, explained_ns);
}

/* Keeps a sample if it is one of the best. */
static void keep(struct ls__drift_link *link, struct ls__drift_sample sample) {
  unsigned held = link->count < LS__DRIFT_BEST ? link->count : LS__DRIFT_BEST;
  unsigned at = held;
  while (at > 0 && link->best[at - 1].rtt_ns > sample.rtt_ns)
    at--;
  for (unsigned i = held < LS__DRIFT_BEST ? held : LS__DRIFT_BEST - 1; i > at; i--)
    link->best[i] = link->best[i - 1];
  if (at < LS__DRIFT_BEST)
    link->best[at] = sample;
  link->count++;
}

/* The mean of the best quarter, as far as it is not spread by a queue. */
static struct ls__drift_sample mean_of_best(const struct ls__drift_link *link) {
  const struct ls__drift_sample *best = link->best;
  struct ls__drift_sample sum = {0};
  int64_t quarter = link->count / 4 < LS__DRIFT_BEST ? link->count / 4 : LS__DRIFT_BEST;
  int64_t used = 0;
  for (; used < quarter && best[used].rtt_ns - best[0].rtt_ns <= LS__DRIFT_BEST_NS; used++) {
    sum.rtt_ns += best[used].rtt_ns - best[0].rtt_ns;
    sum.offset_ns += best[used].offset_ns - best[0].offset_ns;
  }
  return (struct ls__drift_sample){best[0].rtt_ns + sum.rtt_ns / used,
                                   best[0].offset_ns + sum.offset_ns / used};
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
  keep(link,
       (struct ls__drift_sample){rtt_ns, now_ns - rtt_ns / 2 - clock->base_ns - stamp * LS_US -
                                             ls__tsbpd_correction(clock, now_ns)});
  int64_t window_ns = now_ns - link->window_ns;
  if (window_ns < LS__DRIFT_WINDOW_NS || link->count < LS__DRIFT_SAMPLES_MIN)
    return;
  struct ls__drift_sample window = mean_of_best(link);
  if (!refer(link, &window))
    update(clock, error_of(link, &window), window_ns, now_ns);
  open_window(link, now_ns);
}
