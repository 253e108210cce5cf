/* SRT as input or output of a flow: a stream over its links, calling or listening. */
#include "base/addr_text.h"
#include "base/assert.h"
#include "base/seq.h"
#include "base/time.h"
#include "flow/flow.h"
#include "flow/mux.h"
#include "flow/stream_id.h"
#include "io/clock.h"
#include "stream/stream.h"

#include <stdio.h>
#include <string.h>

/* A caller whose connection ended calls again after this, doubled each time it fails. */
#define REDIAL_MIN_NS (250 * LS_MS)
#define REDIAL_MAX_NS (4 * LS_S)
/* A source that has been silent for this long may be replaced by the same caller. */
#define REPLACE_NS (500 * LS_MS)
/* A sender that is told to end waits this long for the peer to acknowledge the rest. */
#define FLUSH_MAX_NS (5 * LS_S)
/* Time until it is asked again whether the last connection has been played out. */
#define PLAYOUT_WAIT_NS (10 * LS_MS)
/* Datagrams put into the egress at once. */
#define OUTPUT_MAX 64
/* Who is refused calls again at once, for ever: the same is told this often, and another caller or
 * reason after a pause. What is not told is counted, and the count told next time. */
#define REFUSED_AGAIN_NS (10 * LS_S)
#define REFUSED_PAUSE_NS (100 * LS_MS)

struct srt_endpoint {
  struct ls__endpoint endpoint;
  bool output;
  /* options */
  int64_t receive_latency_ns, peer_latency_ns, mss, flow_window, buffer_packets;
  int64_t max_bandwidth_bps, connect_timeout_ns, peer_idle_timeout_ns, send_drop_delay_ns;
  int64_t reorder_tolerance;
  bool too_late_drop, nak_report, reconnect;
  char stream_id[LS_STREAM_ID_MAX + 1];
  /* state */
  struct ls__flow_link *config;
  int32_t link_index;
  bool prepared;
  struct ls__stream stream;
  struct ls__mux *mux;
  uint32_t socket_id; /* 0: not bound */
  struct ls__addr peer, answer_from;
  char peer_stream_id[LS_STREAM_ID_MAX + 1];
  struct ls__task task, redial;
  int64_t redial_ns; /* the next wait */
  bool stopping;
  int64_t flush_by_ns; /* LS_NEVER: not flushing */
  uint64_t unsent;     /* datagrams that the system refused, as far as it was looked at */
  bool unsent_told;
  enum ls_link_state state;
  struct {
    struct ls__addr caller;
    int reject;
    int64_t at_ns;
    uint64_t untold;
  } refused; /* the last that was told */
};

#define SRT(field) offsetof(struct srt_endpoint, field)
#define LATENCY_MAX (65535 * LS_MS)
static const struct ls__option options[] = {
    {"receive_latency_ns", LS__OPTION_INT, SRT(receive_latency_ns), 0, LATENCY_MAX, NULL},
    {"peer_latency_ns", LS__OPTION_INT, SRT(peer_latency_ns), 0, LATENCY_MAX, NULL},
    {"stream_id", LS__OPTION_TEXT, SRT(stream_id), 0, LS_STREAM_ID_MAX, NULL},
    {"mss", LS__OPTION_INT, SRT(mss), 76, 1500, NULL},
    {"flow_window", LS__OPTION_INT, SRT(flow_window), 32, 65536, NULL},
    {"buffer_packets", LS__OPTION_INT, SRT(buffer_packets), 256, 65536, NULL},
    {"max_bandwidth_bps", LS__OPTION_INT, SRT(max_bandwidth_bps), 0, INT64_C(100000000000), NULL},
    {"connect_timeout_ns", LS__OPTION_INT, SRT(connect_timeout_ns), LS_MS, 3600 * LS_S, NULL},
    {"peer_idle_timeout_ns", LS__OPTION_INT, SRT(peer_idle_timeout_ns), 100 * LS_MS, 3600 * LS_S,
     NULL},
    {"send_drop_delay_ns", LS__OPTION_INT, SRT(send_drop_delay_ns), 0, 3600 * LS_S, NULL},
    {"reorder_tolerance", LS__OPTION_INT, SRT(reorder_tolerance), 0, 10000, NULL},
    {"too_late_drop", LS__OPTION_BOOL, SRT(too_late_drop), 0, 1, NULL},
    {"nak_report", LS__OPTION_BOOL, SRT(nak_report), 0, 1, NULL},
    {"reconnect", LS__OPTION_BOOL, SRT(reconnect), 0, 1, NULL},
};

