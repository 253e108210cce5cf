/* The `user` backend: a packet leaves when the thread hands it over, so the event loop's waiting is
 * the pacing. It wants packets when they are due, not before. */
#ifndef LS__IO_USER_H
#define LS__IO_USER_H

#include "pace/backend.h"

#include <stdbool.h>

struct ls__user {
  int fd;
  bool six;
  struct ls__backend_errors errors;
};

/** The backend for a socket, which stays the caller's. */
struct ls__backend ls__user_backend(struct ls__user *user, int fd);

#endif
