#include "pace/schedule.h"

#include "base/assert.h"
#include "base/time.h"
#include "lockstep.h"

#include <stddef.h>

_Static_assert(offsetof(struct ls__departure, node) == 0, "a node is its departure");

/* Payloads begin on cache lines of their own. */
#define PAYLOAD_ALIGN 64u

static void give_back(struct ls__schedule *schedule, struct ls__departure *departure) {
  departure->state = LS_SLOT_FREE;
  schedule->free[schedule->free_count++] = departure;
}

int ls__schedule_init(struct ls__schedule *schedule, const struct ls__schedule_config *config) {
  LS_ASSERT(config->slots > 0 && config->slots <= LS_SCHEDULE_SLOTS_MAX);
  LS_ASSERT(config->slot_bytes > 0 && config->slot_bytes <= LS_SCHEDULE_BYTES_MAX);
  LS_ASSERT(config->late_ns >= 0);
  *schedule = (struct ls__schedule){.config = *config};
  uint32_t slots = config->slots;
  size_t stride = (config->slot_bytes + PAYLOAD_ALIGN - 1) & ~(size_t)(PAYLOAD_ALIGN - 1);
  schedule->departures = calloc(slots, sizeof *schedule->departures);
  schedule->free = calloc(slots, sizeof *schedule->free);
  schedule->bytes = aligned_alloc(PAYLOAD_ALIGN, slots * stride);
  if (!schedule->departures || !schedule->free || !schedule->bytes ||
      ls__heap_init(&schedule->heap, slots)) {
    ls__schedule_free(schedule);
    return LS_ENOMEM;
  }
  for (uint32_t i = slots; i-- > 0;) {
    schedule->departures[i].payload = schedule->bytes + i * stride;
    give_back(schedule, &schedule->departures[i]);
  }
  return 0;
}

void ls__schedule_free(struct ls__schedule *schedule) {
  ls__heap_free(&schedule->heap);
  free(schedule->bytes);
  free(schedule->free);
  free(schedule->departures);
  *schedule = (struct ls__schedule){0};
}

struct ls__departure *ls__schedule_reserve(struct ls__schedule *schedule) {
  if (!schedule->free_count) {
    schedule->full++;
    return NULL;
  }
  struct ls__departure *departure = schedule->free[--schedule->free_count];
  LS_ASSERT(departure->state == LS_SLOT_FREE);
  *departure = (struct ls__departure){.payload = departure->payload, .state = LS_SLOT_RESERVED};
  return departure;
}

void ls__schedule_commit(struct ls__schedule *schedule, struct ls__departure *departure,
                         int64_t at_ns) {
  LS_ASSERT(departure->state == LS_SLOT_RESERVED && at_ns != LS_NEVER);
  LS_ASSERT(departure->length <= schedule->config.slot_bytes);
  departure->state = LS_SLOT_QUEUED;
  bool fits = ls__heap_set(&schedule->heap, &departure->node, at_ns);
  LS_ASSERT(fits);
}

void ls__schedule_abandon(struct ls__schedule *schedule, struct ls__departure *departure) {
  LS_ASSERT(departure->state == LS_SLOT_RESERVED);
  give_back(schedule, departure);
}

int64_t ls__schedule_first(const struct ls__schedule *schedule) {
  const struct ls__heap_node *node = ls__heap_first(&schedule->heap);
  return node ? node->at_ns : LS_NEVER;
}

/* Whether a departure is so late that it is dropped; counts it, once, when it is late. */
static bool drops_late(struct ls__schedule *schedule, struct ls__departure *departure,
                       int64_t now_ns) {
  int64_t at_ns = departure->node.at_ns, age_ns;
  if (__builtin_sub_overflow(now_ns, at_ns, &age_ns))
    age_ns = now_ns > at_ns ? INT64_MAX : INT64_MIN;
  if (age_ns <= schedule->config.late_ns)
    return false;
  bool drops = schedule->config.late == LS_LATE_DROP;
  schedule->late_dropped += drops;
  schedule->late_sent += !drops && !departure->late;
  departure->late = true;
  return drops;
}

unsigned ls__schedule_pop(struct ls__schedule *schedule, int64_t due_ns, int64_t now_ns,
                          struct ls__departure *batch[LS_BATCH]) {
  unsigned count = 0;
  while (count < LS_BATCH && ls__schedule_first(schedule) <= due_ns && schedule->heap.count) {
    struct ls__departure *departure = (struct ls__departure *)ls__heap_first(&schedule->heap);
    LS_ASSERT(departure->state == LS_SLOT_QUEUED);
    ls__heap_remove(&schedule->heap, &departure->node);
    if (drops_late(schedule, departure, now_ns)) {
      give_back(schedule, departure);
      continue;
    }
    departure->state = LS_SLOT_POPPED;
    batch[count++] = departure;
  }
  return count;
}

void ls__schedule_release(struct ls__schedule *schedule, struct ls__departure *departure) {
  LS_ASSERT(departure->state == LS_SLOT_POPPED);
  give_back(schedule, departure);
}

void ls__schedule_restore(struct ls__schedule *schedule, struct ls__departure *departure) {
  LS_ASSERT(departure->state == LS_SLOT_POPPED);
  departure->state = LS_SLOT_QUEUED;
  bool fits = ls__heap_restore(&schedule->heap, &departure->node);
  LS_ASSERT(fits);
}
