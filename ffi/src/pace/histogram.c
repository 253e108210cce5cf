#include "pace/histogram.h"

#include "base/assert.h"
#include "base/time.h"

#include <string.h>

/* An octave has 2^5 buckets. Below 2^5 the bucket is the value; above, the octave and the five
 * bits after the leading one, which run on from octave to octave without a gap. */
#define OCTAVE_BITS 5
#define OCTAVE_BUCKETS (1u << OCTAVE_BITS)

static uint32_t bucket_of(uint64_t value) {
  uint32_t top = 63u - (uint32_t)__builtin_clzll(value | OCTAVE_BUCKETS);
  uint32_t shift = top - OCTAVE_BITS;
  return shift * OCTAVE_BUCKETS + (uint32_t)(value >> shift);
}

/* The largest value of a bucket. */
static int64_t bucket_end(uint32_t bucket) {
  if (bucket < OCTAVE_BUCKETS)
    return bucket;
  uint32_t shift = bucket / OCTAVE_BUCKETS - 1;
  uint64_t first = (uint64_t)(bucket - shift * OCTAVE_BUCKETS) << shift;
  return (int64_t)(first + (UINT64_C(1) << shift) - 1);
}

static void add_to_sum(struct ls__histogram *histogram, uint64_t high, uint64_t low) {
  histogram->sum_high += high + __builtin_add_overflow(histogram->sum_ns, low, &histogram->sum_ns);
}

void ls__histogram_reset(struct ls__histogram *histogram) {
  memset(histogram, 0, sizeof *histogram);
  histogram->min_ns = INT64_MAX;
}

void ls__histogram_record(struct ls__histogram *histogram, int64_t value_ns) {
  histogram->negative += value_ns < 0;
  histogram->beyond += value_ns > LS_HISTOGRAM_MAX;
  int64_t counted_ns = ls__time_min(ls__time_max(value_ns, 0), LS_HISTOGRAM_MAX);
  histogram->buckets[bucket_of((uint64_t)counted_ns)]++;
  histogram->count++;
  histogram->min_ns = ls__time_min(histogram->min_ns, counted_ns);
  histogram->max_ns = ls__time_max(histogram->max_ns, counted_ns);
  add_to_sum(histogram, 0, (uint64_t)counted_ns);
}

void ls__histogram_merge(struct ls__histogram *histogram, const struct ls__histogram *from) {
  for (uint32_t i = 0; i < LS_HISTOGRAM_BUCKETS; i++)
    histogram->buckets[i] += from->buckets[i];
  histogram->count += from->count;
  histogram->negative += from->negative;
  histogram->beyond += from->beyond;
  histogram->min_ns = ls__time_min(histogram->min_ns, from->min_ns);
  histogram->max_ns = ls__time_max(histogram->max_ns, from->max_ns);
  add_to_sum(histogram, from->sum_high, from->sum_ns);
}

int64_t ls__histogram_min(const struct ls__histogram *histogram) {
  return histogram->count ? histogram->min_ns : 0;
}

int64_t ls__histogram_max(const struct ls__histogram *histogram) {
  return histogram->max_ns;
}

int64_t ls__histogram_mean(const struct ls__histogram *histogram) {
  if (!histogram->count)
    return 0;
  unsigned __int128 sum = (unsigned __int128)histogram->sum_high << 64 | histogram->sum_ns;
  return (int64_t)(sum / histogram->count);
}

int64_t ls__histogram_percentile(const struct ls__histogram *histogram, uint32_t part) {
  LS_ASSERT(part <= LS_HISTOGRAM_WHOLE);
  if (!histogram->count || part == 0)
    return ls__histogram_min(histogram);
  unsigned __int128 product = (unsigned __int128)histogram->count * part;
  uint64_t rank = (uint64_t)((product + LS_HISTOGRAM_WHOLE - 1) / LS_HISTOGRAM_WHOLE);
  uint64_t seen = 0;
  uint32_t bucket = 0;
  while ((seen += histogram->buckets[bucket]) < rank)
    bucket++;
  return ls__time_min(bucket_end(bucket), histogram->max_ns);
}