static struct ls__flow_link *only_link(struct ls__flow *flow, const struct ls__endpoint *endpoint,
                                       unsigned *count, int32_t *index) {
  struct ls__flow_link *found = NULL;
  *count = 0;
  for (unsigned i = 0; i < flow->link_count; i++)
    if (flow->links[i].endpoint == endpoint) {
      found = &flow->links[i];
      *index = LS__LINK_BASE + (int32_t)i;
      ++*count;
    }
  return found;
}

static int prepare(struct ls__endpoint *endpoint, char *err, uint32_t err_len) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  unsigned count;
  srt->config = only_link(endpoint->flow, endpoint, &count, &srt->link_index);
  if (count != 1)
    return ls__fail(LS_EINVAL, err, err_len, "an SRT endpoint needs exactly one link, it has %u",
                    count);
  if (srt->config->mode == 0 && (!srt->config->remote.family || !srt->config->remote.port))
    return ls__fail(LS_EINVAL, err, err_len, "an SRT caller needs remote, an address with a port");
  if (srt->config->mode == 1 && !srt->config->local.port)
    return ls__fail(LS_EINVAL, err, err_len, "an SRT listener needs local, an address with a port");
  uint32_t buffer = 256;
  while (buffer < (uint64_t)srt->buffer_packets)
    buffer *= 2;
  struct ls__stream_config config = {.sends = srt->output,
                                     .buffer_packets = buffer,
                                     .max_bandwidth_bps = (uint64_t)srt->max_bandwidth_bps,
                                     .send_drop_delay_ns = srt->send_drop_delay_ns,
                                     .too_late_drop = srt->too_late_drop};
  if (srt->prepared)
    ls__stream_free(&srt->stream);
  srt->prepared = false;
  if (ls__stream_init(&srt->stream, &config, 1) < 0)
    return ls__fail(LS_ENOMEM, err, err_len, "out of memory for a buffer of %u packets", buffer);
  srt->prepared = true;
  return 0;
}

static void report(struct srt_endpoint *srt, enum ls_link_state state, const char *text) {
  char peer[LS_ADDR_TEXT];
  srt->state = state;
  ls__object_event(&srt->endpoint.flow->object, LS_EVENT_LINK_STATE, (int32_t)state,
                   srt->link_index, "%s: %s", ls__addr_format(&srt->peer, peer), text);
}

static struct ls__link_config link_config(const struct srt_endpoint *srt) {
  struct ls__link_config config = {
      .socket_id = srt->socket_id,
      .receive_latency_ns = srt->receive_latency_ns,
      .peer_latency_ns = srt->peer_latency_ns,
      .connect_timeout_ns = srt->connect_timeout_ns,
      .peer_idle_timeout_ns = srt->peer_idle_timeout_ns,
      .mss = (uint32_t)srt->mss,
      .flow_window = (uint32_t)srt->flow_window,
      .reorder_tolerance = (uint32_t)srt->reorder_tolerance,
      .nak_report = srt->nak_report,
  };
  memcpy(config.stream_id, srt->stream_id, sizeof config.stream_id);
  return config;
}

static void unbind(struct srt_endpoint *srt) {
  if (srt->socket_id)
    ls__mux_unbind(srt->mux, srt->socket_id);
  srt->socket_id = 0;
}

static void mux_input(void *self, const struct ls__udp_datagram *datagram, int64_t now_ns) {
  struct srt_endpoint *srt = self;
  srt->answer_from = datagram->to;
  ls__stream_input(&srt->stream, 0, datagram->data, datagram->len, now_ns);
}

static void pump(void *self, int64_t now_ns);

static int bind_link(struct srt_endpoint *srt, uint32_t peer_id, uint32_t isn) {
  struct ls__mux_binding binding = {.socket_id = srt->socket_id,
                                    .peer = srt->peer,
                                    .peer_id = peer_id,
                                    .isn = isn,
                                    .user = {.input = mux_input, .pump = pump, .self = srt}};
  int result = ls__mux_bind(srt->mux, &binding);
  if (result < 0)
    srt->socket_id = 0;
  return result;
}

