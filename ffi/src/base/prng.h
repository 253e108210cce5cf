/* xoshiro256** seeded through splitmix64 (Blackman, Vigna; public domain algorithm): one 64-bit
 * seed makes one whole run. Not for secrets: those come from the system through `io`. */
#ifndef LS__BASE_PRNG_H
#define LS__BASE_PRNG_H

#include <stdint.h>

struct ls__prng {
  uint64_t s[4];
};

void ls__prng_seed(struct ls__prng *prng, uint64_t seed);

/** 64 random bits. */
uint64_t ls__prng_next(struct ls__prng *prng);

/** Uniform in [0, bound), without modulo bias; `bound` > 0. */
uint64_t ls__prng_below(struct ls__prng *prng, uint64_t bound);

/** Uniform in [0, 1). */
double ls__prng_unit(struct ls__prng *prng);

/** Standard normal deviate (mean 0, deviation 1). */
double ls__prng_normal(struct ls__prng *prng);

#endif
