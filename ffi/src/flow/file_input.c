/* Files and standard input or output as endpoints of a flow.
 *
 * An input has a source of payloads, each with a departure offset: a clip that is looped, a
 * transport stream timed by its PCRs, bytes at a constant rate, or bytes as fast as the outputs
 * take them (offset 0). */
#include "base/time.h"
#include "flow/flow.h"
#include "flow/ts_reader.h"
#include "io/clock.h"
#include "io/file.h"
#include "media/loop.h"
#include "media/marker.h"
#include "srt/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time until an output without room is asked again. */
#define ROOM_RETRY_NS (2 * LS_MS)
/* Payloads delivered before other work gets its turn. */
#define DELIVERIES_MAX 64

enum { PACE_ASAP, PACE_PCR, PACE_RATE };

struct file_input {
  struct ls__endpoint endpoint;
  char path[1024];
  int64_t fd_option, rate_bps, payload_size;
  int pace;
  bool loop_clip, marker;
  uint8_t *clip;
  size_t clip_len;
  struct ls__ts_loop *loop;
  struct ls__marker_writer writer;
  struct ls__ts_reader reader;
  int opened; /* by prepare, for start; -1 none */
  struct ls__file file;
  struct ls__task task;
  uint8_t payload[LS_PAYLOAD_MAX];
  size_t payload_len;
  bool payload_whole; /* it waits for its time; else it waits for more bytes */
  int64_t payload_at_ns;
  int64_t zero_ns; /* when offset 0 leaves; LS_NEVER before the first */
  bool starved;    /* the source had nothing when it was asked */
  uint64_t taken_bytes;
  bool open, stopped;
};

#define INPUT(field) offsetof(struct file_input, field)
static const struct ls__option input_options[] = {
    {"path", LS__OPTION_TEXT, INPUT(path), 0, 1023, NULL},
    {"fd", LS__OPTION_INT, INPUT(fd_option), 0, 1 << 20, NULL},
    {"pace", LS__OPTION_ENUM, INPUT(pace), 0, 2, "asap pcr rate"},
    {"rate_bps", LS__OPTION_INT, INPUT(rate_bps), 1000, INT64_C(100000000000), NULL},
    {"loop", LS__OPTION_BOOL, INPUT(loop_clip), 0, 1, NULL},
    {"marker", LS__OPTION_BOOL, INPUT(marker), 0, 1, NULL},
    {"payload_size", LS__OPTION_INT, INPUT(payload_size), 188, LS_PAYLOAD_MAX, NULL},
};

static int read_clip(struct file_input *input, char *err, uint32_t err_len) {
  struct stat info;
  /* Without O_NONBLOCK the open of a named pipe waits for somebody to write to it. */
  int fd = open(input->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot read the clip '%s': %s", input->path,
                    strerror(errno));
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  FILE *file = regular ? fdopen(fd, "rb") : NULL;
  if (!file) {
    close(fd);
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot read the clip '%s': %s", input->path,
                    regular ? "out of memory" : "a looped clip must be a regular file");
  }
  input->clip_len = info.st_size > 0 && info.st_size <= LS_LOOP_CLIP_MAX ? (size_t)info.st_size : 0;
  input->clip = input->clip_len ? malloc(input->clip_len) : NULL;
  bool whole = input->clip && fread(input->clip, 1, input->clip_len, file) == input->clip_len;
  fclose(file);
  return whole ? 0
               : ls__fail(LS_ESYSTEM, err, err_len,
                          "cannot read the clip '%s': it must have 1 to %u bytes", input->path,
                          LS_LOOP_CLIP_MAX);
}

static int open_path(const char *path, char *err, uint32_t err_len) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  return fd >= 0
             ? fd
             : ls__fail(LS_ESYSTEM, err, err_len, "cannot open '%s': %s", path, strerror(errno));
}

/* Waits for an earlier thread and gives back what was prepared (API thread). */
static void input_release(struct ls__endpoint *endpoint) {
  struct file_input *input = (struct file_input *)endpoint;
  ls__file_join(&input->file);
  if (input->opened >= 0)
    close(input->opened);
  input->opened = -1;
  free(input->clip);
  free(input->loop);
  ls__ts_reader_free(&input->reader);
  input->clip = NULL;
  input->loop = NULL;
}

/* A disk may take its time to open a file: not on the reactor's thread. */
static int prepare_reading(struct file_input *input, char *err, uint32_t err_len) {
  int result = input->pace == PACE_PCR ? ls__ts_reader_init(&input->reader, input->rate_bps) : 0;
  if (result < 0)
    return ls__fail(result, err, err_len, "out of memory");
  if (!input->path[0])
    return 0;
  int fd = open_path(input->path, err, err_len);
  if (fd < 0)
    return fd;
  input->opened = fd;
  return 0;
}