static void on_disconnected(struct srt_endpoint *srt, enum ls_link_state state, const char *text,
                            int64_t now_ns);

/* A new connection begins with empty buffers: what the last one brought is played out before. */
static bool plays_out(const struct srt_endpoint *srt) {
  return !srt->output && srt->stream.rx.present.count > 0;
}

static void call(void *self, int64_t now_ns) {
  struct srt_endpoint *srt = self;
  if (plays_out(srt)) {
    ls__loop_at(ls__flow_loop(srt->endpoint.flow), &srt->redial, now_ns + PLAYOUT_WAIT_NS);
    return;
  }
  srt->socket_id = ls__mux_new_id(srt->mux);
  srt->peer = srt->config->remote;
  srt->answer_from = (struct ls__addr){0};
  if (bind_link(srt, 0, 0) < 0) {
    on_disconnected(srt, LS_LINK_BROKEN, "the port serves too many links", now_ns);
    return;
  }
  if (srt->state != LS_LINK_CONNECTING)
    report(srt, LS_LINK_CONNECTING, "calling");
  ls__stream_open(&srt->stream, ls__random_id(LS_SEQ_MASK - 1), now_ns);
  ls__stream_call(&srt->stream, 0, link_config(srt), now_ns);
  pump(srt, now_ns);
}

static bool serves_mode(const struct srt_endpoint *srt, const struct ls__handshake *hs) {
  char mode = ls__stream_id_mode(hs->stream_id);
  return !mode || mode == (srt->output ? 'r' : 'p');
}

/* One resource may be published and requested on one port: the mode counts first, then whether the
 * stream ID names this listener, and among equals one that is free. */
static int match(void *self, const struct ls__handshake *hs) {
  const struct srt_endpoint *srt = self;
  int fit = ls__stream_id_match(srt->stream_id, hs->stream_id);
  return fit ? 4 * serves_mode(srt, hs) + 2 * (fit - 1) + !srt->socket_id + 1 : 0;
}

/* The same caller after a restart: it has a new port and socket, and its old self is silent. */
static bool replaces(const struct srt_endpoint *srt, const struct ls__udp_datagram *datagram,
                     const struct ls__handshake *hs, int64_t now_ns) {
  return now_ns - srt->stream.links[0].link.heard_ns >= REPLACE_NS &&
         memcmp(srt->peer.bytes, datagram->from.bytes, sizeof srt->peer.bytes) == 0 &&
         strcmp(srt->peer_stream_id, hs->stream_id) == 0;
}

static int take_up(void *self, const struct ls__udp_datagram *datagram,
                   const struct ls__header *header, const struct ls__handshake *hs,
                   int64_t now_ns) {
  struct srt_endpoint *srt = self;
  if (srt->stopping)
    return LS__REJECT_CLOSE;
  if (!serves_mode(srt, hs))
    return LS__REJECT_BAD_MODE;
  if (srt->socket_id) {
    if (!replaces(srt, datagram, hs, now_ns))
      return srt->output ? LS__REJECT_RESOURCE : LS__REJECT_CONFLICT;
    report(srt, LS_LINK_BROKEN, "silent, and replaced by the same caller");
    unbind(srt);
    ls__stream_close(&srt->stream, now_ns);
  }
  if (plays_out(srt))
    return -1; /* the caller asks again */
  srt->socket_id = ls__mux_new_id(srt->mux);
  srt->peer = datagram->from;
  srt->answer_from = datagram->to;
  memcpy(srt->peer_stream_id, hs->stream_id, sizeof srt->peer_stream_id);
  if (bind_link(srt, hs->socket_id, hs->isn) < 0)
    return LS__REJECT_RESOURCE;
  ls__stream_open(&srt->stream, hs->isn, now_ns);
  ls__stream_accept(&srt->stream, 0, link_config(srt), hs, header->stamp_us, now_ns);
  pump(srt, now_ns);
  return -1;
}

