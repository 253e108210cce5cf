#include "media/marker.h"

#include "base/bytes.h"

#include <string.h>

#define MAGIC UINT64_C(0x4C536D61726B3031) /* "LSmark01" */

/* Byte offsets of the fields, see marker.h. */
enum { MAGIC_AT = 4, STREAM_AT = 12, INDEX_AT = 16, SENT_AT = 24, HASH_AT = 32, CHECK_AT = 180 };

/* One word: xor, rotation and multiplication by an odd number (2^64 / golden ratio) can each be
 * undone, so two different words never lead one h to the same place; the rotation brings the high
 * bits, where a product mixes well, back to where the next word enters. */
static inline uint64_t mix(uint64_t h, uint64_t word) {
  h ^= word;
  h = h << 29 | h >> 35;
  return h * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_words(uint64_t h, const uint8_t *bytes, uint32_t words) {
  for (uint32_t i = 0; i < words; i++)
    h = mix(h, ls__get64(bytes + (size_t)i * 8));
  return h;
}

/* 188 bytes are 23 words and a half. */
static uint64_t hash_packet(uint64_t h, const uint8_t *packet) {
  return mix(hash_words(h, packet, 23), ls__get32(packet + 184));
}

static uint64_t hash_marker(const uint8_t *packet) {
  return hash_words(MAGIC, packet + MAGIC_AT, (CHECK_AT - MAGIC_AT) / 8);
}

void ls__marker_writer_init(struct ls__marker_writer *writer, uint32_t stream_id) {
  *writer = (struct ls__marker_writer){.stream_id = stream_id};
}

bool ls__marker_write(struct ls__marker_writer *writer, uint8_t packet[LS_TS_SIZE], int64_t at_ns) {
  uint64_t index = writer->index++;
  if (!ls__ts_synced(packet) || ls__ts_pid(packet) != LS_TS_PID_NULL) {
    writer->hash = hash_packet(writer->hash, packet);
    return false;
  }
  ls__ts_null(packet);
  ls__put64(packet + MAGIC_AT, MAGIC);
  ls__put32(packet + STREAM_AT, writer->stream_id);
  ls__put64(packet + INDEX_AT, index);
  ls__put64(packet + SENT_AT, (uint64_t)at_ns);
  ls__put64(packet + HASH_AT, writer->hash);
  ls__put64(packet + CHECK_AT, hash_marker(packet));
  writer->hash = 0;
  return true;
}

void ls__marker_checker_init(struct ls__marker_checker *checker) {
  *checker = (struct ls__marker_checker){0};
}

static bool is_marker(const uint8_t *packet) {
  return ls__ts_synced(packet) && ls__ts_pid(packet) == LS_TS_PID_NULL &&
         ls__get64(packet + MAGIC_AT) == MAGIC &&
         ls__get64(packet + CHECK_AT) == hash_marker(packet);
}

/* Compares the stretch since the last marker with what the marker at `index` says of it. */
static void check_stretch(struct ls__marker_checker *checker, uint64_t index, uint64_t hash) {
  uint64_t sent = index - checker->index - 1;
  if (checker->since < sent) {
    checker->ts_lost += sent - checker->since;
  } else if (checker->since > sent) {
    checker->ts_extra += checker->since - sent;
    checker->wrong++;
  } else if (checker->hash != hash) {
    checker->wrong++;
  }
}

/* RFC 3550 §6.4.1 and §A.8: D is the change of the transit time, J += (|D| - J) / 16. */
static void measure(struct ls__marker_checker *checker, int64_t latency_ns) {
  if (checker->measured == 0) {
    checker->latency_min_ns = latency_ns;
    checker->latency_max_ns = latency_ns;
  } else {
    int64_t change = latency_ns - checker->latency_last_ns;
    checker->jitter_16 += (change < 0 ? -change : change) - ((checker->jitter_16 + 8) >> 4);
    if (latency_ns < checker->latency_min_ns)
      checker->latency_min_ns = latency_ns;
    if (latency_ns > checker->latency_max_ns)
      checker->latency_max_ns = latency_ns;
  }
  checker->latency_last_ns = latency_ns;
  checker->measured++;
}

bool ls__marker_check(struct ls__marker_checker *checker, const uint8_t packet[LS_TS_SIZE],
                      int64_t arrival_ns, int64_t *latency_ns) {
  bool marker = is_marker(packet);
  if (!marker && checker->markers == 0)
    return false;
  checker->ts_packets++;
  uint32_t stream_id = ls__get32(packet + STREAM_AT);
  uint64_t index = ls__get64(packet + INDEX_AT);
  bool anew = marker && (checker->markers == 0 || stream_id != checker->stream_id);
  /* The shorter way round tells a later marker from an earlier one. */
  if (!marker || (!anew && (int64_t)(index - checker->index) <= 0)) {
    checker->since++;
    checker->hash = hash_packet(checker->hash, packet);
    return false;
  }
  if (anew)
    checker->streams++;
  else
    check_stretch(checker, index, ls__get64(packet + HASH_AT));
  checker->markers++;
  checker->stream_id = stream_id;
  checker->index = index;
  checker->since = 0;
  checker->hash = 0;
  if (checker->measured > 0 && arrival_ns == checker->arrival_ns)
    return false;
  /* Unsigned, since the departure comes from outside and may be any number. */
  int64_t latency = (int64_t)((uint64_t)arrival_ns - ls__get64(packet + SENT_AT));
  if (latency > LS_MARKER_LATENCY_MAX || latency < -LS_MARKER_LATENCY_MAX)
    return false;
  checker->arrival_ns = arrival_ns;
  *latency_ns = latency;
  measure(checker, *latency_ns);
  return true;
}
