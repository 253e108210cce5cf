/* What an engine owns: flows and relays. Each belongs to one reactor thread from its start on; an
 * API thread reaches it only through commands that the reactor carries out. */
#ifndef LS__FLOW_OBJECT_H
#define LS__FLOW_OBJECT_H

#include "base/ring.h"
#include "base/seqlock.h"
#include "io/loop.h"
#include "lockstep.h"

#include <stdbool.h>

#define LS__EVENT_RING (256u << 10)
#define LS__PUBLISH_NS INT64_C(50000000)

struct ls__mux;
struct ls__object;

/* One reactor thread: its loop, what lives on it, and the way out for events. */
struct ls__reactor {
  struct ls__loop loop;
  struct ls__engine *engine;
  struct ls__object *objects; /* started ones, linked by `next` */
  struct ls__mux *muxes;
  struct ls__task publish;
  struct ls__ring events;
  uint64_t events_lost, events_lost_told;
  uint64_t packets_unknown; /* of all its multiplexers, closed ones too */
  uint8_t cookie_key[16];
  bool configured; /* the engine's options have taken effect */
};

struct ls__object_ops {
  /** Sets an option before the start (API thread). 0, LS_EOPTION, LS_EINVAL, LS_EINDEX. */
  int (*option)(struct ls__object *object, int32_t index, const char *name, const char *value,
                char *err, uint32_t err_len);
  /** Allocates what the options ask for, before the reactor is asked (API thread); may fail, and
   * `destroy` follows in any case. */
  int (*prepare)(struct ls__object *object, char *err, uint32_t err_len);
  /** Opens sockets and files and starts (reactor thread). On failure everything is closed. */
  int (*start)(struct ls__object *object, int64_t now_ns, char *err, uint32_t err_len);
  /** Begins a graceful end (reactor thread); ls__object_ended follows, now or later. */
  void (*stop)(struct ls__object *object, int64_t now_ns);
  /** Closes everything at once (reactor thread); also after an end. */
  void (*shut)(struct ls__object *object);
  /** Gives back what takes its time, such as a thread that hangs on a disk (API thread, after
   * `shut` or a failed start; NULL: nothing). */
  void (*release)(struct ls__object *object);
  /** Publishes statistics (reactor thread). */
  void (*publish)(struct ls__object *object, int64_t now_ns);
  /** Copies statistics (API thread). The number of bytes, LS_EINVAL, LS_EINDEX, LS_ESIZE. */
  int (*statistics)(struct ls__object *object, int32_t scope, int32_t index, void *buf,
                    uint32_t len);
  /** Frees the object (API thread, after `shut`). */
  void (*destroy)(struct ls__object *object);
};

struct ls__object {
  const struct ls__object_ops *ops;
  int64_t handle;
  struct ls__engine *engine;
  struct ls__reactor *reactor; /* NULL before the start */
  struct ls__object *next;
  bool ended; /* reactor thread */
};

/** Emits an event of an object (reactor thread). */
void ls__object_event(struct ls__object *object, enum ls_event_kind kind, int32_t code,
                      int32_t index, const char *format, ...) __attribute__((format(printf, 5, 6)));

/** Reports the end of an object that was asked to stop, or ended by itself (reactor thread). */
void ls__object_ended(struct ls__object *object, const char *reason);

/* Statistics of one scope and index, on their way out. */
#define LS__STATS_WORDS_MAX 64
struct ls__published {
  struct ls__seqlock lock;
  _Atomic uint64_t words[LS__STATS_WORDS_MAX];
};

/** Publishes a statistics struct of `bytes` (a multiple of 8). */
void ls__publish(struct ls__published *published, const void *stats, uint32_t bytes);

/** Copies one out: `bytes`, or LS_ESIZE when `len` differs. */
int ls__published_copy(struct ls__published *published, uint32_t bytes, void *buf, uint32_t len);

#endif
