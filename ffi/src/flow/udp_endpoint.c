/* UDP as input and as output of a flow. */
#include "base/addr_text.h"
#include "flow/flow.h"
#include "io/clock.h"
#include "io/egress.h"
#include "srt/packet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What waits for its time in an output: two seconds of 90 Mbit/s. */
#define OUTPUT_SLOTS 16384
/* Batches read before other work gets its turn. */
#define READS_MAX 8

struct udp_input {
  struct ls__endpoint endpoint;
  struct ls__udp_config socket;
  int64_t payload_size;
  int fd;
  struct ls__source source;
  uint32_t drops;
  bool open;
};

struct udp_output {
  struct ls__endpoint endpoint;
  struct ls__udp_config socket;
  int pace; /* 0 asap, 1 playout, -1 as the input is */
  int fd;
  struct ls__egress egress;
  bool open, stopping, warned, playout;
};

#define INPUT(field) offsetof(struct udp_input, field)
static const struct ls__option input_options[] = {
    {"local", LS__OPTION_ADDR, INPUT(socket.local), 0, 0, NULL},
    {"interface", LS__OPTION_TEXT, INPUT(socket.interface), 0, 15, NULL},
    {"group", LS__OPTION_ADDR, INPUT(socket.group), 0, 0, NULL},
    {"source", LS__OPTION_ADDR, INPUT(socket.source), 0, 0, NULL},
    {"receive_buffer", LS__OPTION_INT, INPUT(socket.receive_buffer), 4096, 1 << 30, NULL},
    {"payload_size", LS__OPTION_INT, INPUT(payload_size), 188, LS_PAYLOAD_MAX, NULL},
};

#define OUTPUT(field) offsetof(struct udp_output, field)
static const struct ls__option output_options[] = {
    {"remote", LS__OPTION_ADDR, OUTPUT(socket.remote), 0, 0, NULL},
    {"local", LS__OPTION_ADDR, OUTPUT(socket.local), 0, 0, NULL},
    {"interface", LS__OPTION_TEXT, OUTPUT(socket.interface), 0, 15, NULL},
    {"ttl", LS__OPTION_INT, OUTPUT(socket.ttl), 1, 255, NULL},
    {"tos", LS__OPTION_INT, OUTPUT(socket.tos), 0, 255, NULL},
    {"send_buffer", LS__OPTION_INT, OUTPUT(socket.send_buffer), 4096, 1 << 30, NULL},
    {"pace", LS__OPTION_ENUM, OUTPUT(pace), 0, 1, "asap playout"},
};

static int input_prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  struct udp_input *input = (struct udp_input *)endpoint;
  if (input->socket.local.family == 0 || input->socket.local.port == 0)
    return ls__fail(LS_EINVAL, err, err_len, "a UDP input needs local, an address with a port");
  return 0;
}

/* Whole TS packets that do not fit into one payload are spread over several. */
static void take(struct udp_input *input, const uint8_t *data, size_t len, int64_t now_ns) {
  size_t size = (size_t)input->payload_size;
  if (len == 0)
    return;
  if (len > size && len % 188 == 0)
    size -= size % 188;
  else if (len <= LS_PAYLOAD_MAX)
    size = len;
  else {
    input->endpoint.stats.dropped_size++;
    return;
  }
  for (size_t at = 0; at < len; at += size)
    ls__flow_deliver(input->endpoint.flow, data + at, len - at < size ? len - at : size, now_ns,
                     now_ns);
}

static void input_ready(void *self, int64_t now_ns) {
  struct udp_input *input = self;
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  struct ls__udp_reader *reader = ls__flow_loop(input->endpoint.flow)->reader;
  unsigned count = LS__UDP_READ;
  for (int reads = 0; reads < READS_MAX && count == LS__UDP_READ; reads++) {
    count = ls__udp_read(input->fd, reader, datagrams, &input->drops);
    for (unsigned i = 0; i < count && !input->endpoint.flow->draining; i++)
      take(input, datagrams[i].data, datagrams[i].len, now_ns);
  }
  ls__flow_flush(input->endpoint.flow, now_ns);
}

static int input_start(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len) {
  struct udp_input *input = (struct udp_input *)endpoint;
  (void)now_ns;
  input->fd = ls__udp_open(&input->socket, err, err_len);
  if (input->fd < 0)
    return input->fd;
  input->open = true;
  input->source = (struct ls__source){.fd = input->fd, .ready = input_ready, .self = input};
  int result = ls__loop_watch(ls__flow_loop(endpoint->flow), &input->source);
  return result < 0 ? ls__fail(result, err, err_len, "cannot watch the socket") : 0;
}

static void input_stop(struct ls__endpoint *endpoint, int64_t now_ns) {
  (void)endpoint;
  (void)now_ns;
}

static bool always(const struct ls__endpoint *endpoint) {
  (void)endpoint;
  return true;
}

static void input_shut(struct ls__endpoint *endpoint) {
  struct udp_input *input = (struct udp_input *)endpoint;
  if (!input->open)
    return;
  ls__loop_unwatch(ls__flow_loop(endpoint->flow), &input->source);
  close(input->fd);
  input->open = false;
}

static void input_gauges(struct ls__endpoint *endpoint, int64_t now_ns) {
  (void)now_ns;
  endpoint->stats.dropped_kernel = ((struct udp_input *)endpoint)->drops;
}

static void destroy(struct ls__endpoint *endpoint) {
  free(endpoint);
}

