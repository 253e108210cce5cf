#include "io/clock.h"

#include "base/assert.h"
#include "base/time.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
  struct timespec ts;
  LS_ASSERT(clock_gettime(id, &ts) == 0);
  return (int64_t)ts.tv_sec * LS_S + ts.tv_nsec;
}

int64_t ls__clock_now(void) {
  return read_clock(CLOCK_MONOTONIC);
}

int64_t ls__clock_real(void) {
  return read_clock(CLOCK_REALTIME);
}

void ls__random_bytes(void *out, size_t len) {
  uint8_t *at = out;
  while (len > 0) {
    ssize_t got = getrandom(at, len, 0);
    if (got < 0 && errno == EINTR)
      continue;
    LS_ASSERT(got > 0);
    at += got;
    len -= (size_t)got;
  }
}

uint32_t ls__random_id(uint32_t max) {
  uint64_t value;
  ls__random_bytes(&value, sizeof value);
  return (uint32_t)(value % max) + 1;
}