static int input_prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  struct file_input *input = (struct file_input *)endpoint;
  input_release(endpoint);
  if (!input->path[0] && input->fd_option < 0)
    return ls__fail(LS_EINVAL, err, err_len, "a file input needs path or fd");
  if (input->marker && !input->loop_clip)
    return ls__fail(LS_EINVAL, err, err_len, "marker: works with loop only");
  if (input->pace == PACE_RATE && input->rate_bps == 0)
    return ls__fail(LS_EINVAL, err, err_len, "pace: rate needs rate_bps");
  if (!input->loop_clip)
    return prepare_reading(input, err, err_len);
  if (!input->path[0] || input->pace != PACE_PCR || input->rate_bps == 0)
    return ls__fail(LS_EINVAL, err, err_len, "loop: needs path, pace=pcr and rate_bps");
  int result = read_clip(input, err, err_len);
  if (result < 0)
    return result;
  input->loop = malloc(sizeof *input->loop);
  if (!input->loop)
    return ls__fail(LS_ENOMEM, err, err_len, "out of memory");
  return ls__ts_loop_init(input->loop, input->clip, input->clip_len, input->rate_bps, err, err_len);
}

/* Whole TS packets in each payload. */
static size_t ts_payload(const struct file_input *input) {
  return (size_t)input->payload_size / LS_TS_SIZE * LS_TS_SIZE;
}

static bool next_loop(struct file_input *input) {
  size_t size = ts_payload(input);
  for (; input->payload_len < size; input->payload_len += LS_TS_SIZE) {
    uint8_t *packet = input->payload + input->payload_len;
    int64_t at_ns;
    ls__ts_loop_next(input->loop, packet, &at_ns);
    if (input->payload_len == 0)
      input->payload_at_ns = at_ns;
    if (input->marker)
      ls__marker_write(&input->writer, packet, input->zero_ns + input->payload_at_ns);
  }
  return true;
}

static void fail(struct file_input *input, const char *reason, int64_t now_ns) {
  struct ls__flow *flow = input->endpoint.flow;
  input->endpoint.stats.errors++;
  ls__object_event(&flow->object, LS_EVENT_WARNING, 0, input->endpoint.index, "'%s': %s",
                   input->path[0] ? input->path : "standard input", reason);
  ls__flow_drain(flow, "the input failed", now_ns);
}

static bool feed_reader(struct file_input *input, int64_t now_ns) {
  uint8_t bytes[LS__FILE_CHUNK];
  uint32_t len;
  int result = 0;
  while (result == 0 && ls__ts_reader_hungry(&input->reader) &&
         (len = ls__file_take(&input->file, bytes)) > 0)
    result = ls__ts_reader_feed(&input->reader, bytes, len);
  if (result == 0 && !input->reader.ended && ls__file_drained(&input->file))
    result = ls__ts_reader_end(&input->reader);
  if (result < 0)
    fail(input, "no PCR in this stream to pace it by: give its rate, or pace=rate with one",
         now_ns);
  return result == 0;
}

static bool next_pcr(struct file_input *input, int64_t now_ns) {
  size_t size = ts_payload(input);
  while (input->payload_len < size) {
    int64_t at_ns;
    if (!ls__ts_reader_next(&input->reader, input->payload + input->payload_len, &at_ns)) {
      if (!feed_reader(input, now_ns) || input->reader.taken == input->reader.timed)
        break;
      continue;
    }
    if (input->payload_len == 0)
      input->payload_at_ns = at_ns;
    input->payload_len += LS_TS_SIZE;
  }
  bool last = input->reader.ended && input->reader.taken == input->reader.timed;
  return input->payload_len == size || (last && input->payload_len > 0);
}

static bool next_bytes(struct file_input *input) {
  uint32_t len = ls__file_take(&input->file, input->payload);
  if (len == 0)
    return false;
  input->payload_len = len;
  input->payload_at_ns =
      input->pace == PACE_RATE
          ? (int64_t)((unsigned __int128)input->taken_bytes * 8 * LS_S / (uint64_t)input->rate_bps)
          : 0;
  input->taken_bytes += len;
  return true;
}

/* Makes the next payload; false when there is none now. */
static bool next_payload(struct file_input *input, int64_t now_ns) {
  if (input->loop)
    return next_loop(input);
  return input->pace == PACE_PCR ? next_pcr(input, now_ns) : next_bytes(input);
}

static bool exhausted(const struct file_input *input) {
  if (input->loop || !ls__file_drained(&input->file) || input->payload_len > 0)
    return false;
  return input->pace != PACE_PCR ||
         (input->reader.ended && input->reader.taken == input->reader.timed);
}

/* A source that had nothing when it was due goes on at its pace from now: what comes later than its
 * time would be late for ever, and dropped by whoever plays it out. */
static void keep_pace(struct file_input *input, int64_t now_ns) {
  int64_t behind_ns = now_ns - (input->zero_ns + input->payload_at_ns);
  if (input->starved && behind_ns > 0)
    input->zero_ns += behind_ns;
  input->starved = false;
}

