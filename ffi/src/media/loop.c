#include "media/loop.h"

#include "base/assert.h"
#include "base/time.h"
#include "lockstep.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t *packet_at(const struct ls__ts_loop *loop, uint32_t index) {
  return loop->clip + (size_t)index * LS_TS_SIZE;
}

__attribute__((format(printf, 4, 5))) static int fail(int code, char *err, uint32_t err_len,
                                                      const char *format, ...) {
  if (err_len > 0) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err, err_len, format, arguments);
    va_end(arguments);
  }
  return code;
}

/* The first packet at or after `from` that carries a PCR which times the clip; `packets` if none.
 */
static uint32_t find_pcr(const struct ls__ts_loop *loop, uint32_t from, int64_t *pcr) {
  for (uint32_t i = from; i < loop->packets; i++) {
    const uint8_t *packet = packet_at(loop, i);
    if (ls__ts_pcr_get(packet, pcr) && ls__ts_pid(packet) == loop->pcr_pid)
      return i;
  }
  return loop->packets;
}

/* Goes to the PCR interval that begins at line_to. The one after the last PCR keeps its rate. */
static void next_line(struct ls__ts_loop *loop) {
  int64_t pcr, from_pcr = ls__pcr_add(loop->line_pcr, loop->line_ticks);
  uint32_t from = loop->line_to, to = find_pcr(loop, from + 1, &pcr);
  loop->line_to = to;
  if (to == loop->packets)
    return;
  loop->line_start += loop->line_ticks;
  loop->line_from = from;
  loop->line_packets = to - from;
  loop->line_pcr = from_pcr;
  loop->line_ticks = ls__pcr_diff(pcr, from_pcr);
}

/* Goes to the first PCR interval, extended back to the first packet, whose time is 0. */
static void first_line(struct ls__ts_loop *loop) {
  int64_t pcr;
  loop->line_from = find_pcr(loop, 0, &loop->line_pcr);
  loop->line_to = find_pcr(loop, loop->line_from + 1, &pcr);
  loop->line_packets = loop->line_to - loop->line_from;
  loop->line_ticks = ls__pcr_diff(pcr, loop->line_pcr);
  loop->line_start = loop->line_from * loop->line_ticks / loop->line_packets;
}

/* The time of clip packet `index` of the current interval, in ticks after packet 0. */
static int64_t clip_time(const struct ls__ts_loop *loop, uint32_t index) {
  if (index < loop->line_from)
    return index * loop->line_ticks / loop->line_packets;
  return loop->line_start + (index - loop->line_from) * loop->line_ticks / loop->line_packets;
}

static void next_packet(struct ls__ts_loop *loop) {
  loop->next++;
  if (loop->next == loop->packets) {
    loop->next = 0;
    loop->laps++;
    loop->lap_start += loop->lap_ticks;
    first_line(loop);
  } else if (loop->next == loop->line_to) {
    next_line(loop);
  }
}

/* The packets are whole and in sync. */
static int check_packets(struct ls__ts_loop *loop, uint64_t len, char *err, uint32_t err_len) {
  if (len == 0 || len % LS_TS_SIZE != 0)
    return fail(LS_EFORMAT, err, err_len,
                "the clip has %" PRIu64 " bytes, which is no whole number of 188-byte "
                "transport-stream packets",
                len);
  if (len > LS_LOOP_CLIP_MAX)
    return fail(LS_EFORMAT, err, err_len,
                "the clip has %" PRIu64 " bytes; at most %u can be looped", len, LS_LOOP_CLIP_MAX);
  loop->packets = (uint32_t)(len / LS_TS_SIZE);
  for (uint32_t i = 0; i < loop->packets; i++)
    if (!ls__ts_synced(packet_at(loop, i)))
      return fail(LS_EFORMAT, err, err_len,
                  "the clip is no transport stream: packet %u does not begin with 0x47", i);
  return 0;
}

/* Finds the PID whose PCRs time the clip, checks that they run on, and returns the time of the
 * whole clip by them in `ticks`. */
