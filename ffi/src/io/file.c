#include "io/file.h"

#include "base/assert.h"
#include "io/thread.h"
#include "lockstep.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
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

/* Waits until the reactor says something. False when the thread is to end at once. */
static bool wait_for_reactor(struct ls__file *file) {
  struct pollfd woken = {.fd = file->wake_thread, .events = POLLIN};
  if (poll(&woken, 1, -1) > 0)
    clear_fd(file->wake_thread);
  return !atomic_load(&file->abandon);
}

/* Waits until the file is ready for `events`, or has failed. False when the thread is to end at
 * once. */
static bool wait_for_file(struct ls__file *file, short events) {
  for (;;) {
    struct pollfd fds[2] = {{.fd = file->wake_thread, .events = POLLIN},
                            {.fd = file->fd, .events = events}};
    if (poll(fds, 2, -1) <= 0)
      continue;
    if (fds[0].revents)
      clear_fd(file->wake_thread);
    if (atomic_load(&file->abandon))
      return false;
    if (fds[1].revents)
      return true;
  }
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
      atomic_exchange(&file->waits, true);
      if (!full(file))
        break;
      signal_fd(file->source.fd);
      if (!wait_for_reactor(file))
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
    if (!wait_for_file(file, POLLIN))
      return NULL;
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

/* A disk takes any number of bytes. A write to a pipe may sleep for ever unless it is asked first
 * and brings at most PIPE_BUF bytes; a flag on the descriptor would say the same, but standard
 * output is shared with programs that do not expect it. */
static bool is_stream(int fd) {
  struct stat info;
  if (fstat(fd, &info) < 0)
    return false;
  return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || isatty(fd);
}

/* 0; an errno; -1 when the thread is to end at once. */
static int write_all(struct ls__file *file, const uint8_t *data, uint32_t len, bool stream) {
  while (len > 0) {
    if (stream && !wait_for_file(file, POLLOUT))
      return -1;
    ssize_t put = write(file->fd, data, stream && len > PIPE_BUF ? PIPE_BUF : len);
    if (put < 0 && errno == EAGAIN && !wait_for_file(file, POLLOUT))
      return -1;
    if (put < 0 && errno != EAGAIN && errno != EINTR)
      return errno;
    if (put > 0) {
      data += put;
      len -= (uint32_t)put;
      atomic_fetch_add(&file->bytes, (uint64_t)put);
    }
  }
  return 0;
}

static void *write_thread(void *self) {
  struct ls__file *file = self;
  uint8_t buffer[LS__FILE_CHUNK];
  bool stream = is_stream(file->fd);
  for (;;) {
    uint32_t len = ls__ring_read(&file->ring, buffer, sizeof buffer);
    if (len > 0) {
      int error = write_all(file, buffer, len, stream);
      if (error > 0)
        finish(file, error);
      if (error != 0)
        return NULL;
      continue;
    }
    /* As in pass_on: say that we wait, then look again. What was put before the stop is seen by
     * whoever has seen the stop. */
    atomic_exchange(&file->waits, true);
    bool stop = atomic_load(&file->stop);
    if (!ls__ring_empty(&file->ring))
      continue;
    if (stop) {
      finish(file, 0);
      return NULL;
    }
    if (!wait_for_reactor(file))
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
  if (!file->running) {
    ls__file_leave(file);
    ls__file_join(file);
  }
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
  if (len > 0 && atomic_exchange(&file->waits, false))
    signal_fd(file->wake_thread);
  return len;
}

bool ls__file_drained(const struct ls__file *file) {
  return atomic_load(&file->ended) && ls__ring_empty(&file->ring);
}

bool ls__file_put(struct ls__file *file, const uint8_t *data, uint32_t len) {
  bool done = ls__ring_write(&file->ring, data, len);
  if (atomic_exchange(&file->waits, false))
    signal_fd(file->wake_thread);
  return done;
}

void ls__file_finish(struct ls__file *file) {
  atomic_store(&file->stop, true);
  signal_fd(file->wake_thread);
}

void ls__file_leave(struct ls__file *file) {
  if (!file->started || file->left)
    return;
  file->left = true;
  atomic_store(&file->abandon, true);
  if (file->running)
    signal_fd(file->wake_thread);
  if (file->source.fd >= 0)
    ls__loop_unwatch(file->loop, &file->source);
}

void ls__file_join(struct ls__file *file) {
  if (!file->started)
    return;
  LS_ASSERT(file->left);
  if (file->running)
    pthread_join(file->thread, NULL);
  if (file->source.fd >= 0)
    close(file->source.fd);
  if (file->wake_thread >= 0)
    close(file->wake_thread);
  if (file->owned)
    close(file->fd);
  ls__ring_free(&file->ring);
  file->started = false;
}
