/* A network address without the socket headers: the sans-I/O rooms need it for cookies and for
 * telling connections apart. */
#ifndef LS__BASE_ADDR_H
#define LS__BASE_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LS_ADDR_TEXT 64

struct ls__addr {
  uint8_t bytes[16]; /* network order; IPv4 in the first four, the rest zero */
  uint32_t scope;    /* IPv6 interface index of a link-local address, else 0 */
  uint16_t port;     /* host order */
  uint8_t family;    /* 4, 6, or 0 for "none" */
};

static inline bool ls__addr_equal(const struct ls__addr *a, const struct ls__addr *b) {
  return a->family == b->family && a->port == b->port && a->scope == b->scope &&
         memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

#endif
