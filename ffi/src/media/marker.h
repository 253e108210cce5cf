/* The measuring payload: null packets that say what was sent before them, and when.
 *
 * A sender passes every packet of its stream through ls__marker_write, which turns each null packet
 * (PID 0x1FFF) into a marker; a player discards both alike. A receiver passes every packet through
 * ls__marker_check, which finds out what is missing, what is wrong, and how long it took.
 *
 * A marker, big-endian, in the 188 bytes of a null packet:
 *     0   4  47 1F FF 10
 *     4   8  magic "LSmark01"
 *    12   4  stream id, random at each start of a sender
 *    16   8  index of this packet in the stream, the first packet being 0
 *    24   8  departure time, ns of the sender's CLOCK_MONOTONIC
 *    32   8  hash of all packets after the marker before (or since the start), in order
 *    40 140  0xFF
 *   180   8  hash of bytes 4..179
 *
 * The hash is ours, over big-endian 64-bit words w: h := (rotl(h ^ w, 29)) · odd constant, one
 * multiplication for each 8 bytes. Each step is a bijection of h, so one changed word always
 * shows. It finds faults, not forgers. */
#ifndef LS__MEDIA_MARKER_H
#define LS__MEDIA_MARKER_H

#include "media/ts.h"

/* A latency beyond a year, either sign, is not measured: no clock is that wrong, and the jitter
 * stays clear of the end of its integer. */
#define LS_MARKER_LATENCY_MAX (INT64_C(1) << 55)

struct ls__marker_writer {
  uint64_t index; /* packets written */
  uint64_t hash;  /* of the packets since the last marker */
  uint32_t stream_id;
};

void ls__marker_writer_init(struct ls__marker_writer *writer, uint32_t stream_id);

/** Takes the next packet of the stream; a null packet is overwritten by a marker. `at_ns` is the
 * departure of the datagram that will carry it. Whether it is a marker now. */
bool ls__marker_write(struct ls__marker_writer *writer, uint8_t packet[LS_TS_SIZE], int64_t at_ns);

/* What a receiver has found since its first marker. Loss is told between two markers by count.
 * A packet that comes behind a later marker is therefore lost at its place and extra where it
 * came; a marker that comes so is taken like any other packet. At each marker, while the stream
 * id stays: ts_packets + ts_lost - ts_extra == packets sent from the first marker to this one. */
struct ls__marker_checker {
  uint64_t ts_packets; /* seen up to now, the first marker included */
  uint64_t ts_lost;    /* missing between two markers */
  uint64_t ts_extra;   /* more than were sent: twice, too late, or foreign */
  uint64_t wrong;      /* stretches between markers that are not lost but not as sent either:
                          right count and wrong hash, or too many packets */
  uint64_t markers;    /* valid ones, in order */
  uint64_t streams;    /* stream ids seen */
  uint64_t measured;   /* latencies measured */
  int64_t latency_min_ns, latency_max_ns, latency_last_ns; /* valid when measured > 0 */

  uint32_t stream_id;
  uint64_t index;     /* of the last marker */
  uint64_t since;     /* packets since then */
  uint64_t hash;      /* of those */
  int64_t arrival_ns; /* of the last measured marker */
  int64_t jitter_16;  /* RFC 3550 §A.8: 16 times the jitter */
};

void ls__marker_checker_init(struct ls__marker_checker *checker);

/** Takes the next packet as it arrived. True when a latency was measured: then `*latency_ns` is
 * arrival - departure. Of the markers of one datagram (equal `arrival_ns`) the first is measured,
 * since they left and came together. Both clocks are taken to be one: on two machines the latency
 * contains their difference. */
bool ls__marker_check(struct ls__marker_checker *checker, const uint8_t packet[LS_TS_SIZE],
                      int64_t arrival_ns, int64_t *latency_ns);

/** Interarrival jitter of the measured markers, RFC 3550 §6.4.1, in ns, rounded down. */
static inline int64_t ls__marker_jitter_ns(const struct ls__marker_checker *checker) {
  return checker->jitter_16 >> 4;
}

#endif
