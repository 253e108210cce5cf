/* Any bytes as a clip: it is refused with a sentence, or played over some seams in sync, with no
 * packet out of its time. The first byte chooses the rate. */
#include "base/assert.h"
#include "media/loop.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct ls__ts_loop loop;
  static const int64_t rates[] = {LS_TS_RATE_MIN, 150000, 8000000, LS_TS_RATE_MAX};
  if (size < 1)
    return 0;
  char sentence[200] = "";
  if (ls__ts_loop_init(&loop, data + 1, size - 1, rates[data[0] % 4], sentence, sizeof sentence) !=
      0) {
    LS_ASSERT(sentence[0] != 0 && strlen(sentence) < sizeof sentence - 1);
    return 0;
  }
  LS_ASSERT(sentence[0] == 0 && loop.clip_bps < loop.rate_bps && loop.lap_ticks > 0);
  int64_t last_ns = -1;
  for (uint32_t i = 0; i < 2000; i++) {
    uint8_t packet[LS_TS_SIZE];
    int64_t at_ns;
    ls__ts_loop_next(&loop, packet, &at_ns);
    LS_ASSERT(ls__ts_synced(packet) && at_ns > last_ns);
    last_ns = at_ns;
  }
  return 0;
}
