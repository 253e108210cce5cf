/* SRT's wrapping numbers. No other file may compare them with a raw `<`.
 *
 * Sequence numbers have 31 bits; two of them compare by the shorter way round the circle
 * (draft-sharabayko-srt §3.1). Message numbers have 26 bits and run 1..0x3FFFFFF: 0 is reserved
 * for "unknown" in a drop request. */
#ifndef LS__BASE_SEQ_H
#define LS__BASE_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#define LS_SEQ_MASK UINT32_C(0x7FFFFFFF)
#define LS_MSGNO_MAX UINT32_C(0x03FFFFFF)

/** a - b on the circle, in [-2^30, 2^30). */
static inline int32_t ls__seq_diff(uint32_t a, uint32_t b) {
  uint32_t d = (a - b) & LS_SEQ_MASK;
  return d < UINT32_C(0x40000000) ? (int32_t)d : (int32_t)d - INT32_MAX - 1;
}

static inline bool ls__seq_before(uint32_t a, uint32_t b) {
  return ls__seq_diff(a, b) < 0;
}

/** seq + offset, wrapped; the offset may be negative. */
static inline uint32_t ls__seq_add(uint32_t seq, int32_t offset) {
  return (seq + (uint32_t)offset) & LS_SEQ_MASK;
}

static inline uint32_t ls__seq_next(uint32_t seq) {
  return (seq + 1) & LS_SEQ_MASK;
}

/** The message number after `msgno`: 0x3FFFFFF is followed by 1. */
static inline uint32_t ls__msgno_next(uint32_t msgno) {
  return msgno >= LS_MSGNO_MAX ? 1 : msgno + 1;
}

/** A packet's 32-bit microsecond stamp, unwrapped to the 64-bit value nearest to `near_us`: what
 * the peer's clock shows now, so that no packet has to land in any particular window around the
 * wrap (once each 71 min 35 s). */
static inline int64_t ls__stamp_unwrap(uint32_t stamp_us, int64_t near_us) {
  return near_us + (int32_t)(stamp_us - (uint32_t)(uint64_t)near_us);
}

#endif
