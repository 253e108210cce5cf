/* The PCR clock: when each packet of a transport stream is due, as ISO/IEC 13818-1 §2.4.2.2
 * defines it: the bytes between two PCRs arrive at a constant rate.
 *
 * It is made for a file that is read ahead. Packets are fed in order; those between two PCRs get
 * their exact times when the second PCR is there, so the caller keeps up to LS_PCR_LOOKAHEAD
 * packets that wait for a time. Times are offsets from the first packet of the stream, in ns,
 * never smaller than the time before. One clock is used per stream; no allocation.
 *
 * The clock locks on the PID of the first PCR. A discontinuity (the indicator of §2.4.3.5, a PCR
 * that steps back, or one more than LS_PCR_GAP_MAX ahead) starts a new time base without a gap in
 * departure: packets before it keep the last rate. Without PCRs for LS_PCR_LOOKAHEAD packets the
 * last rate goes on, and the clock may lock on another PID.
 *
 * Rounding: all inside is exact in 27 MHz ticks and fractions of the current rate; where the rate
 * changes inside an interval the fraction is rounded up to the next tick (37 ns), so that time
 * never steps back; ns are rounded down. */
#ifndef LS__MEDIA_PCR_H
#define LS__MEDIA_PCR_H

#include "media/ts.h"

/* Packets that wait for their second PCR at most: 100 ms, the largest PCR interval (§2.7.2), at
 * 246 Mbit/s. */
#define LS_PCR_LOOKAHEAD 16384

/* A larger step between two PCRs is a discontinuity: ten times the largest interval. */
#define LS_PCR_GAP_MAX LS_PCR_HZ

struct ls__pcr {
  uint64_t fed;          /* packets fed */
  uint64_t ready;        /* of these, packets that have a time */
  uint64_t taken;        /* of these, packets whose time was taken */
  uint64_t line_index;   /* the line of times: packet line_index is due at line_ticks + ... */
  int64_t line_ticks;    /* ... line_fraction / step_packets, */
  int64_t line_fraction; /* and each packet after it takes ... */
  int64_t step_ticks;    /* ... step_ticks / step_packets */
  int64_t step_packets;  /* 0 = no rate is known */
  uint64_t anchor_index; /* the packet with the last PCR of the locked PID */
  int64_t anchor_pcr;
  uint16_t pid; /* LS_TS_PIDS = not locked yet */
  bool relock;  /* another PID may be taken */
  uint64_t discontinuities;
  uint64_t lookahead_reached; /* times LS_PCR_LOOKAHEAD packets waited in vain */
};

/** Starts at offset 0. `rate_bps` (LS_TS_RATE_MIN..MAX) serves while no two PCRs came within
 * LS_PCR_LOOKAHEAD packets; 0 = none given. */
void ls__pcr_init(struct ls__pcr *clock, int64_t rate_bps);

/** Feeds the next packet. Take all times with ls__pcr_next before the next call. 0, or LS_EFORMAT
 * when LS_PCR_LOOKAHEAD packets held no two PCRs and no rate was given; then the clock has
 * stopped. */
int ls__pcr_feed(struct ls__pcr *clock, const uint8_t packet[LS_TS_SIZE]);

/** The stream has ended: the waiting packets get the last rate. 0, or LS_EFORMAT as above. */
int ls__pcr_end(struct ls__pcr *clock);

/** The departure time of the oldest packet that has not been taken yet, as an offset from the
 * first packet; false when it is not known yet. */
bool ls__pcr_next(struct ls__pcr *clock, int64_t *at_ns);

#endif