/* A source that can wait begins when every output is ready, and one without pace waits for room. */
static bool may_deliver(const struct file_input *input) {
  bool waits = input->pace == PACE_ASAP || input->zero_ns == LS_NEVER;
  return !waits || ls__flow_has_room(input->endpoint.flow);
}

static void end_of_input(struct file_input *input, int64_t now_ns) {
  int error = atomic_load(&input->file.error);
  if (error)
    fail(input, strerror(error), now_ns);
  else
    ls__flow_drain(input->endpoint.flow, "end of the input", now_ns);
}

static void run(void *self, int64_t now_ns) {
  struct file_input *input = self;
  struct ls__flow *flow = input->endpoint.flow;
  struct ls__loop *loop = ls__flow_loop(flow);
  int64_t again_ns = now_ns;
  for (int i = 0; !input->stopped; i++) {
    again_ns = now_ns;
    if (i == DELIVERIES_MAX)
      break;
    again_ns = now_ns + ROOM_RETRY_NS;
    if (!may_deliver(input))
      break;
    if (input->zero_ns == LS_NEVER)
      input->zero_ns = now_ns;
    again_ns = LS_NEVER; /* until the reader says that there is more */
    if (!input->payload_whole && !(input->payload_whole = next_payload(input, now_ns))) {
      input->starved = true;
      break;
    }
    keep_pace(input, now_ns);
    int64_t at_ns = input->pace == PACE_ASAP ? now_ns : input->zero_ns + input->payload_at_ns;
    again_ns = at_ns;
    if (at_ns > now_ns)
      break;
    ls__flow_deliver(flow, input->payload, input->payload_len, at_ns, now_ns);
    input->payload_len = 0;
    input->payload_whole = false;
  }
  ls__flow_flush(flow, now_ns);
  if (input->stopped)
    return;
  ls__loop_at(loop, &input->task, again_ns);
  if (exhausted(input))
    end_of_input(input, now_ns);
}

static void file_ready(void *self, int64_t now_ns) {
  run(self, now_ns);
}

/* The open of a named pipe would wait for its writer, and the thread of all flows with it. */
static int input_start(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len) {
  struct file_input *input = (struct file_input *)endpoint;
  struct ls__loop *loop = ls__flow_loop(endpoint->flow);
  input->task = (struct ls__task){.run = run, .self = input};
  input->zero_ns = LS_NEVER;
  input->payload_len = 0;
  input->taken_bytes = 0;
  input->payload_whole = input->stopped = false;
  input->starved = true;
  ls__marker_writer_init(&input->writer, ls__random_id(UINT32_MAX));
  if (!input->loop) {
    bool owned = input->opened >= 0;
    int fd = owned ? input->opened : (int)input->fd_option;
    input->opened = -1; /* the file's own from here on */
    uint32_t chunk = (uint32_t)input->payload_size;
    int result = ls__file_read(&input->file, loop, fd, owned, chunk, file_ready, input);
    if (result < 0)
      return ls__fail(result, err, err_len, "cannot start reading");
  }
  input->open = true;
  ls__loop_at(loop, &input->task, now_ns);
  return 0;
}

static void input_stop(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct file_input *input = (struct file_input *)endpoint;
  (void)now_ns;
  input->stopped = true;
  ls__loop_at(ls__flow_loop(endpoint->flow), &input->task, LS_NEVER);
}

static bool always(const struct ls__endpoint *endpoint) {
  (void)endpoint;
  return true;
}

static void input_shut(struct ls__endpoint *endpoint) {
  struct file_input *input = (struct file_input *)endpoint;
  if (!input->open)
    return;
  input_stop(endpoint, 0);
  ls__file_leave(&input->file);
  input->open = false;
}

static void input_gauges(struct ls__endpoint *endpoint, int64_t now_ns) {
  (void)now_ns;
  endpoint->stats.skipped_bytes = ((struct file_input *)endpoint)->reader.skipped_bytes;
}

static void input_destroy(struct ls__endpoint *endpoint) {
  input_release(endpoint);
  free(endpoint);
}

struct ls__endpoint *ls__file_input_new(void) {
  static const struct ls__endpoint_ops ops = {.options = input_options,
                                              .option_count =
                                                  sizeof input_options / sizeof *input_options,
                                              .prepare = input_prepare,
                                              .start = input_start,
                                              .stop = input_stop,
                                              .ended = always,
                                              .shut = input_shut,
                                              .release = input_release,
                                              .gauges = input_gauges,
                                              .destroy = input_destroy};
  struct file_input *input = calloc(1, sizeof *input);
  if (!input)
    return NULL;
  input->endpoint.ops = &ops;
  input->fd_option = input->opened = -1;
  input->payload_size = 1316;
  return &input->endpoint;
}
