#include "media/ts.h"

#include "base/assert.h"

#include <string.h>

/* adaptation_field_control, §2.4.3.2 Table 2-5: '10' and '11' have an adaptation field. */
static bool has_adaptation(const uint8_t *packet) {
  return (packet[3] & 0x20) != 0;
}

uint8_t ls__ts_adaptation_len(const uint8_t packet[LS_TS_SIZE]) {
  if (!has_adaptation(packet) || packet[4] > LS_TS_SIZE - 5)
    return 0;
  return packet[4];
}

uint8_t ls__ts_payload_offset(const uint8_t packet[LS_TS_SIZE]) {
  if (!ls__ts_has_payload(packet))
    return LS_TS_SIZE;
  uint32_t offset = has_adaptation(packet) ? UINT32_C(5) + packet[4] : 4;
  return offset < LS_TS_SIZE ? (uint8_t)offset : LS_TS_SIZE;
}

bool ls__ts_discontinuity(const uint8_t packet[LS_TS_SIZE]) {
  return ls__ts_adaptation_len(packet) > 0 && (packet[5] & 0x80) != 0;
}

void ls__ts_clear_discontinuity(uint8_t packet[LS_TS_SIZE]) {
  if (ls__ts_adaptation_len(packet) > 0)
    packet[5] &= 0x7F;
}

/* The flags byte and six bytes of PCR, §2.4.3.4. */
static bool has_pcr(const uint8_t *packet) {
  return ls__ts_adaptation_len(packet) >= 7 && (packet[5] & 0x10) != 0;
}

bool ls__ts_pcr_get(const uint8_t packet[LS_TS_SIZE], int64_t *pcr) {
  if (!has_pcr(packet))
    return false;
  int64_t base = (int64_t)packet[6] << 25 | (int64_t)packet[7] << 17 | (int64_t)packet[8] << 9 |
                 (int64_t)packet[9] << 1 | packet[10] >> 7;
  int64_t extension = (int64_t)(packet[10] & 1) << 8 | packet[11];
  if (extension >= LS_PCR_PER_STAMP)
    return false;
  *pcr = base * LS_PCR_PER_STAMP + extension;
  return true;
}

bool ls__ts_pcr_put(uint8_t packet[LS_TS_SIZE], int64_t pcr) {
  LS_ASSERT(pcr >= 0 && pcr < LS_PCR_WRAP);
  if (!has_pcr(packet))
    return false;
  int64_t base = pcr / LS_PCR_PER_STAMP, extension = pcr % LS_PCR_PER_STAMP;
  packet[6] = (uint8_t)(base >> 25);
  packet[7] = (uint8_t)(base >> 17);
  packet[8] = (uint8_t)(base >> 9);
  packet[9] = (uint8_t)(base >> 1);
  /* The six reserved bits between base and extension are ones. */
  packet[10] = (uint8_t)((base & 1) << 7 | 0x7E | extension >> 8);
  packet[11] = (uint8_t)extension;
  return true;
}

/* Whether a PES packet of this stream_id has the flags and the header length (§2.4.3.6: all but
 * program_stream_map, padding, private_stream_2, ECM, EMM, DSM-CC, H.222.1 type E, directory). */
static bool has_pes_header(uint8_t stream_id) {
  switch (stream_id) {
  case 0xBC:
  case 0xBE:
  case 0xBF:
  case 0xF0:
  case 0xF1:
  case 0xF2:
  case 0xF8:
  case 0xFF:
    return false;
  default:
    return true;
  }
}

static int64_t stamp_get(const uint8_t *at) {
  return (int64_t)(at[0] >> 1 & 7) << 30 | (int64_t)at[1] << 22 | (int64_t)(at[2] >> 1) << 15 |
         (int64_t)at[3] << 7 | at[4] >> 1;
}

static void stamp_put(uint8_t *at, int64_t stamp) {
  at[0] = (uint8_t)((at[0] & 0xF1) | (stamp >> 29 & 0x0E));
  at[1] = (uint8_t)(stamp >> 22);
  at[2] = (uint8_t)((at[2] & 1) | (stamp >> 14 & 0xFE));
  at[3] = (uint8_t)(stamp >> 7);
  at[4] = (uint8_t)((at[4] & 1) | (stamp << 1 & 0xFE));
}

