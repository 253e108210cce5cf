/* A file or standard output as an output of a flow. */
#include "flow/flow.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file_output {
  struct ls__endpoint endpoint;
  char path[1024];
  int64_t fd_option;
  bool append;
  int opened; /* by prepare, for start; -1 none */
  struct ls__file file;
  bool open, finishing, warned;
  bool written; /* the writer's end has been seen, and its error reported */
};

#define OUTPUT(field) offsetof(struct file_output, field)
static const struct ls__option options[] = {
    {"path", LS__OPTION_TEXT, OUTPUT(path), 0, 1023, NULL},
    {"fd", LS__OPTION_INT, OUTPUT(fd_option), 0, 1 << 20, NULL},
    {"append", LS__OPTION_BOOL, OUTPUT(append), 0, 1, NULL},
};

/* The writer has ended: all is written, or the system refused. */
static void ended(void *self, int64_t now_ns) {
  struct file_output *output = self;
  struct ls__flow *flow = output->endpoint.flow;
  int error = atomic_load(&output->file.error);
  output->written = atomic_load(&output->file.ended);
  if (error && !output->warned) {
    output->warned = true;
    output->endpoint.stats.errors++;
    ls__object_event(&flow->object, LS_EVENT_WARNING, error, output->endpoint.index,
                     "cannot write to '%s': %s", output->path[0] ? output->path : "standard output",
                     strerror(error));
    if (flow->output_count == 1) /* nothing is left to do for anyone */
      ls__flow_drain(flow, "the output failed", now_ns);
  }
  ls__flow_check(flow, now_ns);
}

/* The open of a named pipe would wait for its reader, and the thread of all flows with it. */
static int open_path(const struct file_output *output, char *err, uint32_t err_len) {
  int how = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (output->append ? O_APPEND : O_TRUNC);
  int fd = open(output->path, how, 0644);
  if (fd >= 0)
    return fd;
  if (errno == ENXIO)
    return ls__fail(LS_ESYSTEM, err, err_len, "nobody reads the pipe '%s': start its reader first",
                    output->path);
  return ls__fail(LS_ESYSTEM, err, err_len, "cannot write to '%s': %s", output->path,
                  strerror(errno));
}

/* Waits for an earlier thread and closes what was opened in vain (API thread). */
static void release(struct ls__endpoint *endpoint) {
  struct file_output *output = (struct file_output *)endpoint;
  ls__file_join(&output->file);
  if (output->opened >= 0)
    close(output->opened);
  output->opened = -1;
}

/* A disk may take its time to open a file: not on the reactor's thread. */
static int prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  struct file_output *output = (struct file_output *)endpoint;
  release(endpoint);
  if (!output->path[0] && output->fd_option < 0)
    return ls__fail(LS_EINVAL, err, err_len, "a file output needs path or fd");
  int fd = output->path[0] ? open_path(output, err, err_len) : -1;
  if (output->path[0] && fd < 0)
    return fd;
  output->opened = fd;
  return 0;
}

static int start(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len) {
  struct file_output *output = (struct file_output *)endpoint;
  bool owned = output->opened >= 0;
  int fd = owned ? output->opened : (int)output->fd_option;
  (void)now_ns;
  output->opened = -1; /* the file's own from here on */
  output->finishing = output->warned = output->written = false;
  int result =
      ls__file_write(&output->file, ls__flow_loop(endpoint->flow), fd, owned, ended, output);
  if (result < 0)
    return ls__fail(result, err, err_len, "cannot start writing");
  output->open = true;
  return 0;
}

static void push(struct ls__endpoint *endpoint, const uint8_t *payload, size_t len, int64_t at_ns,
                 int64_t now_ns) {
  struct file_output *output = (struct file_output *)endpoint;
  (void)at_ns;
  (void)now_ns;
  if (atomic_load(&output->file.ended) || !ls__file_put(&output->file, payload, (uint32_t)len)) {
    endpoint->stats.dropped_full++;
    return;
  }
  endpoint->stats.packets++;
  endpoint->stats.bytes += len;
}

static void nothing(struct ls__endpoint *endpoint, int64_t now_ns) {
  (void)endpoint;
  (void)now_ns;
}

static void stop(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct file_output *output = (struct file_output *)endpoint;
  (void)now_ns;
  if (output->finishing)
    return;
  output->finishing = true;
  ls__file_finish(&output->file);
}

static bool has_ended(const struct ls__endpoint *endpoint) {
  const struct file_output *output = (const struct file_output *)endpoint;
  return !output->open || output->written;
}

static void shut(struct ls__endpoint *endpoint) {
  struct file_output *output = (struct file_output *)endpoint;
  if (!output->open)
    return;
  ls__file_leave(&output->file);
  output->open = false;
}

static bool has_room(const struct ls__endpoint *endpoint) {
  const struct file_output *output = (const struct file_output *)endpoint;
  /* One that has failed takes no more, and must not hold up the others. */
  if (atomic_load(&output->file.ended))
    return true;
  return ls__ring_space(&output->file.ring) > LS__FILE_RING / 2;
}

static void destroy(struct ls__endpoint *endpoint) {
  release(endpoint);
  free(endpoint);
}

struct ls__endpoint *ls__file_output_new(void) {
  static const struct ls__endpoint_ops ops = {.options = options,
                                              .option_count = sizeof options / sizeof *options,
                                              .prepare = prepare,
                                              .start = start,
                                              .stop = stop,
                                              .ended = has_ended,
                                              .shut = shut,
                                              .release = release,
                                              .push = push,
                                              .flush = nothing,
                                              .has_room = has_room,
                                              .gauges = nothing,
                                              .destroy = destroy};
  struct file_output *output = calloc(1, sizeof *output);
  if (!output)
    return NULL;
  output->endpoint.ops = &ops;
  output->fd_option = output->opened = -1;
  return &output->endpoint;
}
