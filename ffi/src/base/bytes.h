/* Explicit big-endian get and put: wire formats are never read through a cast or a bit-field. */
#ifndef LS__BASE_BYTES_H
#define LS__BASE_BYTES_H

#include <stdint.h>

static inline uint16_t ls__get16(const uint8_t *p) {
  return (uint16_t)((uint32_t)p[0] << 8 | p[1]);
}

static inline uint32_t ls__get32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t ls__get64(const uint8_t *p) {
  return (uint64_t)ls__get32(p) << 32 | ls__get32(p + 4);
}

static inline void ls__put16(uint8_t *p, uint16_t value) {
  p[0] = (uint8_t)(value >> 8);
  p[1] = (uint8_t)value;
}

static inline void ls__put32(uint8_t *p, uint32_t value) {
  p[0] = (uint8_t)(value >> 24);
  p[1] = (uint8_t)(value >> 16);
  p[2] = (uint8_t)(value >> 8);
  p[3] = (uint8_t)value;
}

static inline void ls__put64(uint8_t *p, uint64_t value) {
  ls__put32(p, (uint32_t)(value >> 32));
  ls__put32(p + 4, (uint32_t)value);
}

#endif
