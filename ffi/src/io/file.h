/* Files and pipes, each with a thread of its own and a bounded ring to the reactor: a slow disk or
 * a stuck reader of a pipe never holds up the network. */
#ifndef LS__IO_FILE_H
#define LS__IO_FILE_H

#include "base/ring.h"
#include "io/loop.h"

#include <pthread.h>

/* Bytes that wait between thread and reactor. */
#define LS__FILE_RING (4u << 20)
#define LS__FILE_CHUNK 65536u

struct ls__file {
  int fd;
  bool reading, owned; /* owned: close it at the end */
  struct ls__ring ring;
  pthread_t thread;
  bool started, running;    /* running: the thread exists */
  bool left;                /* off the loop */
  int wake_thread;          /* eventfd: the reactor has made room, written, or wants an end */
  struct ls__source source; /* eventfd: the thread has read something, or ended */
  void (*ready)(void *self, int64_t now_ns);
  void *ready_self;
  struct ls__loop *loop;
  _Atomic bool waits;     /* the thread waits for room in the ring, or for something in it */
  _Atomic bool stop;      /* the reactor wants the thread to end after what is queued */
  _Atomic bool abandon;   /* ... or at once */
  _Atomic bool ended;     /* end of file, error, or all written */
  _Atomic int error;      /* errno, 0 = none */
  _Atomic uint64_t bytes; /* read or written */
  uint32_t chunk;         /* bytes of one record that is read */
};

/** Starts reading `fd` in records of up to `chunk` bytes (whole ones but the last); `ready` runs on
 * the loop when there is something to take or the end has come. */
int ls__file_read(struct ls__file *file, struct ls__loop *loop, int fd, bool owned, uint32_t chunk,
                  void (*ready)(void *self, int64_t now_ns), void *self);

/** Starts a writer to `fd`; `ready` runs on the loop when the writer has ended. */
int ls__file_write(struct ls__file *file, struct ls__loop *loop, int fd, bool owned,
                   void (*ready)(void *self, int64_t now_ns), void *self);

/** Reader: the next record into `out` (at least `chunk` bytes); 0 when there is none now. */
uint32_t ls__file_take(struct ls__file *file, uint8_t *out);

/** Reader: whether everything was taken and no more will come. */
bool ls__file_drained(const struct ls__file *file);

/** Writer: queues bytes; false when the ring is full. */
bool ls__file_put(struct ls__file *file, const uint8_t *data, uint32_t len);

/** Writer: no more will be put; `ready` runs when all is written. */
void ls__file_finish(struct ls__file *file);

/** Takes the file off the loop and tells its thread to end (the loop's thread); what is queued is
 * lost. A thread that hangs in a write does not hold up the loop. Works on one never started. */
void ls__file_leave(struct ls__file *file);

/** After ls__file_leave, on a thread that may wait: waits for the file's thread and frees
 * everything. Works on one never started. */
void ls__file_join(struct ls__file *file);

#endif
