/* The receiver of markers: packets of a true stream (which the target writes itself, so that hashes
 * are right) dropped, repeated, altered and replaced as the input says; the books must balance at
 * each marker. */
#include "base/assert.h"
#include "media/marker.h"

#include <string.h>

enum { MOST = 256 };

static uint8_t sent[MOST][LS_TS_SIZE];

static void send_stream(uint32_t stream_id, uint8_t mask) {
  struct ls__marker_writer writer;
  ls__marker_writer_init(&writer, stream_id);
  for (uint32_t i = 0; i < MOST; i++) {
    memset(sent[i], (int)i, LS_TS_SIZE);
    sent[i][0] = LS_TS_SYNC;
    sent[i][1] = 1;
    if ((i & mask) == 0)
      ls__ts_null(sent[i]);
    ls__marker_write(&writer, sent[i], (int64_t)i * 1000);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  send_stream(1, data[0]);
  struct ls__marker_checker checker;
  ls__marker_checker_init(&checker);
  uint64_t first = 0;
  uint32_t at = 0;
  for (size_t i = 1; i + 1 < size; i += 2) {
    uint8_t packet[LS_TS_SIZE];
    memcpy(packet, sent[at % MOST], sizeof packet);
    uint8_t value = data[i + 1];
    switch (data[i] % 5) {
    case 0: /* go on, or skip some */
      at += value % 8;
      break;
    case 1: /* go back */
      at += MOST - value % 8;
      break;
    case 2: /* another departure than any clock's */
      memset(packet + 24, value, 8);
      break;
    case 3:
      packet[value % LS_TS_SIZE] ^= (uint8_t)(1 << data[i] % 8);
      break;
    default: /* bytes of the input's own */
      if (i + 2 + LS_TS_SIZE <= size) {
        memcpy(packet, data + i + 2, LS_TS_SIZE);
        i += LS_TS_SIZE;
      }
    }
    at++;
    uint64_t markers = checker.markers, streams = checker.streams, measured = checker.measured;
    int64_t latency_ns;
    bool fresh = ls__marker_check(&checker, packet, (int64_t)i * 1000, &latency_ns);
    LS_ASSERT(fresh == (checker.measured == measured + 1));
    LS_ASSERT(!fresh || checker.markers == markers + 1);
    if (checker.streams > 1)
      return 0;
    if (checker.streams > streams)
      first = checker.index;
    if (checker.markers > markers)
      LS_ASSERT(checker.ts_packets + checker.ts_lost - checker.ts_extra ==
                checker.index - first + 1);
  }
  return 0;
}