static void refused(void *self, const struct ls__addr *caller, int reject, int64_t now_ns) {
  struct srt_endpoint *srt = self;
  bool same = reject == srt->refused.reject &&
              memcmp(caller->bytes, srt->refused.caller.bytes, sizeof caller->bytes) == 0;
  if (srt->stopping)
    return; /* it is refused because of that */
  if (now_ns < srt->refused.at_ns + (same ? REFUSED_AGAIN_NS : REFUSED_PAUSE_NS)) {
    srt->refused.untold++;
    return;
  }
  char text[LS_ADDR_TEXT], more[64] = "";
  if (srt->refused.untold)
    snprintf(more, sizeof more, "; %llu more were refused meanwhile",
             (unsigned long long)srt->refused.untold);
  srt->refused.caller = *caller;
  srt->refused.reject = reject;
  srt->refused.at_ns = now_ns;
  srt->refused.untold = 0;
  ls__object_event(&srt->endpoint.flow->object, LS_EVENT_WARNING, reject, srt->link_index,
                   "%s: caller refused: %s (%s)%s", ls__addr_format(caller, text),
                   ls__reject_text(reject), ls__reject_name(reject), more);
}

static void on_connected(struct srt_endpoint *srt) {
  const struct ls__link *link = &srt->stream.links[0].link;
  char text[160];
  uint32_t version = link->peer_version;
  srt->redial_ns = REDIAL_MIN_NS;
  srt->unsent_told = false;
  snprintf(text, sizeof text, "connected, latency %lld ms, peer SRT %u.%u.%u%s%.64s",
           (long long)((srt->output ? link->send_latency_ns : link->receive_latency_ns) / LS_MS),
           version >> 16 & 0xff, version >> 8 & 0xff, version & 0xff,
           srt->peer_stream_id[0] ? ", stream ID " : "", srt->peer_stream_id);
  report(srt, LS_LINK_CONNECTED, text);
}

/* A connection has ended, by its peer or by an error. */
static void on_disconnected(struct srt_endpoint *srt, enum ls_link_state state, const char *text,
                            int64_t now_ns) {
  struct ls__flow *flow = srt->endpoint.flow;
  bool again = srt->reconnect && !srt->stopping && !flow->stop_with_link;
  unbind(srt);
  report(srt, state, text);
  if (srt->stopping) {
    ls__flow_check(flow, now_ns);
  } else if (srt->config->mode == 0 && again) {
    ls__loop_at(ls__flow_loop(flow), &srt->redial, now_ns + srt->redial_ns);
    srt->redial_ns = ls__time_min(2 * srt->redial_ns, REDIAL_MAX_NS);
  } else if (srt->config->mode == 1 && !flow->stop_with_link) {
    srt->state = LS_LINK_CONNECTING;
  } else {
    ls__flow_drain(flow, text, now_ns);
  }
}

static void handle_events(struct srt_endpoint *srt, int64_t now_ns) {
  struct ls__stream_event event;
  char text[160];
  while ((event = ls__stream_event(&srt->stream)).kind != LS__STREAM_NO_EVENT) {
    switch (event.kind) {
    case LS__STREAM_CONNECTED:
      on_connected(srt);
      break;
    case LS__STREAM_CLOSED:
      on_disconnected(srt, LS_LINK_CLOSED, "closed by the peer", now_ns);
      break;
    default:
      snprintf(text, sizeof text, "%s (%s)", ls__reject_text(event.reject),
               ls__reject_name(event.reject));
      on_disconnected(srt, LS_LINK_BROKEN, text, now_ns);
    }
  }
}

static void play_out(struct srt_endpoint *srt, int64_t now_ns) {
  const uint8_t *payload;
  size_t len;
  int64_t due_ns;
  bool any = false;
  while ((payload = ls__stream_take(&srt->stream, now_ns, &len, &due_ns)) != NULL) {
    ls__flow_deliver(srt->endpoint.flow, payload, len, due_ns, now_ns);
    ls__stream_taken(&srt->stream);
    any = true;
  }
  if (any)
    ls__flow_flush(srt->endpoint.flow, now_ns);
}

/* Moves what the link has to say into the egress; false when there is more than fits now. */
static bool send_out(struct srt_endpoint *srt, int64_t now_ns) {
  bool more = true;
  for (int i = 0; more && i < OUTPUT_MAX; i++) {
    struct ls__departure *departure = ls__egress_reserve(&srt->mux->egress);
    if (!departure)
      return false;
    departure->length = (uint32_t)ls__stream_output(&srt->stream, 0, now_ns, departure->payload);
    departure->to = srt->peer;
    departure->from = srt->answer_from;
    more = departure->length > 0;
    if (more)
      ls__egress_commit(&srt->mux->egress, departure, now_ns);
    else
      ls__egress_abandon(&srt->mux->egress, departure);
  }
  return !more;
}