static int output_prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  struct udp_output *output = (struct udp_output *)endpoint;
  if (output->socket.remote.family == 0 || output->socket.remote.port == 0)
    return ls__fail(LS_EINVAL, err, err_len, "a UDP output needs remote, an address with a port");
  return 0;
}

static int output_start(struct ls__endpoint *endpoint, int64_t now_ns, char *err,
                        uint32_t err_len) {
  struct udp_output *output = (struct udp_output *)endpoint;
  (void)now_ns;
  output->stopping = false;
  output->playout = output->pace < 0 ? ls__flow_from_srt(endpoint->flow) : output->pace == 1;
  output->fd = ls__udp_open(&output->socket, err, err_len);
  if (output->fd < 0)
    return output->fd;
  int result = ls__egress_init(&output->egress, ls__flow_loop(endpoint->flow), output->fd,
                               OUTPUT_SLOTS, LS_PAYLOAD_MAX);
  if (result < 0) {
    close(output->fd);
    return ls__fail(result, err, err_len, "out of memory");
  }
  output->open = true;
  return 0;
}

static void output_push(struct ls__endpoint *endpoint, const uint8_t *payload, size_t len,
                        int64_t at_ns, int64_t now_ns) {
  struct udp_output *output = (struct udp_output *)endpoint;
  struct ls__departure *departure = ls__egress_reserve(&output->egress);
  if (!departure || len > LS_PAYLOAD_MAX) {
    if (departure)
      ls__egress_abandon(&output->egress, departure);
    endpoint->stats.dropped_full++;
    return;
  }
  memcpy(departure->payload, payload, len);
  departure->length = (uint32_t)len;
  departure->to = output->socket.remote;
  ls__egress_commit(&output->egress, departure, output->playout ? at_ns : now_ns);
  endpoint->stats.packets++;
  endpoint->stats.bytes += len;
}

static void output_flush(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct udp_output *output = (struct udp_output *)endpoint;
  int reason;
  ls__egress_run(&output->egress, now_ns);
  uint64_t refused = ls__egress_refused(&output->egress, &reason);
  if (refused > 0 && !output->warned) {
    char text[LS_ADDR_TEXT];
    output->warned = true;
    ls__object_event(&endpoint->flow->object, LS_EVENT_WARNING, reason, endpoint->index,
                     "sending to %s is refused: %s", ls__addr_format(&output->socket.remote, text),
                     strerror(reason));
  }
}

static void output_stop(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct udp_output *output = (struct udp_output *)endpoint;
  output->stopping = true;
  ls__egress_run(&output->egress, now_ns);
}

static bool output_ended(const struct ls__endpoint *endpoint) {
  const struct udp_output *output = (const struct udp_output *)endpoint;
  return !output->open || ls__egress_waiting(&output->egress) == 0;
}

static void output_shut(struct ls__endpoint *endpoint) {
  struct udp_output *output = (struct udp_output *)endpoint;
  if (!output->open)
    return;
  ls__egress_free(&output->egress);
  close(output->fd);
  output->open = false;
}

static bool output_has_room(const struct ls__endpoint *endpoint) {
  return ls__egress_waiting(&((const struct udp_output *)endpoint)->egress) < OUTPUT_SLOTS / 2;
}

static void output_gauges(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct udp_output *output = (struct udp_output *)endpoint;
  struct ls__stats_endpoint *stats = &endpoint->stats;
  int reason;
  if (!output->open)
    return;
  stats->errors = ls__egress_refused(&output->egress, &reason);
  stats->late_packets = output->egress.late;
  stats->lateness_p50_ns = (uint64_t)ls__histogram_percentile(&output->egress.lateness, 50000);
  stats->lateness_p99_ns = (uint64_t)ls__histogram_percentile(&output->egress.lateness, 99000);
  stats->lateness_max_ns = (uint64_t)ls__histogram_max(&output->egress.lateness);
  if (output->stopping)
    ls__flow_check(endpoint->flow, now_ns);
}

struct ls__endpoint *ls__udp_input_new(void) {
  static const struct ls__endpoint_ops ops = {.options = input_options,
                                              .option_count =
                                                  sizeof input_options / sizeof *input_options,
                                              .prepare = input_prepare,
                                              .start = input_start,
                                              .stop = input_stop,
                                              .ended = always,
                                              .shut = input_shut,
                                              .gauges = input_gauges,
                                              .destroy = destroy};
  struct udp_input *input = calloc(1, sizeof *input);
  if (!input)
    return NULL;
  input->endpoint.ops = &ops;
  input->socket.tos = input->socket.ttl = -1;
  input->payload_size = 1316;
  return &input->endpoint;
}

struct ls__endpoint *ls__udp_output_new(void) {
  static const struct ls__endpoint_ops ops = {.options = output_options,
                                              .option_count =
                                                  sizeof output_options / sizeof *output_options,
                                              .prepare = output_prepare,
                                              .start = output_start,
                                              .stop = output_stop,
                                              .ended = output_ended,
                                              .shut = output_shut,
                                              .push = output_push,
                                              .flush = output_flush,
                                              .has_room = output_has_room,
                                              .gauges = output_gauges,
                                              .destroy = destroy};
  struct udp_output *output = calloc(1, sizeof *output);
  if (!output)
    return NULL;
  output->endpoint.ops = &ops;
  output->socket.tos = output->socket.ttl = -1;
  output->pace = -1;
  return &output->endpoint;
}
