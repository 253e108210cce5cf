/* Assertions that stay on in release: a programmer error stops the process rather than the air
 * time of a wrong packet. Operating errors (a refused bind, a bad packet) are returned instead. */
#ifndef LS__BASE_ASSERT_H
#define LS__BASE_ASSERT_H

#include <stdio.h>
#include <stdlib.h>

#define LS_ASSERT(condition)                                                                       \
  do {                                                                                             \
    if (__builtin_expect(!(condition), 0)) {                                                       \
      fprintf(stderr, "liblockstep: assertion failed: %s (%s:%d)\n", #condition, __FILE__,         \
              __LINE__);                                                                           \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