/* A call that the system does not let out looks like a peer that does not answer. */
static void tell_unsent(struct srt_endpoint *srt) {
  char text[LS_ADDR_TEXT];
  int reason;
  uint64_t unsent = ls__egress_refused(&srt->mux->egress, &reason);
  if (unsent > srt->unsent && !srt->unsent_told && srt->config->mode == 0) {
    srt->unsent_told = true;
    ls__object_event(&srt->endpoint.flow->object, LS_EVENT_WARNING, reason, srt->link_index,
                     "sending to %s is refused: %s", ls__addr_format(&srt->peer, text),
                     strerror(reason));
  }
  srt->unsent = unsent;
}

static void pump(void *self, int64_t now_ns) {
  struct srt_endpoint *srt = self;
  ls__stream_tick(&srt->stream, now_ns);
  if (!srt->output)
    play_out(srt, now_ns);
  bool all = send_out(srt, now_ns);
  ls__egress_run(&srt->mux->egress, now_ns);
  tell_unsent(srt);
  handle_events(srt, now_ns);
  if (srt->stopping && now_ns >= srt->flush_by_ns) {
    srt->flush_by_ns = LS_NEVER;
    ls__stream_close(&srt->stream, now_ns);
    all = false;
  }
  int64_t next_ns = ls__time_min(ls__stream_timer(&srt->stream), srt->flush_by_ns);
  next_ns = ls__time_min(next_ns, ls__stream_due(&srt->stream, now_ns));
  ls__loop_at(ls__flow_loop(srt->endpoint.flow), &srt->task, all ? next_ns : now_ns + LS_MS / 2);
  if (!srt->stopping || !ls__stream_ended(&srt->stream))
    return;
  if (srt->socket_id)
    report(srt, LS_LINK_CLOSED, "closed");
  unbind(srt);
  ls__flow_check(srt->endpoint.flow, now_ns);
}

static int start(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  struct ls__flow_link *config = srt->config;
  struct ls__udp_config socket = {
      .local = config->local, .remote = config->remote, .tos = config->tos, .ttl = config->ttl};
  memcpy(socket.interface, config->interface, sizeof socket.interface);
  srt->task = (struct ls__task){.run = pump, .self = srt};
  srt->redial = (struct ls__task){.run = call, .self = srt};
  srt->redial_ns = REDIAL_MIN_NS;
  srt->stopping = false;
  srt->flush_by_ns = LS_NEVER;
  srt->refused.at_ns = now_ns - REFUSED_AGAIN_NS;
  srt->refused.untold = 0;
  srt->state = 0;
  srt->mux = ls__mux_open(endpoint->flow->object.reactor, &socket, err, err_len);
  if (!srt->mux)
    return LS_ESYSTEM;
  int reason;
  srt->unsent = ls__egress_refused(&srt->mux->egress, &reason);
  srt->unsent_told = false;
  if (config->mode == 0) {
    ls__loop_at(ls__flow_loop(endpoint->flow), &srt->redial, now_ns);
    return 0;
  }
  struct ls__mux_listener listener = {
      .match = match, .accept = take_up, .refused = refused, .self = srt};
  if (ls__mux_listen(srt->mux, &listener) < 0)
    return ls__fail(LS_ELIMIT, err, err_len, "the port serves %d listeners already",
                    LS__MUX_LISTENERS_MAX);
  srt->peer = config->local;
  report(srt, LS_LINK_CONNECTING, "listening");
  return 0;
}

static void stop(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  if (srt->stopping)
    return;
  srt->stopping = true;
  ls__loop_at(ls__flow_loop(endpoint->flow), &srt->redial, LS_NEVER);
  /* A connection whose break ends the flow stays broken: that is the flow's verdict. */
  bool last = endpoint->flow->stop_with_link || !srt->reconnect;
  if (!srt->socket_id && !(last && srt->state == LS_LINK_BROKEN))
    srt->state = LS_LINK_CLOSED;
  if (!srt->socket_id && !plays_out(srt))
    return;
  srt->flush_by_ns = now_ns + FLUSH_MAX_NS + srt->stream.links[0].link.send_latency_ns;
  ls__stream_finish(&srt->stream, now_ns);
  ls__loop_at(ls__flow_loop(endpoint->flow), &srt->task, now_ns);
}

