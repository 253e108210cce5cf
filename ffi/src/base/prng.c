#include "base/prng.h"

#include "base/assert.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k) {
  return x << k | x >> (64 - k);
}

void ls__prng_seed(struct ls__prng *prng, uint64_t seed) {
  for (int i = 0; i < 4; i++)
    prng->s[i] = splitmix64(&seed);
}

uint64_t ls__prng_next(struct ls__prng *prng) {
  uint64_t *s = prng->s;
  uint64_t result = rotl(s[1] * 5, 7) * 9;
  uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return result;
}

uint64_t ls__prng_below(struct ls__prng *prng, uint64_t bound) {
  LS_ASSERT(bound > 0);
  uint64_t floor = (0 - bound) % bound; /* 2^64 mod bound: what would bias the result */
  uint64_t value;
  do
    value = ls__prng_next(prng);
  while (value < floor);
  return value % bound;
}

double ls__prng_unit(struct ls__prng *prng) {
  return (double)(ls__prng_next(prng) >> 11) * 0x1.0p-53;
}

double ls__prng_normal(struct ls__prng *prng) {
  double u = 1.0 - ls__prng_unit(prng); /* (0, 1]: the logarithm is finite */
  double v = ls__prng_unit(prng);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
