/* The egress of one socket: whatever leaves by it is put into one schedule with its time, and one
 * backend sends it. Batches have at most LS_BATCH packets; how late each was is kept. */
#ifndef LS__IO_EGRESS_H
#define LS__IO_EGRESS_H

#include "io/loop.h"
#include "io/user.h"
#include "pace/histogram.h"
#include "pace/schedule.h"

/* Time until a full socket buffer is tried again. */
#define LS__EGRESS_RETRY_NS INT64_C(500000)
/* What counts as late. */
#define LS__EGRESS_LATE_NS INT64_C(1000000)

struct ls__egress {
  struct ls__loop *loop;
  struct ls__task task;
  struct ls__schedule schedule;
  struct ls__user user;
  struct ls__backend backend;
  struct ls__histogram lateness;
  uint64_t sent, late;
};

/** An egress of `slots` packets of up to `slot_bytes` for the socket `fd`, which stays the
 * caller's. 0, LS_ENOMEM or LS_ESYSTEM. */
int ls__egress_init(struct ls__egress *egress, struct ls__loop *loop, int fd, uint32_t slots,
                    uint32_t slot_bytes);

/** The same by a backend of the caller's, which may serve several sockets by the cookie. `loop` may
 * be NULL until `egress->loop` is set before the first run. Passes on the backend's sentence. */
int ls__egress_init_backend(struct ls__egress *egress, struct ls__loop *loop,
                            struct ls__backend backend, uint32_t slots, uint32_t slot_bytes,
                            char *err, uint32_t err_len);
void ls__egress_free(struct ls__egress *egress);

/** A free slot to fill; NULL when all are in use. */
struct ls__departure *ls__egress_reserve(struct ls__egress *egress);

/** Puts a filled slot into the schedule. It leaves at `at_ns` at the earliest, by ls__egress_run.
 */
void ls__egress_commit(struct ls__egress *egress, struct ls__departure *departure, int64_t at_ns);
void ls__egress_abandon(struct ls__egress *egress, struct ls__departure *departure);

/** Sends what is due and arranges to run again. */
void ls__egress_run(struct ls__egress *egress, int64_t now_ns);

/** Packets that wait. */
uint32_t ls__egress_waiting(const struct ls__egress *egress);

/** Sends that the system refused, and its last reason as an errno. */
uint64_t ls__egress_refused(const struct ls__egress *egress, int *last_errno);

#endif
