/* When a received packet is due (draft-sharabayko-srt §4.5), and how the peer's clock is followed.
 *
 *   due = base + stamp + latency + correction(now)
 *
 * `base` is the arrival of the peer's HSREQ or HSRSP less its header stamp, so that half a round
 * trip is inside it. The correction is a straight line between updates: it starts at 0 and never
 * steps. Each window of samples yields one error, the servo answers with a rate:
 *
 *   rate = integral + P · error / window,   |rate| ≤ 1000 ppm
 *
 * A link's samples are compared with that link's own first window: a path's length is an offset
 * of the link, not a drift of the clock, so links of different delay do not disagree. */
#ifndef LS__STREAM_TSBPD_H
#define LS__STREAM_TSBPD_H

#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

#define LS__DRIFT_WINDOW_NS LS_S
#define LS__DRIFT_SAMPLES_MIN 8
#define LS__DRIFT_RATE_MAX_PPB 1000000
/* Damping 0.7: proportional 1/5 a window, integral 1/50 a window. */
#define LS__DRIFT_PROPORTIONAL 5
#define LS__DRIFT_INTEGRAL 50
/* A sample further off than this counts as this far off: it was held up, the clock was not. */
#define LS__DRIFT_OUTLIER_NS (100 * LS_MS)

/* The part of a clock that belongs to one link. */
struct ls__drift_link {
  int64_t newest_us;    /* newest stamp of this link, unwrapped */
  int64_t reference_ns; /* mean of its first window */
  bool referenced;
  int64_t first_rtt_ns;
  int64_t window_ns; /* start of the window */
  int64_t anchor_ns; /* what the samples of the window are summed against */
  int64_t sum_ns;
  uint32_t count;
};

struct ls__tsbpd {
  int64_t base_ns, latency_ns;
  bool started;
  int64_t correction_ns, since_ns; /* the line: value at since_ns */
  int64_t rate_ppb, integral_ppb;
};

/** Starts the clock at the peer's handshake: arrived at `now_ns` with `stamp_us`. */
void ls__tsbpd_start(struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns,
                     int64_t latency_ns);

/** Begins following a link, whose handshake carried `stamp_us`. */
void ls__drift_link_init(struct ls__drift_link *link, uint32_t stamp_us, int64_t now_ns);

/** Unwraps a stamp of this link against its newest one. */
int64_t ls__drift_unwrap(struct ls__drift_link *link, uint32_t stamp_us);

/** Feeds one stamp of an ACKACK (with its round trip) or keepalive (0). */
void ls__tsbpd_sample(struct ls__tsbpd *clock, struct ls__drift_link *link, uint32_t stamp_us,
                      int64_t rtt_ns, int64_t now_ns);

/** The correction at `now_ns`. */
int64_t ls__tsbpd_correction(const struct ls__tsbpd *clock, int64_t now_ns);

/** When a packet of (unwrapped) stamp `stamp_us` is due, as seen at `now_ns`. */
int64_t ls__tsbpd_due(const struct ls__tsbpd *clock, int64_t stamp_us, int64_t now_ns);

#endif
