/* The PCR clock on any packets: times never step back, and all packets have one at the end. The
 * first byte chooses the given rate; the second how often each packet is repeated, so that a short
 * input reaches the look-ahead limit. */
#include "base/assert.h"
#include "media/pcr.h"

static uint64_t take(struct ls__pcr *clock, int64_t *last_ns) {
  uint64_t taken = 0;
  for (int64_t at_ns; ls__pcr_next(clock, &at_ns); taken++) {
    LS_ASSERT(at_ns >= *last_ns);
    *last_ns = at_ns;
  }
  return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int64_t rates[] = {0, LS_TS_RATE_MIN, 8000000, LS_TS_RATE_MAX};
  if (size < 2)
    return 0;
  struct ls__pcr clock;
  ls__pcr_init(&clock, rates[data[0] % 4]);
  uint32_t repeat = 1 + (uint32_t)data[1] * data[1];
  uint64_t fed = 0, taken = 0;
  int64_t last_ns = 0;
  for (size_t at = 2; at + LS_TS_SIZE <= size; at += LS_TS_SIZE)
    for (uint32_t i = 0; i < repeat; i++) {
      if (ls__pcr_feed(&clock, data + at) != 0)
        return 0;
      fed++;
      taken += take(&clock, &last_ns);
      LS_ASSERT(fed - taken <= LS_PCR_LOOKAHEAD);
    }
  if (ls__pcr_end(&clock) == 0)
    LS_ASSERT(taken + take(&clock, &last_ns) == fed);
  return 0;
}
