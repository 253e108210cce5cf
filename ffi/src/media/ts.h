/* MPEG transport-stream packets (ISO/IEC 13818-1 §2.4.3): 188 bytes in, fields out, and back.
 *
 * Every function accepts any 188 bytes: a length field that points outside the packet reads as
 * "not there". Clocks are integers on a circle: a PCR counts 27 MHz ticks modulo 2^33 · 300, a
 * PTS or DTS 90 kHz ticks modulo 2^33; both are compared the shorter way round only. */
#ifndef LS__MEDIA_TS_H
#define LS__MEDIA_TS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_TS_SIZE 188
#define LS_TS_BITS 1504
#define LS_TS_SYNC 0x47
#define LS_TS_PIDS 8192
#define LS_TS_PID_NULL 0x1FFF

/* Rates of a transport stream that the room works with. */
#define LS_TS_RATE_MIN INT64_C(10000)
#define LS_TS_RATE_MAX INT64_C(10000000000)

#define LS_PCR_HZ INT64_C(27000000)
#define LS_PCR_WRAP (INT64_C(300) << 33)
#define LS_STAMP_HZ INT64_C(90000)
#define LS_STAMP_WRAP (INT64_C(1) << 33)
/* PCR ticks in one tick of a PTS or DTS. */
#define LS_PCR_PER_STAMP 300

/* How many packets in a row must begin with the sync byte before it is believed; fewer when the
 * buffer ends before. One 0x47 in ordinary payload is common, five at this distance are not. */
#define LS_TS_SYNC_RUN 5

static inline bool ls__ts_synced(const uint8_t packet[LS_TS_SIZE]) {
  return packet[0] == LS_TS_SYNC;
}

static inline uint16_t ls__ts_pid(const uint8_t packet[LS_TS_SIZE]) {
  return (uint16_t)((uint32_t)(packet[1] & 0x1F) << 8 | packet[2]);
}

static inline bool ls__ts_unit_start(const uint8_t packet[LS_TS_SIZE]) {
  return (packet[1] & 0x40) != 0;
}

static inline bool ls__ts_scrambled(const uint8_t packet[LS_TS_SIZE]) {
  return (packet[3] & 0xC0) != 0;
}

static inline bool ls__ts_has_payload(const uint8_t packet[LS_TS_SIZE]) {
  return (packet[3] & 0x10) != 0;
}

static inline uint8_t ls__ts_continuity(const uint8_t packet[LS_TS_SIZE]) {
  return packet[3] & 0x0F;
}

static inline void ls__ts_set_continuity(uint8_t packet[LS_TS_SIZE], uint8_t counter) {
  packet[3] = (uint8_t)((packet[3] & 0xF0) | (counter & 0x0F));
}

/** Bytes of the adaptation field after its length byte, at offset 5; 0 when there is none, when it
 * is empty, or when its length leaves the packet. */
uint8_t ls__ts_adaptation_len(const uint8_t packet[LS_TS_SIZE]);

/** Where the payload begins; LS_TS_SIZE when there is none. */
uint8_t ls__ts_payload_offset(const uint8_t packet[LS_TS_SIZE]);

/** The discontinuity_indicator (§2.4.3.5). */
bool ls__ts_discontinuity(const uint8_t packet[LS_TS_SIZE]);

/** Clears the discontinuity_indicator where there is one. */
void ls__ts_clear_discontinuity(uint8_t packet[LS_TS_SIZE]);

/** Reads the PCR, in [0, LS_PCR_WRAP); false when the packet carries none. An extension above 299,
 * which the standard does not allow, counts as none. */
bool ls__ts_pcr_get(const uint8_t packet[LS_TS_SIZE], int64_t *pcr);

/** Overwrites the PCR of a packet that carries one; false (nothing changed) when it does not.
 * `pcr` is in [0, LS_PCR_WRAP). */
bool ls__ts_pcr_put(uint8_t packet[LS_TS_SIZE], int64_t pcr);

/* The time stamps of the PES packet that begins in this transport packet (§2.4.3.7), and where
 * they stand, so that they can be overwritten. */
struct ls__ts_stamps {
  int64_t pts, dts;       /* 90 kHz, in [0, LS_STAMP_WRAP) */
  uint8_t pts_at, dts_at; /* byte offset in the packet; 0 = not there */
  uint8_t stream_id;
};

/** Finds the PTS and DTS; false when no PES packet with a PTS begins here, when its header
 * continues in the next transport packet before the stamps end, or when the payload is
 * scrambled. */
bool ls__ts_stamps_get(const uint8_t packet[LS_TS_SIZE], struct ls__ts_stamps *stamps);

/** Overwrites the stamps that `ls__ts_stamps_get` has found; prefix and marker bits are kept. */
void ls__ts_stamps_put(uint8_t packet[LS_TS_SIZE], const struct ls__ts_stamps *stamps);

/** Writes a null packet (§2.4.1): PID 0x1FFF, payload of 0xFF. */
void ls__ts_null(uint8_t packet[LS_TS_SIZE]);

/** Offset of the first packet boundary in `len` bytes: there, and at each of the next
 * LS_TS_SYNC_RUN - 1 boundaries inside the buffer, stands a sync byte, and one whole packet
 * follows. `len` when there is none. */
size_t ls__ts_find_sync(const uint8_t *bytes, size_t len);

/** a - b on the circle of PCRs, in [-LS_PCR_WRAP / 2, LS_PCR_WRAP / 2). */
int64_t ls__pcr_diff(int64_t a, int64_t b);

/** pcr + ticks, wrapped; `ticks` may be negative and larger than the circle. */
int64_t ls__pcr_add(int64_t pcr, int64_t ticks);

/** a - b on the circle of PTS and DTS, in [-2^32, 2^32). */
int64_t ls__stamp_diff(int64_t a, int64_t b);

/** stamp + ticks, wrapped; as ls__pcr_add. */
int64_t ls__stamp_add(int64_t stamp, int64_t ticks);

#endif
