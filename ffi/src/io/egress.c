#include "io/egress.h"

#include "base/time.h"
#include "io/clock.h"
#include "lockstep.h"

static void run_task(void *self, int64_t now_ns) {
  ls__egress_run(self, now_ns);
}

int ls__egress_init_backend(struct ls__egress *egress, struct ls__loop *loop,
                            struct ls__backend backend, uint32_t slots, uint32_t slot_bytes,
                            char *err, uint32_t err_len) {
  egress->loop = loop;
  egress->task = (struct ls__task){.run = run_task, .self = egress};
  egress->backend = backend;
  egress->sent = egress->late = 0;
  ls__histogram_reset(&egress->lateness);
  struct ls__schedule_config config = {.slots = slots,
                                       .slot_bytes = slot_bytes,
                                       .late = LS_LATE_SEND,
                                       .late_ns = LS__EGRESS_LATE_NS};
  int result = ls__schedule_init(&egress->schedule, &config);
  if (result < 0)
    return result;
  result = backend.ops->open(backend.self, err, err_len);
  if (result < 0)
    ls__schedule_free(&egress->schedule);
  return result;
}

int ls__egress_init(struct ls__egress *egress, struct ls__loop *loop, int fd, uint32_t slots,
                    uint32_t slot_bytes) {
  return ls__egress_init_backend(egress, loop, ls__user_backend(&egress->user, fd), slots,
                                 slot_bytes, NULL, 0);
}

void ls__egress_free(struct ls__egress *egress) {
  if (egress->loop)
    ls__loop_at(egress->loop, &egress->task, LS_NEVER);
  egress->backend.ops->close(egress->backend.self);
  ls__schedule_free(&egress->schedule);
}

struct ls__departure *ls__egress_reserve(struct ls__egress *egress) {
  return ls__schedule_reserve(&egress->schedule);
}

void ls__egress_commit(struct ls__egress *egress, struct ls__departure *departure, int64_t at_ns) {
  ls__schedule_commit(&egress->schedule, departure, at_ns);
}

void ls__egress_abandon(struct ls__egress *egress, struct ls__departure *departure) {
  ls__schedule_abandon(&egress->schedule, departure);
}

static void sent(struct ls__egress *egress, struct ls__departure *departure, int64_t now_ns) {
  int64_t late_ns = now_ns - departure->node.at_ns;
  ls__histogram_record(&egress->lateness, late_ns);
  egress->sent++;
  egress->late += late_ns > LS__EGRESS_LATE_NS;
  ls__schedule_release(&egress->schedule, departure);
}

void ls__egress_run(struct ls__egress *egress, int64_t now_ns) {
  const struct ls__backend *backend = &egress->backend;
  struct ls__departure *batch[LS_BATCH];
  int64_t lead_ns = backend->ops->lead(backend->self);
  unsigned count;
  int64_t retry_ns = LS_NEVER;
  while ((count = ls__schedule_pop(&egress->schedule, now_ns + lead_ns, now_ns, batch)) > 0) {
    int taken = backend->ops->submit(backend->self, batch, count, now_ns);
    unsigned done = taken < 0 ? 0 : (unsigned)taken;
    int64_t handed_ns = ls__clock_now();
    for (unsigned i = 0; i < done; i++)
      sent(egress, batch[i], handed_ns);
    for (unsigned i = done; i < count; i++)
      ls__schedule_restore(&egress->schedule, batch[i]);
    if (done < count) {
      retry_ns = handed_ns + LS__EGRESS_RETRY_NS;
      break;
    }
  }
  int64_t next_ns = ls__schedule_first(&egress->schedule);
  if (next_ns != LS_NEVER)
    next_ns = retry_ns != LS_NEVER ? retry_ns : next_ns - lead_ns;
  ls__loop_at(egress->loop, &egress->task, next_ns);
}

uint32_t ls__egress_waiting(const struct ls__egress *egress) {
  return ls__schedule_count(&egress->schedule);
}

uint64_t ls__egress_refused(const struct ls__egress *egress, int *last_errno) {
  struct ls__backend_errors errors;
  egress->backend.ops->reap(egress->backend.self, &errors);
  *last_errno = errors.last_errno;
  return errors.refused;
}
