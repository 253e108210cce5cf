/* When a received packet is due (draft-sharabayko-srt §4.5), and how the peer's clock is followed.
 *
 *   due = base + stamp + latency + correction(now)
 *
 * `base` is the arrival of the peer's HSREQ or HSRSP less its header stamp, so that half a round
 * trip is inside it. The correction is a straight line between updates: it starts at 0 and never
 * steps. Each window of samples yields one error, the servo answers with a rate:
 *
 *   rate = integral + error / window / n,   |rate| ≤ 1000 ppm
 *
 * until the next update, but for two windows at most: after that nothing measures, and the integral
 * alone goes on. While the proportional part is at its limit the integral stands still, so that an
 * error too large for a clock does not become one.
 *
 * The error comes from the quarter of the window's samples with the shortest round trips (after
 * NTP's clock filter, RFC 5905 §10), half of which is taken to lie on this way. By how much that
 * round trip differs from the reference's, half of it may lie on either way: an error within that
 * is explained by a queue, and only the rest is the clock's.
 *
 * A link's samples are compared with a reference of that link's own, its first window:
 * a path's length is an offset of the link, not a drift of the clock, so links of different delay
 * do not disagree. When the round trip has been elsewhere for long, and by more than it varies, the
 * path has changed, and gets a new reference. */
#ifndef LS__STREAM_TSBPD_H
#define LS__STREAM_TSBPD_H

#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

#define LS__DRIFT_WINDOW_NS LS_S
#define LS__DRIFT_SAMPLES_MIN 8
/* Samples too few for a window within this time are from before and after a pause. */
#define LS__DRIFT_WINDOW_MAX_NS (16 * LS_S)
#define LS__DRIFT_RATE_MAX_PPB 1000000
/* Two crystals of ±100 ppm, and as much again for what virtual machines make of them. */
#define LS__DRIFT_INTEGRAL_MAX_PPB 500000
/* Proportional 1/n and integral 1/2n² a window, which is damping 0.7. n grows by one each six
 * windows: quick to learn the rate, then slow to forget it for a path's noise. */
#define LS__DRIFT_N_FIRST 5
#define LS__DRIFT_N_LAST 20
#define LS__DRIFT_N_WINDOWS 6
/* The samples of shortest round trip that are kept of a window. */
#define LS__DRIFT_BEST 32
/* Those of them count that lie within this of the shortest: the others stood in a queue. */
#define LS__DRIFT_BEST_NS LS_MS
/* A path has changed when its round trip, averaged over about so many windows, has differed from
 * the reference's by 1 ms, 1/16 and four times its own variation for twice as many. */
#define LS__DRIFT_AVERAGE 16
#define LS__DRIFT_CHANGED_WINDOWS (2 * LS__DRIFT_AVERAGE)
#define LS__DRIFT_SAME_MIN_NS LS_MS
#define LS__DRIFT_SAME_SHARE 16
#define LS__DRIFT_SAME_SPREADS 4

struct ls__drift_sample {
  int64_t rtt_ns, offset_ns; /* what it differs from the corrected clock by */
};

/* The part of a clock that belongs to one link. */
struct ls__drift_link {
  int64_t window_ns; /* start of this window */
  uint32_t count;    /* of its samples, of which the best are kept in order of round trip */
  struct ls__drift_sample best[LS__DRIFT_BEST];
  /* What offsets are compared with. */
  struct ls__drift_sample reference;
  bool referenced;
  /* Where the windows have been lately, by how much they vary, and for how long elsewhere. */
  struct ls__drift_sample average;
  int64_t spread_ns;
  unsigned elsewhere;
};

struct ls__tsbpd {
  int64_t base_ns, latency_ns;
  bool started;
  int64_t correction_ns, since_ns; /* the line: value at since_ns */
  int64_t hold_ns;                 /* so long at rate_ppb, then at integral_ppb */
  int64_t rate_ppb, integral_ppb;
  unsigned updates; /* up to where n stays */
};

/** Starts the clock at the peer's handshake: arrived at `now_ns` with `stamp_us`. */
void ls__tsbpd_start(struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns,
                     int64_t latency_ns);

/** Begins following a link. */
void ls__drift_link_init(struct ls__drift_link *link, int64_t now_ns);

/** Unwraps a stamp that was read at `now_ns` to 64 bits: to the value nearest to what the peer's
 * clock shows now, so that neither a pause nor a stamp from a stranger leads astray. */
int64_t ls__tsbpd_unwrap(const struct ls__tsbpd *clock, uint32_t stamp_us, int64_t now_ns);

/** Feeds one stamp of an ACKACK with its round trip. A keepalive (0) measures nothing. */
void ls__tsbpd_sample(struct ls__tsbpd *clock, struct ls__drift_link *link, uint32_t stamp_us,
                      int64_t rtt_ns, int64_t now_ns);

/** The correction at `now_ns`. */
int64_t ls__tsbpd_correction(const struct ls__tsbpd *clock, int64_t now_ns);

/** When a packet of (unwrapped) stamp `stamp_us` is due, as seen at `now_ns`. */
int64_t ls__tsbpd_due(const struct ls__tsbpd *clock, int64_t stamp_us, int64_t now_ns);

#endif
