/* What makes a departure time true: five functions that each way of sending implements (`user`: a
 * thread that waits; the kernel's `fq`; a launch time in the network card). The egress owns the
 * schedule and calls one backend; a backend never sees what is not due within its lead.
 *
 * A backend is used by one thread. Between `open` and `close` it allocates nothing. */
#ifndef LS__PACE_BACKEND_H
#define LS__PACE_BACKEND_H

#include "pace/schedule.h"

#include <stdint.h>

/* What went wrong since the backend was opened, in packets. Only grows. */
struct ls__backend_errors {
  uint64_t refused; /* the system would not send it: unreachable, not permitted, too long */
  uint64_t missed;  /* handed over in time, dropped below because its time had passed */
  uint64_t invalid; /* dropped below because its time stamp was not accepted */
  int last_errno;   /* the system's reason for the newest of them, 0 if there is none */
};

struct ls__backend_ops {
  const char *name; /* as the box shows it: "user", "fq", "launch" */

  /** Takes what it needs (socket options, memory). 0; LS_ENOMEM, LS_ESYSTEM with a sentence in
   * `err` that says what is missing: then another backend may be tried. */
  int (*open)(void *self, char *err, uint32_t err_len);

  /** Hands over the first packets of `batch` (`count` 1..LS_BATCH, in order of departure) without
   * blocking; how many it has taken, 0..`count`. A packet that the system refused counts as taken
   * and as an error: it is not offered again. Those not taken (a full socket buffer) are the
   * caller's to offer again. The payload is the backend's until it returns, no longer.
   * LS_ESYSTEM: the backend can send nothing any more; nothing of the batch was taken. */
  int (*submit)(void *self, struct ls__departure *const *batch, unsigned count, int64_t now_ns);

  /** Collects errors that arrive later (the error queue of a socket) and writes the totals. */
  void (*reap)(void *self, struct ls__backend_errors *errors);

  /** How long before its departure a packet is wanted, in ns; 0: when it is due. */
  int64_t (*lead)(const void *self);

  /** Gives back what `open` took; not called when `open` failed. */
  void (*close)(void *self);
};

struct ls__backend {
  const struct ls__backend_ops *ops;
  void *self;
};

#endif
