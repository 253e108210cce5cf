/* A clip played for ever as one constant-rate transport stream without a seam.
 *
 * The clip lies in the caller's memory. Each of its packets but null packets leaves at the first
 * free place of the output at or after its time in the clip (by its PCRs, §2.4.2.2); all other
 * places are null packets. Every PCR is re-stamped for the place where it leaves
 * (27 MHz · 1504 bit / rate a place, rounded down to one tick, far inside the ±500 ns that
 * §2.4.2.2 allows); PTS, DTS and continuity counters go on across the seam, and the
 * discontinuity_indicator of the PCRs that time the clip is cleared, since there is none. OPCR,
 * ESCR and DTS_next_AU are left as they are (§2.4.3.5: an OPCR is not modified).
 *
 * One lap lasts as long as the clip's pictures: last PTS - first PTS + mean distance, of the first
 * PID with video, else of the first with any PTS; where that PID has fewer than two, the time of
 * the clip by its PCRs, extended to the whole clip. It is rounded to whole ticks of 90 kHz, so that
 * every stamp moves by a whole number. The rate has no drift: place n leaves at floor(n · 1504 ·
 * 10^9 / rate) ns. */
#ifndef LS__MEDIA_LOOP_H
#define LS__MEDIA_LOOP_H

#include "media/ts.h"

/* Largest clip: 1 GiB. */
#define LS_LOOP_CLIP_MAX (UINT32_C(1) << 30)
/* A larger step between two PCRs makes a clip unfit: ten times what §2.7.2 allows. */
#define LS_LOOP_PCR_GAP_MAX LS_PCR_HZ
/* Largest difference between the time of the pictures and the time by the PCRs: beyond it, one of
 * them ends long before the other and the seam would be heard and seen. */
#define LS_LOOP_SKEW_MAX LS_PCR_HZ

struct ls__ts_loop {
  const uint8_t *clip;
  uint32_t packets; /* of the clip */
  uint16_t pcr_pid; /* the PID whose PCRs time the clip: the first that carries one */
  int64_t clip_bps; /* mean rate of the clip without null packets, rounded up */
  int64_t rate_bps;
  int64_t lap_ticks; /* 27 MHz, a multiple of 300 */

  int64_t place_ns, place_ns_rest;       /* departure of the next place; rest in 1 / rate_bps */
  int64_t place_ticks, place_ticks_rest; /* the same in 27 MHz ticks */

  uint32_t next;     /* clip packet that leaves next */
  uint64_t laps;     /* finished */
  int64_t lap_start; /* ticks at which the current lap began */

  /* The PCR interval around `next`: it begins at packet line_from with line_pcr, at line_start
   * ticks of the clip; its line_packets take line_ticks; it holds up to line_to (excl.). */
  uint32_t line_from, line_packets, line_to;
  int64_t line_pcr, line_start, line_ticks;

  uint8_t continuity_step[LS_TS_PIDS]; /* what a lap adds to the continuity counter */
};

/** Takes the clip of `len` bytes (kept, not copied) and the output rate. 0; LS_EFORMAT when the
 * clip is no whole number of packets, not in sync, has fewer than two PCRs, its PCRs jump, or
 * they contradict its PTS; LS_EINVAL when the rate is outside LS_TS_RATE_MIN..MAX or not above
 * the clip's mean rate. A sentence in `err` (may be NULL with err_len 0). */
int ls__ts_loop_init(struct ls__ts_loop *loop, const uint8_t *clip, uint64_t len, int64_t rate_bps,
                     char *err, uint32_t err_len);

/** The next packet of the stream and its departure, in ns after the first. */
void ls__ts_loop_next(struct ls__ts_loop *loop, uint8_t out[LS_TS_SIZE], int64_t *at_ns);

#endif
