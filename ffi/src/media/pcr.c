#include "media/pcr.h"

#include "base/assert.h"
#include "lockstep.h"

void ls__pcr_init(struct ls__pcr *clock, int64_t rate_bps) {
  LS_ASSERT(rate_bps == 0 || (rate_bps >= LS_TS_RATE_MIN && rate_bps <= LS_TS_RATE_MAX));
  *clock = (struct ls__pcr){.pid = LS_TS_PIDS};
  if (rate_bps > 0) {
    /* A packet takes 1504 / rate seconds: rate packets take 1504 s. */
    clock->step_ticks = LS_TS_BITS * LS_PCR_HZ;
    clock->step_packets = rate_bps;
  }
}

/* Moves the origin of the line to the first packet without a time; the line stays the same. */
static void move_line(struct ls__pcr *clock) {
  if (clock->step_packets == 0)
    return;
  int64_t total =
      clock->line_fraction + (int64_t)(clock->ready - clock->line_index) * clock->step_ticks;
  clock->line_ticks += total / clock->step_packets;
  clock->line_fraction = total % clock->step_packets;
  clock->line_index = clock->ready;
}

/* All packets before `index` have their time. At most LS_PCR_LOOKAHEAD packets are released at
 * once, which bounds the products in move_line and ls__pcr_next. */
static void release(struct ls__pcr *clock, uint64_t index) {
  LS_ASSERT(index - clock->ready <= LS_PCR_LOOKAHEAD);
  move_line(clock);
  clock->ready = index;
}

/* From the first packet without a time on, `packets` take `ticks`. */
static void bend_line(struct ls__pcr *clock, int64_t ticks, int64_t packets) {
  move_line(clock);
  if (clock->line_fraction > 0)
    clock->line_ticks++;
  clock->line_fraction = 0;
  clock->step_ticks = ticks;
  clock->step_packets = packets;
}

/* The packet `index` carries a PCR on `pid`. */
static void take_pcr(struct ls__pcr *clock, uint64_t index, uint16_t pid, int64_t pcr, bool jump) {
  bool first = clock->pid == LS_TS_PIDS;
  if (!first && pid != clock->pid && !clock->relock)
    return;
  if (!first) {
    int64_t ticks = ls__pcr_diff(pcr, clock->anchor_pcr);
    if (pid == clock->pid && !jump && ticks > 0 && ticks <= LS_PCR_GAP_MAX) {
      bend_line(clock, ticks, (int64_t)(index - clock->anchor_index));
      release(clock, index);
    } else {
      clock->discontinuities++;
      /* Without any rate so far all goes on waiting, for the first pair of the new time base. */
      if (clock->step_packets > 0)
        release(clock, index);
    }
  }
  clock->pid = pid;
  clock->relock = false;
  clock->anchor_index = index;
  clock->anchor_pcr = pcr;
}

int ls__pcr_feed(struct ls__pcr *clock, const uint8_t packet[LS_TS_SIZE]) {
  LS_ASSERT(clock->taken == clock->ready);
  if (clock->fed - clock->ready == LS_PCR_LOOKAHEAD)
    return LS_EFORMAT;
  int64_t pcr;
  if (ls__ts_synced(packet) && ls__ts_pcr_get(packet, &pcr))
    take_pcr(clock, clock->fed, ls__ts_pid(packet), pcr, ls__ts_discontinuity(packet));
  clock->fed++;
  if (clock->fed - clock->ready < LS_PCR_LOOKAHEAD)
    return 0;
  if (clock->step_packets == 0)
    return LS_EFORMAT;
  clock->lookahead_reached++;
  clock->relock = true;
  release(clock, clock->fed);
  return 0;
}

int ls__pcr_end(struct ls__pcr *clock) {
  LS_ASSERT(clock->taken == clock->ready);
  if (clock->fed == clock->ready)
    return 0;
  if (clock->step_packets == 0)
    return LS_EFORMAT;
  release(clock, clock->fed);
  return 0;
}

bool ls__pcr_next(struct ls__pcr *clock, int64_t *at_ns) {
  if (clock->taken == clock->ready)
    return false;
  int64_t ticks =
      clock->line_fraction + (int64_t)(clock->taken - clock->line_index) * clock->step_ticks;
  /* Ticks to ns is 1000 / 27. Two nested roundings down are one. */
  *at_ns = (clock->line_ticks * 1000 + ticks * 1000 / clock->step_packets) / 27;
  clock->taken++;
  return true;
}