static bool ended(const struct ls__endpoint *endpoint) {
  const struct srt_endpoint *srt = (const struct srt_endpoint *)endpoint;
  return !srt->mux || (srt->stopping && !srt->socket_id && ls__stream_ended(&srt->stream));
}

static void shut(struct ls__endpoint *endpoint) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  struct ls__loop *loop = srt->mux ? ls__flow_loop(endpoint->flow) : NULL;
  if (!srt->mux)
    return;
  int64_t now_ns = ls__clock_now();
  ls__stream_close(&srt->stream, now_ns); /* one goodbye at least */
  if (srt->socket_id)
    send_out(srt, now_ns);
  ls__egress_run(&srt->mux->egress, now_ns);
  ls__loop_at(loop, &srt->task, LS_NEVER);
  ls__loop_at(loop, &srt->redial, LS_NEVER);
  unbind(srt);
  ls__mux_unlisten(srt->mux, srt);
  ls__mux_release(srt->mux);
  srt->mux = NULL;
}

static void push(struct ls__endpoint *endpoint, const uint8_t *payload, size_t len, int64_t at_ns,
                 int64_t now_ns) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  (void)now_ns;
  switch (ls__stream_push(&srt->stream, payload, len, at_ns)) {
  case 0:
    endpoint->stats.packets++;
    endpoint->stats.bytes += len;
    return;
  case LS_ESTATE:
    endpoint->stats.dropped_unconnected++;
    return;
  case LS_ELIMIT:
    endpoint->stats.dropped_full++;
    return;
  default:
    endpoint->stats.dropped_size++;
  }
}

static void flush(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  if (srt->socket_id)
    pump(srt, now_ns);
}

static bool has_room(const struct ls__endpoint *endpoint) {
  const struct srt_endpoint *srt = (const struct srt_endpoint *)endpoint;
  return ls__stream_connected(&srt->stream) &&
         ls__sendbuf_count(&srt->stream.tx) < srt->stream.tx.capacity / 2;
}

static void gauges(struct ls__endpoint *endpoint, int64_t now_ns) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  int reason;
  if (!srt->mux)
    return;
  srt->config->stats = ls__stream_statistics(&srt->stream, 0, now_ns);
  srt->config->stats.state = srt->state;
  endpoint->stats.dropped_kernel = srt->mux->drops;
  endpoint->stats.errors = ls__egress_refused(&srt->mux->egress, &reason);
  const struct ls__histogram *lateness = &srt->stream.lateness;
  endpoint->stats.late_packets = srt->stream.late;
  endpoint->stats.lateness_p50_ns = (uint64_t)ls__histogram_percentile(lateness, 50000);
  endpoint->stats.lateness_p99_ns = (uint64_t)ls__histogram_percentile(lateness, 99000);
  endpoint->stats.lateness_max_ns = (uint64_t)ls__histogram_max(lateness);
}

static void destroy(struct ls__endpoint *endpoint) {
  struct srt_endpoint *srt = (struct srt_endpoint *)endpoint;
  if (srt->prepared)
    ls__stream_free(&srt->stream);
  free(srt);
}

struct ls__endpoint *ls__srt_endpoint_new(bool output) {
  static const struct ls__endpoint_ops ops = {.options = options,
                                              .option_count = sizeof options / sizeof *options,
                                              .prepare = prepare,
                                              .start = start,
                                              .stop = stop,
                                              .ended = ended,
                                              .shut = shut,
                                              .push = push,
                                              .flush = flush,
                                              .has_room = has_room,
                                              .gauges = gauges,
                                              .destroy = destroy};
  struct srt_endpoint *srt = calloc(1, sizeof *srt);
  if (!srt)
    return NULL;
  srt->endpoint.ops = &ops;
  srt->output = output;
  srt->receive_latency_ns = 120 * LS_MS;
  srt->mss = 1500;
  srt->flow_window = srt->buffer_packets = 8192;
  srt->connect_timeout_ns = 3 * LS_S;
  srt->peer_idle_timeout_ns = 5 * LS_S;
  srt->too_late_drop = srt->nak_report = srt->reconnect = true;
  return &srt->endpoint;
}
