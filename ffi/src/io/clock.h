/* The machine's clocks and entropy: the only place that asks for them. */
#ifndef LS__IO_CLOCK_H
#define LS__IO_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/** CLOCK_MONOTONIC in ns: the time of every sans-I/O room. */
int64_t ls__clock_now(void);

/** CLOCK_REALTIME in ns: for people only. */
int64_t ls__clock_real(void);

/** Fills `out` with random bytes of the system. */
void ls__random_bytes(void *out, size_t len);

/** A random number in [1, max]. */
uint32_t ls__random_id(uint32_t max);

#endif
