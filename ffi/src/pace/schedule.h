/* The departure schedule of one egress: a fixed number of packets, each with the time at which it
 * is due, in order of that time and, among equals, of commitment.
 *
 * A slot goes round: reserve → fill → commit → pop → release. A reserved slot may be abandoned, a
 * popped one that the backend could not take is restored to its old place. Slots are counted, and
 * a wrong step is a programmer error. All memory is taken at the start. */
#ifndef LS__PACE_SCHEDULE_H
#define LS__PACE_SCHEDULE_H

#include "base/addr.h"
#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

/** Most packets that are handed to a backend at once. */
#define LS_BATCH 16

/** Most packets that one schedule may hold. */
#define LS_SCHEDULE_SLOTS_MAX (UINT32_C(1) << 20)

/** Most bytes of one packet: what a UDP datagram can carry. */
#define LS_SCHEDULE_BYTES_MAX 65535

enum ls__slot_state { LS_SLOT_FREE, LS_SLOT_RESERVED, LS_SLOT_QUEUED, LS_SLOT_POPPED };

/* One packet and the time at which it leaves. The owner of a reserved slot writes payload, length,
 * addresses and cookie; the rest belongs to the schedule. */
struct ls__departure {
  struct ls__heap_node node; /* first: a node is its departure. node.at_ns is the departure time */
  uint8_t *payload;          /* slot_bytes long */
  uint32_t length;
  uint32_t state;  /* enum ls__slot_state */
  bool late;       /* popped too late, and counted */
  uint64_t cookie; /* the owner's: which socket, which link */
  struct ls__addr to;
  struct ls__addr from; /* family 0: as the socket is bound */
};

/* What becomes of a packet that is popped more than `late_ns` after its time. Either is counted. */
enum ls__late_policy { LS_LATE_SEND, LS_LATE_DROP };

struct ls__schedule_config {
  uint32_t slots;      /* 1..LS_SCHEDULE_SLOTS_MAX */
  uint32_t slot_bytes; /* 1..LS_SCHEDULE_BYTES_MAX */
  enum ls__late_policy late;
  int64_t late_ns; /* ≥ 0 */
};

struct ls__schedule {
  struct ls__heap heap;
  struct ls__departure *departures;
  struct ls__departure **free; /* a stack: the slot used last is the warmest in the cache */
  uint8_t *bytes;
  uint32_t free_count;
  struct ls__schedule_config config;
  uint64_t full;         /* reservations refused because every slot was in use */
  uint64_t late_sent;    /* popped too late and sent nevertheless */
  uint64_t late_dropped; /* popped too late and dropped */
};

/** 0 or LS_ENOMEM. */
int ls__schedule_init(struct ls__schedule *schedule, const struct ls__schedule_config *config);
void ls__schedule_free(struct ls__schedule *schedule);

/** A free slot with length 0 and no addresses; NULL, counted in `full`, when there is none. */
struct ls__departure *ls__schedule_reserve(struct ls__schedule *schedule);

/** Puts a filled slot into the schedule, to depart at `at_ns` (any time but LS_NEVER; a past one
 * is due at once). */
void ls__schedule_commit(struct ls__schedule *schedule, struct ls__departure *departure,
                         int64_t at_ns);

/** Gives a reserved slot back unused. */
void ls__schedule_abandon(struct ls__schedule *schedule, struct ls__departure *departure);

/** Time of the first departure, LS_NEVER when there is none. */
int64_t ls__schedule_first(const struct ls__schedule *schedule);

/** Takes out up to LS_BATCH departures due at or before `due_ns`, in order, into `batch`; how
 * many. `due_ns` is the time now plus the backend's lead; `now_ns` judges what is too late. What
 * the late policy drops is not in the batch and its slot is free again. */
unsigned ls__schedule_pop(struct ls__schedule *schedule, int64_t due_ns, int64_t now_ns,
                          struct ls__departure *batch[LS_BATCH]);

/** Frees the slot of a popped departure that the backend has taken. */
void ls__schedule_release(struct ls__schedule *schedule, struct ls__departure *departure);

/** Puts a popped departure back at its old time and place, to be popped again. */
void ls__schedule_restore(struct ls__schedule *schedule, struct ls__departure *departure);

/** Departures that wait. */
static inline uint32_t ls__schedule_count(const struct ls__schedule *schedule) {
  return schedule->heap.count;
}

#endif
