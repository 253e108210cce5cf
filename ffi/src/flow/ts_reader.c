#include "flow/ts_reader.h"

#include "base/assert.h"
#include "lockstep.h"

#include <string.h>

int ls__ts_reader_init(struct ls__ts_reader *reader, int64_t rate_bps) {
  memset(reader, 0, sizeof *reader);
  ls__pcr_init(&reader->clock, rate_bps);
  reader->packets = malloc(LS__TS_READER_PACKETS * sizeof *reader->packets);
  reader->times_ns = malloc(LS__TS_READER_PACKETS * sizeof *reader->times_ns);
  if (reader->packets && reader->times_ns)
    return 0;
  ls__ts_reader_free(reader);
  return LS_ENOMEM;
}

void ls__ts_reader_free(struct ls__ts_reader *reader) {
  free(reader->packets);
  free(reader->times_ns);
  memset(reader, 0, sizeof *reader);
}

bool ls__ts_reader_hungry(const struct ls__ts_reader *reader) {
  return !reader->ended && reader->timed - reader->taken < LS__TS_READER_AHEAD;
}

static void take_times(struct ls__ts_reader *reader) {
  int64_t at_ns;
  while (ls__pcr_next(&reader->clock, &at_ns))
    reader->times_ns[reader->timed++ % LS__TS_READER_PACKETS] = at_ns;
}

static int feed_packet(struct ls__ts_reader *reader, const uint8_t *packet) {
  LS_ASSERT(reader->fed - reader->taken < LS__TS_READER_PACKETS);
  memcpy(reader->packets[reader->fed++ % LS__TS_READER_PACKETS], packet, LS_TS_SIZE);
  int result = ls__pcr_feed(&reader->clock, packet);
  if (result == 0)
    take_times(reader);
  return result;
}

int ls__ts_reader_feed(struct ls__ts_reader *reader, const uint8_t *bytes, size_t len) {
  LS_ASSERT(len <= LS__TS_READER_AHEAD * LS_TS_SIZE);
  int result = 0;
  while (len > 0 && result == 0) {
    uint32_t want = LS_TS_SIZE - reader->partial_len;
    uint32_t part = len < want ? (uint32_t)len : want;
    /* Out of step: bytes are skipped until one looks like the beginning of a packet. */
    if (reader->partial_len == 0 && bytes[0] != LS_TS_SYNC) {
      const uint8_t *sync = memchr(bytes, LS_TS_SYNC, len);
      size_t skip = sync ? (size_t)(sync - bytes) : len;
      reader->skipped_bytes += skip;
      bytes += skip;
      len -= skip;
      continue;
    }
    memcpy(reader->partial + reader->partial_len, bytes, part);
    reader->partial_len += part;
    bytes += part;
    len -= part;
    if (reader->partial_len == LS_TS_SIZE) {
      reader->partial_len = 0;
      result = feed_packet(reader, reader->partial);
    }
  }
  return result;
}

int ls__ts_reader_end(struct ls__ts_reader *reader) {
  reader->ended = true;
  reader->skipped_bytes += reader->partial_len;
  if (reader->fed == 0) /* an empty file is one; bytes without a packet are none */
    return reader->skipped_bytes ? LS_EFORMAT : 0;
  int result = ls__pcr_end(&reader->clock);
  take_times(reader);
  return result;
}

bool ls__ts_reader_next(struct ls__ts_reader *reader, uint8_t packet[LS_TS_SIZE], int64_t *at_ns) {
  if (reader->taken == reader->timed)
    return false;
  uint64_t at = reader->taken++ % LS__TS_READER_PACKETS;
  memcpy(packet, reader->packets[at], LS_TS_SIZE);
  *at_ns = reader->times_ns[at];
  return true;
}
