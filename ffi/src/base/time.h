/* Time is int64_t nanoseconds of one monotonic clock, always handed in by the caller.
 * LS_NEVER means "no time": later than everything. */
#ifndef LS__BASE_TIME_H
#define LS__BASE_TIME_H

#include <stdint.h>

#define LS_NEVER INT64_MAX
#define LS_US INT64_C(1000)
#define LS_MS INT64_C(1000000)
#define LS_S INT64_C(1000000000)

static inline int64_t ls__time_min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t ls__time_max(int64_t a, int64_t b) {
  return a > b ? a : b;
}

#endif
