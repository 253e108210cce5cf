/* Numeric addresses as text. Names are resolved by the app, never here. */
#ifndef LS__BASE_ADDR_TEXT_H
#define LS__BASE_ADDR_TEXT_H

#include "base/addr.h"

#include <stddef.h>

/** Reads "192.0.2.1:5000", "[2001:db8::1%3]:5000" (scope as a number), or ":5000" (any address,
 * IPv4 and IPv6: family 6, all zero). 0 or LS_EINVAL. */
int ls__addr_parse(const char *text, struct ls__addr *addr);

/** Writes the same form; "none" for family 0. `text` has LS_ADDR_TEXT bytes. Returns `text`. */
const char *ls__addr_format(const struct ls__addr *addr, char *text);

#endif