static int check_pcrs(struct ls__ts_loop *loop, int64_t *ticks, char *err, uint32_t err_len) {
  int64_t last, pcr;
  uint32_t at = 0;
  while (at < loop->packets && (!ls__ts_pcr_get(packet_at(loop, at), &last) ||
                                ls__ts_pid(packet_at(loop, at)) == LS_TS_PID_NULL))
    at++;
  if (at < loop->packets)
    loop->pcr_pid = ls__ts_pid(packet_at(loop, at));
  uint32_t next = at < loop->packets ? find_pcr(loop, at + 1, &pcr) : loop->packets;
  if (next == loop->packets)
    return fail(LS_EFORMAT, err, err_len,
                "the clip has fewer than two clock references (PCR), so its speed is unknown");
  for (; next < loop->packets; next = find_pcr(loop, at + 1, &pcr)) {
    int64_t step = ls__pcr_diff(pcr, last);
    if (step <= 0 || step > LS_LOOP_PCR_GAP_MAX)
      return fail(LS_EFORMAT, err, err_len,
                  "the clip's clock (PCR) jumps by %" PRId64 " ms at packet %u: cut the clip there",
                  step / (LS_PCR_HZ / 1000), next);
    last = pcr;
    at = next;
  }
  first_line(loop);
  while (loop->line_to < loop->packets)
    next_line(loop);
  *ticks = clip_time(loop, loop->packets);
  return 0;
}

/* The PID whose PTS measure a lap: the first video, else the first of any; LS_TS_PIDS if none. */
static uint16_t find_stamped_pid(const struct ls__ts_loop *loop) {
  uint16_t pid = LS_TS_PIDS;
  struct ls__ts_stamps stamps;
  for (uint32_t i = 0; i < loop->packets; i++) {
    const uint8_t *packet = packet_at(loop, i);
    if (!ls__ts_stamps_get(packet, &stamps))
      continue;
    /* stream_id 1110xxxx is video, §2.4.3.7 Table 2-22. */
    if ((stamps.stream_id & 0xF0) == 0xE0)
      return ls__ts_pid(packet);
    if (pid == LS_TS_PIDS)
      pid = ls__ts_pid(packet);
  }
  return pid;
}

/* Ticks of 90 kHz from the first picture to the end of the last one; 0 when unknown. */
static int64_t stamped_time(const struct ls__ts_loop *loop) {
  uint16_t pid = find_stamped_pid(loop);
  int64_t first = 0, least = 0, most = 0, count = 0;
  struct ls__ts_stamps stamps;
  for (uint32_t i = 0; i < loop->packets; i++) {
    const uint8_t *packet = packet_at(loop, i);
    if (ls__ts_pid(packet) != pid || !ls__ts_stamps_get(packet, &stamps))
      continue;
    if (count++ == 0)
      first = stamps.pts;
    int64_t offset = ls__stamp_diff(stamps.pts, first);
    least = ls__time_min(least, offset);
    most = ls__time_max(most, offset);
  }
  if (count < 2)
    return 0;
  /* count pictures have count - 1 distances; to the nearest tick. */
  return ((most - least) * count * 2 + count - 1) / (2 * (count - 1));
}

static int choose_lap(struct ls__ts_loop *loop, int64_t pcr_ticks, char *err, uint32_t err_len) {
  int64_t stamped = stamped_time(loop) * LS_PCR_PER_STAMP;
  if (stamped > 0) {
    int64_t skew = stamped - pcr_ticks;
    if (skew > LS_LOOP_SKEW_MAX || skew < -LS_LOOP_SKEW_MAX)
      return fail(LS_EFORMAT, err, err_len,
                  "the clip's pictures last %" PRId64 " ms, its clock (PCR) runs for %" PRId64
                  " ms: cut it so that both agree within a second",
                  stamped / (LS_PCR_HZ / 1000), pcr_ticks / (LS_PCR_HZ / 1000));
  }
  loop->lap_ticks = stamped > 0 ? stamped : pcr_ticks / LS_PCR_PER_STAMP * LS_PCR_PER_STAMP;
  if (loop->lap_ticks == 0)
    return fail(LS_EFORMAT, err, err_len, "the clip lasts no time");
  return 0;
}

static int check_rate(struct ls__ts_loop *loop, int64_t rate_bps, char *err, uint32_t err_len) {
  if (rate_bps < LS_TS_RATE_MIN || rate_bps > LS_TS_RATE_MAX)
    return fail(LS_EINVAL, err, err_len,
                "a rate of %" PRId64 " bit/s is not accepted: %" PRId64 " to %" PRId64, rate_bps,
                LS_TS_RATE_MIN, LS_TS_RATE_MAX);
  int64_t filled = 0;
  for (uint32_t i = 0; i < loop->packets; i++)
    filled += ls__ts_pid(packet_at(loop, i)) != LS_TS_PID_NULL;
  loop->clip_bps = (filled * LS_TS_BITS * LS_PCR_HZ + loop->lap_ticks - 1) / loop->lap_ticks;
  if (rate_bps <= loop->clip_bps)
    return fail(LS_EINVAL, err, err_len,
                "the clip carries %" PRId64 " bit/s: the rate must be higher, and is %" PRId64,
                loop->clip_bps, rate_bps);
  loop->rate_bps = rate_bps;
  return 0;
}

