#include "base/siphash.h"

static uint64_t rotl(uint64_t x, int k) {
  return x << k | x >> (64 - k);
}

static uint64_t get64le(const uint8_t *p, size_t len) {
  uint64_t value = 0;
  for (size_t i = 0; i < len; i++)
    value |= (uint64_t)p[i] << (8 * i);
  return value;
}

static void rounds(uint64_t v[4], int count) {
  for (int i = 0; i < count; i++) {
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
  }
}

uint64_t ls__siphash(const uint8_t key[16], const uint8_t *data, size_t len) {
  uint64_t k0 = get64le(key, 8);
  uint64_t k1 = get64le(key + 8, 8);
  uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                   k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
  size_t whole = len & ~(size_t)7;
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t m = get64le(data + at, 8);
    v[3] ^= m;
    rounds(v, 2);
    v[0] ^= m;
  }
  uint64_t last = (uint64_t)len << 56 | get64le(data + whole, len - whole);
  v[3] ^= last;
  rounds(v, 2);
  v[0] ^= last;
  v[2] ^= 0xff;
  rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
