/* SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash short enough for the SYN cookie of every
 * induction, so that an unverified caller costs the listener no state. */
#ifndef LS__BASE_SIPHASH_H
#define LS__BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/** The 64-bit tag of `len` bytes under the 16-byte `key`. */
uint64_t ls__siphash(const uint8_t key[16], const uint8_t *data, size_t len);

#endif
