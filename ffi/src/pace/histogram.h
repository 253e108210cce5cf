/* A histogram of durations with fixed memory, after HdrHistogram (G. Tene): values below 32 ns
 * have a bucket each, every octave above has 32 of equal width, up to 2^42 - 1 ns (73 min).
 * A percentile is the upper end of its bucket: never below the true value, and above it by less
 * than 1/32 of it. Count, minimum, maximum and sum are exact.
 *
 * A negative value (a clock read across two cores, an early wake-up) counts as 0 and is counted in
 * `negative` as well; a value beyond the range counts as its end, and in `beyond`. */
#ifndef LS__PACE_HISTOGRAM_H
#define LS__PACE_HISTOGRAM_H

#include <stdint.h>

#define LS_HISTOGRAM_MAX ((INT64_C(1) << 42) - 1)
#define LS_HISTOGRAM_BUCKETS 1216 /* 32 · (1 + 42 - 5) */
#define LS_HISTOGRAM_WHOLE 100000 /* parts of a percentile: 1/1000 % each */

struct ls__histogram {
  uint64_t buckets[LS_HISTOGRAM_BUCKETS];
  uint64_t count, negative, beyond;
  int64_t min_ns, max_ns;    /* of the values as counted; read them through the functions */
  uint64_t sum_high, sum_ns; /* 128 bits: an hour each, for as long as anyone likes */
};

/** Empties the histogram; also how a new one begins. */
void ls__histogram_reset(struct ls__histogram *histogram);

void ls__histogram_record(struct ls__histogram *histogram, int64_t value_ns);

/** Adds all that `from` has counted. */
void ls__histogram_merge(struct ls__histogram *histogram, const struct ls__histogram *from);

/** Smallest and largest value, 0 when empty. */
int64_t ls__histogram_min(const struct ls__histogram *histogram);
int64_t ls__histogram_max(const struct ls__histogram *histogram);

/** Mean, rounded down; 0 when empty. */
int64_t ls__histogram_mean(const struct ls__histogram *histogram);

/** The value that `part` of LS_HISTOGRAM_WHOLE of all values do not exceed (50 000: median,
 * 99 900: p99.9); part 0 is the minimum, LS_HISTOGRAM_WHOLE the maximum. 0 when empty. */
int64_t ls__histogram_percentile(const struct ls__histogram *histogram, uint32_t part);

#endif
