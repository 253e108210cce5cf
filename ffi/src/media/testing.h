/* Transport-stream packets for the tests of this room; included by tests only. */
#ifndef LS__MEDIA_TESTING_H
#define LS__MEDIA_TESTING_H

#include "base/testing.h"
#include "media/ts.h"

#include <string.h>

/** A packet of `pid` with payload only, filled with `fill`. */
static inline void ls__test_packet(uint8_t packet[LS_TS_SIZE], uint16_t pid, uint8_t continuity,
                                   uint8_t fill) {
  memset(packet, fill, LS_TS_SIZE);
  packet[0] = LS_TS_SYNC;
  packet[1] = (uint8_t)(pid >> 8);
  packet[2] = (uint8_t)pid;
  packet[3] = (uint8_t)(0x10 | (continuity & 0x0F));
}

/** Gives the packet an adaptation field of 7 bytes with this PCR; the payload shrinks. */
static inline void ls__test_pcr(uint8_t packet[LS_TS_SIZE], int64_t pcr, bool discontinuity) {
  packet[3] |= 0x20;
  packet[4] = 7;
  packet[5] = discontinuity ? 0x90 : 0x10;
  assert_true(ls__ts_pcr_put(packet, pcr));
}

/** Begins a PES packet in the payload, with a PTS, and with a DTS unless `dts` is negative. */
static inline void ls__test_pes(uint8_t packet[LS_TS_SIZE], uint8_t stream_id, int64_t pts,
                                int64_t dts) {
  packet[1] |= 0x40;
  uint8_t *pes = packet + ls__ts_payload_offset(packet);
  const uint8_t header[] = {0, 0, 1, stream_id, 0, 0, 0x80, dts < 0 ? 0x80 : 0xC0, 10,
                            /* '0011' or '0010', then marker bits */
                            dts < 0 ? 0x21 : 0x31, 0, 1, 0, 1, 0x11, 0, 1, 0, 1};
  memcpy(pes, header, sizeof header);
  struct ls__ts_stamps stamps;
  assert_true(ls__ts_stamps_get(packet, &stamps));
  stamps.pts = pts;
  stamps.dts = dts < 0 ? 0 : dts;
  ls__ts_stamps_put(packet, &stamps);
}

#endif
