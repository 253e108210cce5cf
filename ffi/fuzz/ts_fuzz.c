/* Packets and resynchronisation: any bytes, and what was read must come back when written. */
#include "base/assert.h"
#include "media/ts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t at = ls__ts_find_sync(data, size);
  LS_ASSERT(at <= size && (at == size || data[at] == LS_TS_SYNC));
  for (; at + LS_TS_SIZE <= size; at += LS_TS_SIZE) {
    uint8_t packet[LS_TS_SIZE];
    memcpy(packet, data + at, sizeof packet);
    LS_ASSERT(ls__ts_payload_offset(packet) <= LS_TS_SIZE);
    LS_ASSERT(ls__ts_adaptation_len(packet) <= 183);
    int64_t pcr, pcr_back;
    if (ls__ts_pcr_get(packet, &pcr)) {
      LS_ASSERT(ls__ts_pcr_put(packet, pcr));
      LS_ASSERT(ls__ts_pcr_get(packet, &pcr_back) && pcr_back == pcr);
    }
    struct ls__ts_stamps stamps;
    if (ls__ts_stamps_get(packet, &stamps)) {
      uint8_t before[LS_TS_SIZE];
      memcpy(before, packet, sizeof before);
      ls__ts_stamps_put(packet, &stamps);
      LS_ASSERT(memcmp(before, packet, sizeof before) == 0);
    }
    ls__ts_clear_discontinuity(packet);
    LS_ASSERT(!ls__ts_discontinuity(packet));
  }
  return 0;
}