bool ls__ts_stamps_get(const uint8_t packet[LS_TS_SIZE], struct ls__ts_stamps *stamps) {
  uint32_t start = ls__ts_payload_offset(packet);
  /* Prefix, stream_id, length, two bytes of flags, header length, then the PTS: §2.4.3.6. */
  if (!ls__ts_unit_start(packet) || ls__ts_scrambled(packet) || start + 14 > LS_TS_SIZE)
    return false;
  const uint8_t *pes = packet + start;
  if (pes[0] != 0 || pes[1] != 0 || pes[2] != 1 || !has_pes_header(pes[3]) ||
      (pes[6] & 0xC0) != 0x80)
    return false;
  bool has_pts = (pes[7] & 0x80) != 0, has_dts = (pes[7] & 0xC0) == 0xC0;
  uint32_t need = has_dts ? 10 : 5;
  if (!has_pts || pes[8] < need || start + 9 + need > LS_TS_SIZE)
    return false;
  *stamps = (struct ls__ts_stamps){
      .pts = stamp_get(pes + 9), .pts_at = (uint8_t)(start + 9), .stream_id = pes[3]};
  if (has_dts) {
    stamps->dts = stamp_get(pes + 14);
    stamps->dts_at = (uint8_t)(start + 14);
  }
  return true;
}

void ls__ts_stamps_put(uint8_t packet[LS_TS_SIZE], const struct ls__ts_stamps *stamps) {
  LS_ASSERT(stamps->pts_at + 5 <= LS_TS_SIZE && stamps->dts_at + 5 <= LS_TS_SIZE);
  LS_ASSERT(stamps->pts >= 0 && stamps->pts < LS_STAMP_WRAP);
  LS_ASSERT(stamps->dts >= 0 && stamps->dts < LS_STAMP_WRAP);
  if (stamps->pts_at)
    stamp_put(packet + stamps->pts_at, stamps->pts);
  if (stamps->dts_at)
    stamp_put(packet + stamps->dts_at, stamps->dts);
}

void ls__ts_null(uint8_t packet[LS_TS_SIZE]) {
  memset(packet, 0xFF, LS_TS_SIZE);
  packet[0] = LS_TS_SYNC;
  packet[1] = LS_TS_PID_NULL >> 8;
  packet[2] = LS_TS_PID_NULL & 0xFF;
  packet[3] = 0x10; /* payload only, as §2.4.1 asks of a null packet */
}

size_t ls__ts_find_sync(const uint8_t *bytes, size_t len) {
  for (size_t offset = 0; offset + LS_TS_SIZE <= len; offset++) {
    uint32_t run = 0;
    while (run < LS_TS_SYNC_RUN && offset + (size_t)run * LS_TS_SIZE < len &&
           bytes[offset + (size_t)run * LS_TS_SIZE] == LS_TS_SYNC)
      run++;
    if (run == LS_TS_SYNC_RUN || (run > 0 && offset + (size_t)run * LS_TS_SIZE >= len))
      return offset;
  }
  return len;
}

static int64_t circle_diff(int64_t a, int64_t b, int64_t wrap) {
  int64_t d = (a - b) % wrap;
  if (d < 0)
    d += wrap;
  return d < wrap / 2 ? d : d - wrap;
}

static int64_t circle_add(int64_t value, int64_t ticks, int64_t wrap) {
  int64_t sum = (value + ticks % wrap) % wrap;
  return sum < 0 ? sum + wrap : sum;
}

int64_t ls__pcr_diff(int64_t a, int64_t b) {
  return circle_diff(a, b, LS_PCR_WRAP);
}

int64_t ls__pcr_add(int64_t pcr, int64_t ticks) {
  return circle_add(pcr, ticks, LS_PCR_WRAP);
}

int64_t ls__stamp_diff(int64_t a, int64_t b) {
  return circle_diff(a, b, LS_STAMP_WRAP);
}

int64_t ls__stamp_add(int64_t stamp, int64_t ticks) {
  return circle_add(stamp, ticks, LS_STAMP_WRAP);
}
