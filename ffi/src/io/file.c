#include "io/file.h"

#include "base/assert.h"
#include "io/thread.h"
#include "lockstep.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void signal_fd(int fd) {
  uint64_t one = 1;
  ssize_t done = write(fd, &one, sizeof one);
  LS_ASSERT(done == sizeof one || errno == EAGAIN);
}

static void clear_fd(int fd) {
  uint64_t value;
  ssize_t done = read(fd, &value, sizeof value);
  LS_ASSERT(done == sizeof value || errno == EAGAIN);
}

static void finish(struct ls__file *file, int error) {
  atomic_store(&file->error, error);
  atomic_store(&file->ended, true);
  signal_fd(file->source.fd);
}

/* Waits for the reactor, or for `fd` to be ready for `events` (-1: only the reactor). False when
 * the thread is to end at once. */
static bool wait_for(struct ls__file *file, int fd, short events) {
  struct pollfd fds[2] = {{.fd = file->wake_thread, .events = POLLIN},
                          {.fd = fd, .events = events}};
  if (poll(fds, 2, -1) > 0 && fds[0].revents)
    clear_fd(file->wake_thread);
  return !atomic_load(&file->abandon);
}

static bool full(const struct ls__file *file) {
  return ls__ring_space(&file->ring) < file->chunk + sizeof(uint32_t);
}

/* Passes whole records of `chunk` bytes on, at the end the rest too; what is left in `buffer`, or
 * a negative number when the thread is to end. */
static int64_t pass_on(struct ls__file *file, uint8_t *buffer, uint32_t filled, bool last) {
  uint32_t at = 0;
  while (filled - at >= file->chunk || (last && filled > at)) {
    uint32_t len = filled - at < file->chunk ? filled - at : file->chunk;
    while (full(file)) {
      /* Say that we wait, then look again: room that was made in between is not overlooked. */
      atomic_exchange(&file->wants_room, true);
      if (!full(file))
        break;
      signal_fd(file->source.fd);
      if (!wait_for(file, -1, 0))
        return -1;
    }
    LS_ASSERT(ls__ring_write(&file->ring, buffer + at, len));
    atomic_fetch_add(&file->bytes, len);
    at += len;
  }
  if (at > 0)
    signal_fd(file->source.fd);
  memmove(buffer, buffer + at, filled - at);
  return filled - at;
}

static void *read_thread(void *self) {
  struct ls__file *file = self;
  uint8_t buffer[2 * LS__FILE_CHUNK];
  int64_t filled = 0;
  for (;;) {
    if (!wait_for(file, file->fd, POLLIN))
      return NULL;
    struct pollfd ready = {.fd = file->fd, .events = POLLIN};
    if (poll(&ready, 1, 0) <= 0)
      continue; /* it was the reactor that woke us */
    ssize_t got = read(file->fd, buffer + filled, sizeof buffer - (size_t)filled);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    int error = got < 0 ? errno : 0;
    filled = pass_on(file, buffer, (uint32_t)(filled + (got > 0 ? got : 0)), got <= 0);
    if (filled < 0)
      return NULL;
    if (got <= 0) {
      finish(file, error);
      return NULL;
    }
  }
}

static bool write_all(struct ls__file *file, const uint8_t *data, uint32_t len) {
  while (len > 0) {
    ssize_t put = write(file->fd, data, len);
    if (put > 0) {
      data += put;
      len -= (uint32_t)put;
      atomic_fetch_add(&file->bytes, (uint64_t)put);
    } else if (errno == EAGAIN) {
      if (!wait_for(file, file->fd, POLLOUT))
        return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

static void *write_thread(void *self) {
  struct ls__file *file = self;
  uint8_t buffer[LS__FILE_CHUNK];
  for (;;) {
    uint32_t len = ls__ring_read(&file->ring, buffer, sizeof buffer);
    if (len > 0) {
      if (!write_all(file, buffer, len)) {
        finish(file, errno);
        return NULL;
      }
      continue;
    }
    if (atomic_load(&file->stop) && ls__ring_empty(&file->ring)) {
      finish(file, 0);
      return NULL;
    }
    if (!wait_for(file, -1, 0))
      return NULL;
  }
}

static void source_ready(void *self, int64_t now_ns);

static int start(struct ls__file *file, struct ls__loop *loop, int fd, bool owned,
                 void (*ready)(void *self, int64_t now_ns), void *self) {
  file->loop = loop;
  file->fd = fd;
  file->owned = owned;
  file->wake_thread = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  file->source = (struct ls__source){
      .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .ready = source_ready, .self = file};
  file->ready = ready;
  file->ready_self = self;
  file->started = true;
  int result = file->wake_thread < 0 || file->source.fd < 0 ? LS_ESYSTEM : 0;
  if (result == 0)
    result = ls__ring_init(&file->ring, LS__FILE_RING);
  if (result == 0)
    result = ls__loop_watch(loop, &file->source);
  file->running =
      result == 0 &&
      ls__thread_start(&file->thread, file->reading ? read_thread : write_thread, file) == 0;
  if (!file->running)
    ls__file_close(file);
  return result < 0 ? result : file->running ? 0 : LS_ESYSTEM;
}

static void source_ready(void *self, int64_t now_ns) {
  struct ls__file *file = self;
  clear_fd(file->source.fd);
  file->ready(file->ready_self, now_ns);
}

int ls__file_read(struct ls__file *file, struct ls__loop *loop, int fd, bool owned, uint32_t chunk,
                  void (*ready)(void *self, int64_t now_ns), void *self) {
  LS_ASSERT(chunk > 0 && chunk <= LS__FILE_CHUNK);
  memset(file, 0, sizeof *file);
  file->reading = true;
  file->chunk = chunk;
  return start(file, loop, fd, owned, ready, self);
}

int ls__file_write(struct ls__file *file, struct ls__loop *loop, int fd, bool owned,
                   void (*ready)(void *self, int64_t now_ns), void *self) {
  memset(file, 0, sizeof *file);
  return start(file, loop, fd, owned, ready, self);
}

uint32_t ls__file_take(struct ls__file *file, uint8_t *out) {
  uint32_t len = ls__ring_read(&file->ring, out, file->chunk);
  if (len > 0 && atomic_exchange(&file->wants_room, false))
    signal_fd(file->wake_thread);
  return len;
}

bool ls__file_drained(const struct ls__file *file) {
  return atomic_load(&file->ended) && ls__ring_empty(&file->ring);
}

bool ls__file_put(struct ls__file *file, const uint8_t *data, uint32_t len) {
  bool done = ls__ring_write(&file->ring, data, len);
  signal_fd(file->wake_thread);
  return done;
}

void ls__file_finish(struct ls__file *file) {
  atomic_store(&file->stop, true);
  signal_fd(file->wake_thread);
}

void ls__file_close(struct ls__file *file) {
  if (!file->started)
    return;
  atomic_store(&file->abandon, true);
  if (file->running) {
    signal_fd(file->wake_thread);
    pthread_join(file->thread, NULL);
  }
  if (file->source.fd >= 0) {
    ls__loop_unwatch(file->loop, &file->source);
    close(file->source.fd);
  }
  if (file->wake_thread >= 0)
    close(file->wake_thread);
  if (file->owned)
    close(file->fd);
  ls__ring_free(&file->ring);
  file->started = false;
}