/* A lap adds to each continuity counter what brings its first packet behind its last one: the
 * counter grows with each packet that has a payload (§2.4.3.3). */
static void count_continuity(struct ls__ts_loop *loop) {
  uint8_t first[LS_TS_PIDS] = {0}, last[LS_TS_PIDS] = {0};
  bool seen[LS_TS_PIDS] = {false};
  for (uint32_t i = 0; i < loop->packets; i++) {
    const uint8_t *packet = packet_at(loop, i);
    uint16_t pid = ls__ts_pid(packet);
    last[pid] = ls__ts_continuity(packet);
    if (!seen[pid])
      first[pid] = (uint8_t)(last[pid] - ls__ts_has_payload(packet));
    seen[pid] = true;
  }
  for (uint32_t pid = 0; pid < LS_TS_PIDS; pid++)
    loop->continuity_step[pid] = (uint8_t)(last[pid] - first[pid]) & 0x0F;
}

int ls__ts_loop_init(struct ls__ts_loop *loop, const uint8_t *clip, uint64_t len, int64_t rate_bps,
                     char *err, uint32_t err_len) {
  *loop = (struct ls__ts_loop){.clip = clip};
  int64_t pcr_ticks = 0;
  int code = check_packets(loop, len, err, err_len);
  if (code == 0)
    code = check_pcrs(loop, &pcr_ticks, err, err_len);
  if (code == 0)
    code = choose_lap(loop, pcr_ticks, err, err_len);
  if (code == 0)
    code = check_rate(loop, rate_bps, err, err_len);
  if (code != 0)
    return code;
  count_continuity(loop);
  first_line(loop);
  return 0;
}

/* The clip's packet as it leaves `late` ticks after its time in lap `laps`. */
static void stamp(const struct ls__ts_loop *loop, uint8_t *packet, int64_t late) {
  uint16_t pid = ls__ts_pid(packet);
  uint8_t steps = (uint8_t)((loop->laps & 0x0F) * loop->continuity_step[pid]);
  ls__ts_set_continuity(packet, (uint8_t)(ls__ts_continuity(packet) + steps));

  int64_t pcr;
  if (ls__ts_pcr_get(packet, &pcr)) {
    ls__ts_pcr_put(packet, ls__pcr_add(pcr, loop->lap_start + late));
    if (pid == loop->pcr_pid)
      ls__ts_clear_discontinuity(packet);
  }
  struct ls__ts_stamps stamps;
  if (loop->laps > 0 && ls__ts_stamps_get(packet, &stamps)) {
    int64_t shift = loop->lap_start / LS_PCR_PER_STAMP;
    stamps.pts = ls__stamp_add(stamps.pts, shift);
    stamps.dts = stamps.dts_at ? ls__stamp_add(stamps.dts, shift) : 0;
    ls__ts_stamps_put(packet, &stamps);
  }
}

/* Adds `whole` / rate to a clock that keeps its rest. */
static void step_clock(int64_t *clock, int64_t *rest, int64_t whole, int64_t rate) {
  *clock += whole / rate;
  *rest += whole % rate;
  if (*rest >= rate) {
    *rest -= rate;
    ++*clock;
  }
}

void ls__ts_loop_next(struct ls__ts_loop *loop, uint8_t out[LS_TS_SIZE], int64_t *at_ns) {
  *at_ns = loop->place_ns;
  /* Ends, since the clip holds at least the packets of two PCRs. */
  while (ls__ts_pid(packet_at(loop, loop->next)) == LS_TS_PID_NULL)
    next_packet(loop);
  int64_t late = loop->place_ticks - (loop->lap_start + clip_time(loop, loop->next));
  if (late >= 0) {
    memcpy(out, packet_at(loop, loop->next), LS_TS_SIZE);
    stamp(loop, out, late);
    next_packet(loop);
  } else {
    ls__ts_null(out);
  }
  step_clock(&loop->place_ns, &loop->place_ns_rest, LS_TS_BITS * LS_S, loop->rate_bps);
  step_clock(&loop->place_ticks, &loop->place_ticks_rest, LS_TS_BITS * LS_PCR_HZ, loop->rate_bps);
}
