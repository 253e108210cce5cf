#include "flow/relay.h"

#include "base/addr_text.h"
#include "base/assert.h"
#include "base/option.h"
#include "base/statistics.gen.h"
#include "base/time.h"
#include "flow/relay_config.h"
#include "impair/model.h"
#include "io/egress.h"
#include "io/udp.h"

#include <string.h>
#include <unistd.h>

/* IP and UDP headers (RFC 791, RFC 8200, RFC 768): what a datagram is longer by on the line. */
#define HEADERS_4 28u
#define HEADERS_6 48u

struct relay;

enum direction { FORWARD, BACKWARD, DIRECTIONS };

/* One direction: who decides, what waits, what happened. */
struct way {
  struct relay *relay;
  enum direction direction;
  struct ls__model model;
  struct ls__egress egress;
  struct ls__backend_errors errors;
  uint64_t packets, lost, outage, overflow, duplicated, dropped_kernel;
};

/* A source that is served, with its socket towards the target. */
struct client {
  struct relay *relay;
  struct ls__source source; /* fd -1: free */
  uint32_t generation;      /* of the socket: packets under way may outlive it */
  bool six;
  struct ls__addr addr;   /* where answers go */
  struct ls__addr called; /* the address of ours that it sent to */
  int64_t heard_ns;
  uint32_t drops; /* the kernel's count for this socket */
};

enum warning { WARNED_FULL = 1, WARNED_SOCKET = 2, WARNED_LENGTH = 4, WARNED_QUEUE = 8 };

struct relay {
  struct ls__object object; /* first: a relay is an object */
  struct ls__relay_config config;
  bool prepared; /* the egresses have their memory */
  struct ls__source listening;
  uint32_t drops; /* the kernel's count for the listening socket */
  bool listening_six;
  struct way ways[DIRECTIONS];
  struct client clients[LS__RELAY_CLIENTS];
  unsigned client_count;
  struct ls__task expiry; /* runs while all clients are taken */
  uint64_t refused_clients;
  unsigned warned;               /* bits of enum warning: each is said once */
  struct ls__histogram lateness; /* of both directions, for publishing */
  struct ls__published published;
};

static struct relay *relay_of(struct ls__object *object) {
  return (struct relay *)object;
}

static void warn_once(struct relay *relay, enum warning warning, const char *text) {
  if (relay->warned & warning)
    return;
  relay->warned |= warning;
  ls__object_event(&relay->object, LS_EVENT_WARNING, 0, LS_SELF, "%s", text);
}

/* The backend of a direction: `user`, by the socket that the cookie names. */

static uint64_t cookie_of(const struct client *client) {
  return (uint64_t)client->generation << 8 | (uint64_t)(client - client->relay->clients);
}

/* The socket by which a packet leaves; -1 when its client is gone. */
static int socket_of(const struct way *way, uint64_t cookie, bool *six) {
  const struct relay *relay = way->relay;
  *six = relay->listening_six;
  if (way->direction == BACKWARD)
    return relay->listening.fd;
  const struct client *client = &relay->clients[cookie & 0xff];
  *six = client->six;
  return client->generation == (uint32_t)(cookie >> 8) ? client->source.fd : -1;
}

static int backend_open(void *self, char *err, uint32_t err_len) {
  struct way *way = self;
  (void)err;
  (void)err_len;
  way->errors = (struct ls__backend_errors){0};
  return 0;
}

/* Neighbours for the same socket leave by one system call. */
static int backend_submit(void *self, struct ls__departure *const *batch, unsigned count,
                          int64_t now_ns) {
  struct way *way = self;
  unsigned done = 0;
  (void)now_ns;
  while (done < count) {
    unsigned end = done + 1;
    while (end < count && batch[end]->cookie == batch[done]->cookie)
      end++;
    bool six;
    int fd = socket_of(way, batch[done]->cookie, &six);
    if (fd >= 0)
      done += ls__udp_send(fd, six, batch + done, end - done, &way->errors.refused,
                           &way->errors.last_errno);
    else
      done = end;
    if (done < end)
      break;
  }
  return (int)done;
}

static void backend_reap(void *self, struct ls__backend_errors *errors) {
  *errors = ((struct way *)self)->errors;
}

static int64_t backend_lead(const void *self) {
  (void)self;
  return 0;
}

static void backend_close(void *self) {
  (void)self;
}

static struct ls__backend backend_of(struct way *way) {
  static const struct ls__backend_ops ops = {.name = "user",
                                             .open = backend_open,
                                             .submit = backend_submit,
                                             .reap = backend_reap,
                                             .lead = backend_lead,
                                             .close = backend_close};
  return (struct ls__backend){.ops = &ops, .self = way};
}

/* Clients. */

static void close_client(struct relay *relay, struct client *client) {
  if (client->source.fd < 0)
    return;
  ls__loop_unwatch(&relay->object.reactor->loop, &client->source);
  close(client->source.fd);
  client->source.fd = -1;
  client->generation++;
  relay->client_count--;
}

static struct client *silent_longest(struct relay *relay) {
  struct client *oldest = &relay->clients[0];
  for (unsigned i = 1; i < LS__RELAY_CLIENTS; i++)
    if (relay->clients[i].heard_ns < oldest->heard_ns)
      oldest = &relay->clients[i];
  return oldest;
}

/* All clients are taken: the one silent longest goes when its time is up. It is closed here and
 * not when a new one arrives, since no source may unwatch another. */
static void expire(void *self, int64_t now_ns) {
  struct relay *relay = self;
  struct client *oldest = silent_longest(relay);
  int64_t ends_ns = oldest->heard_ns + relay->config.silence_ns;
  if (ends_ns <= now_ns)
    close_client(relay, oldest);
  else
    ls__loop_at(&relay->object.reactor->loop, &relay->expiry, ends_ns);
}

static void carry(struct way *way, const struct ls__udp_datagram *datagram,
                  const struct client *client, int64_t now_ns);

static void target_ready(void *self, int64_t now_ns) {
  struct client *client = self;
  struct relay *relay = client->relay;
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops = client->drops;
  unsigned count =
      ls__udp_read(client->source.fd, relay->object.reactor->loop.reader, datagrams, &drops);
  relay->ways[BACKWARD].dropped_kernel += drops - client->drops;
  client->drops = drops;
  for (unsigned i = 0; i < count; i++) {
    /* The socket is open to all; the relay is not. */
    const struct ls__addr *from = &datagrams[i].from, *target = &relay->config.target;
    if (from->family == target->family && from->port == target->port &&
        memcmp(from->bytes, target->bytes, sizeof from->bytes) == 0)
      carry(&relay->ways[BACKWARD], &datagrams[i], client, now_ns);
  }
  ls__egress_run(&relay->ways[BACKWARD].egress, now_ns);
}

/* Opens a socket for a new source; NULL when there is no room for it. */
static struct client *open_client(struct relay *relay, const struct ls__addr *addr,
                                  int64_t now_ns) {
  if (relay->client_count == LS__RELAY_CLIENTS) {
    warn_once(relay, WARNED_FULL, "the relay serves 64 sources at once: further ones are refused");
    return NULL;
  }
  struct client *client = relay->clients;
  while (client->source.fd >= 0)
    client++;
  char reason[LS_EVENT_TEXT];
  struct ls__udp_config config = {.remote = relay->config.target, .tos = -1, .ttl = -1};
  int fd = ls__udp_open(&config, reason, sizeof reason);
  if (fd < 0) {
    warn_once(relay, WARNED_SOCKET, reason);
    return NULL;
  }
  client->source.fd = fd;
  if (ls__loop_watch(&relay->object.reactor->loop, &client->source) < 0) {
    close(fd);
    client->source.fd = -1;
    warn_once(relay, WARNED_SOCKET, "the system does not let the relay watch another socket");
    return NULL;
  }
  client->six = ls__udp_is_six(fd);
  client->addr = *addr;
  if (++relay->client_count == LS__RELAY_CLIENTS)
    ls__loop_at(&relay->object.reactor->loop, &relay->expiry, now_ns);
  return client;
}

static struct client *client_of(struct relay *relay, const struct ls__addr *addr, int64_t now_ns) {
  for (unsigned i = 0; i < LS__RELAY_CLIENTS; i++)
    if (relay->clients[i].source.fd >= 0 && ls__addr_equal(&relay->clients[i].addr, addr))
      return &relay->clients[i];
  return open_client(relay, addr, now_ns);
}

/* Packets. */

/* Puts a copy into the schedule; false when it is full. */
static bool place(struct way *way, const struct ls__udp_datagram *datagram,
                  const struct client *client, int64_t at_ns) {
  struct ls__departure *departure = ls__egress_reserve(&way->egress);
  if (!departure)
    return false;
  memcpy(departure->payload, datagram->data, datagram->len);
  departure->length = (uint32_t)datagram->len;
  if (way->direction == FORWARD) {
    departure->to = way->relay->config.target;
    departure->cookie = cookie_of(client);
  } else {
    departure->to = client->addr;
    departure->from = client->called;
  }
  ls__egress_commit(&way->egress, departure, at_ns);
  return true;
}

/* Lets the model decide over a datagram and puts what arrives into the schedule. */
static void carry(struct way *way, const struct ls__udp_datagram *datagram,
                  const struct client *client, int64_t now_ns) {
  way->packets++;
  if (datagram->len > LS__RELAY_BYTES) {
    way->overflow++;
    warn_once(way->relay, WARNED_LENGTH, "a datagram of more than 2048 bytes was not relayed");
    return;
  }
  uint32_t headers = datagram->from.family == 4 ? HEADERS_4 : HEADERS_6;
  int64_t at_ns[2];
  enum ls__model_fate fate;
  unsigned copies =
      ls__model_offer(&way->model, now_ns, (uint32_t)datagram->len + headers, at_ns, &fate);
  unsigned placed = 0;
  while (placed < copies && place(way, datagram, client, at_ns[placed]))
    placed++;
  if (placed < copies)
    warn_once(way->relay, WARNED_QUEUE,
              "more packets under way than the relay holds: raise queue_packets");
  way->lost += fate == LS_FATE_LOST;
  way->outage += fate == LS_FATE_OUTAGE;
  way->overflow += fate == LS_FATE_OVERFLOW || (copies > 0 && placed == 0);
  way->duplicated += placed == 2;
}

static void listening_ready(void *self, int64_t now_ns) {
  struct relay *relay = self;
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  uint32_t drops = relay->drops;
  unsigned count =
      ls__udp_read(relay->listening.fd, relay->object.reactor->loop.reader, datagrams, &drops);
  relay->ways[FORWARD].dropped_kernel += drops - relay->drops;
  relay->drops = drops;
  for (unsigned i = 0; i < count; i++) {
    struct client *client = client_of(relay, &datagrams[i].from, now_ns);
    if (!client) {
      relay->refused_clients++;
      continue;
    }
    client->heard_ns = now_ns;
    client->called = datagrams[i].to;
    carry(&relay->ways[FORWARD], &datagrams[i], client, now_ns);
  }
  ls__egress_run(&relay->ways[FORWARD].egress, now_ns);
}

/* The object. */

static int option(struct ls__object *object, int32_t index, const char *name, const char *value,
                  char *err, uint32_t err_len) {
  if (index != LS_SELF)
    return ls__fail(LS_EINDEX, err, err_len, "a relay has no endpoint %d", index);
  return ls__relay_config_set(&relay_of(object)->config, name, value, err, err_len);
}

static void release(struct relay *relay) {
  for (int i = 0; relay->prepared && i < DIRECTIONS; i++)
    ls__egress_free(&relay->ways[i].egress);
  relay->prepared = false;
}

static int prepare(struct ls__object *object, char *err, uint32_t err_len) {
  struct relay *relay = relay_of(object);
  release(relay);
  int result = ls__relay_config_finish(&relay->config, err, err_len);
  if (result < 0)
    return result;
  uint32_t slots = (uint32_t)relay->config.queue_packets;
  for (int i = 0; i < DIRECTIONS; i++) {
    struct way *way = &relay->ways[i];
    result = ls__egress_init_backend(&way->egress, NULL, backend_of(way), slots, LS__RELAY_BYTES,
                                     err, err_len);
    if (result == 0)
      continue;
    if (i == BACKWARD)
      ls__egress_free(&relay->ways[FORWARD].egress);
    return ls__fail(result, err, err_len, "no memory for %u packets: lower queue_packets", slots);
  }
  relay->prepared = true;
  return 0;
}

static void close_sockets(struct relay *relay) {
  struct ls__loop *loop = &relay->object.reactor->loop;
  ls__loop_at(loop, &relay->expiry, LS_NEVER);
  for (unsigned i = 0; i < LS__RELAY_CLIENTS; i++)
    close_client(relay, &relay->clients[i]);
  if (relay->listening.fd >= 0) {
    ls__loop_unwatch(loop, &relay->listening);
    close(relay->listening.fd);
    relay->listening.fd = -1;
  }
}

static void shut(struct ls__object *object) {
  close_sockets(relay_of(object));
  release(relay_of(object));
}

static int start(struct ls__object *object, int64_t now_ns, char *err, uint32_t err_len) {
  struct relay *relay = relay_of(object);
  struct ls__loop *loop = &object->reactor->loop;
  for (int i = 0; i < DIRECTIONS; i++) {
    struct way *way = &relay->ways[i];
    int code = ls__model_init(
        &way->model, i == FORWARD ? &relay->config.ways.forward : &relay->config.ways.backward,
        now_ns, err, err_len);
    LS_ASSERT(code == 0); /* checked by prepare */
    way->egress.loop = loop;
  }
  struct ls__udp_config config = {.local = relay->config.local, .tos = -1, .ttl = -1};
  relay->listening.fd = ls__udp_open(&config, err, err_len);
  if (relay->listening.fd < 0) {
    shut(object);
    return LS_ESYSTEM;
  }
  relay->listening_six = ls__udp_is_six(relay->listening.fd);
  if (ls__loop_watch(loop, &relay->listening) < 0) {
    shut(object);
    return ls__fail(LS_ESYSTEM, err, err_len, "the system does not let the relay watch its socket");
  }
  struct ls__addr local = ls__udp_local(relay->listening.fd);
  char from[LS_ADDR_TEXT], to[LS_ADDR_TEXT];
  ls__object_event(object, LS_EVENT_FLOW_STATE, LS_FLOW_RUNNING, LS_SELF, "relaying %s to %s",
                   ls__addr_format(&local, from), ls__addr_format(&relay->config.target, to));
  return 0;
}

/* A link has no graceful end: what is under way is gone, as when a cable is pulled. */
static void stop(struct ls__object *object, int64_t now_ns) {
  (void)now_ns;
  close_sockets(relay_of(object));
  for (int i = 0; i < DIRECTIONS; i++)
    ls__loop_at(&object->reactor->loop, &relay_of(object)->ways[i].egress.task, LS_NEVER);
  ls__object_ended(object, "stopped");
}

static void publish(struct ls__object *object, int64_t now_ns) {
  struct relay *relay = relay_of(object);
  const struct way *forward = &relay->ways[FORWARD], *backward = &relay->ways[BACKWARD];
  (void)now_ns;
  struct ls__histogram *lateness = &relay->lateness;
  ls__histogram_reset(lateness);
  ls__histogram_merge(lateness, &forward->egress.lateness);
  ls__histogram_merge(lateness, &backward->egress.lateness);
  struct ls__stats_relay stats = {
      .forward_packets = forward->packets,
      .forward_lost = forward->lost,
      .forward_outage = forward->outage,
      .forward_overflow = forward->overflow,
      .forward_duplicated = forward->duplicated,
      .forward_dropped_kernel = forward->dropped_kernel,
      .backward_packets = backward->packets,
      .backward_lost = backward->lost,
      .backward_outage = backward->outage,
      .backward_overflow = backward->overflow,
      .backward_duplicated = backward->duplicated,
      .backward_dropped_kernel = backward->dropped_kernel,
      .refused_clients = relay->refused_clients,
      .lateness_p50_ns = (uint64_t)ls__histogram_percentile(lateness, 50000),
      .lateness_p99_ns = (uint64_t)ls__histogram_percentile(lateness, 99000),
      .lateness_max_ns = (uint64_t)ls__histogram_max(lateness),
  };
  ls__publish(&relay->published, &stats, sizeof stats);
}

static int statistics(struct ls__object *object, int32_t scope, int32_t index, void *buf,
                      uint32_t len) {
  if (scope != LS_SCOPE_RELAY)
    return LS_EINVAL;
  if (index != LS_SELF)
    return LS_EINDEX;
  return ls__published_copy(&relay_of(object)->published, sizeof(struct ls__stats_relay), buf, len);
}

static void destroy(struct ls__object *object) {
  release(relay_of(object));
  free(object);
}

struct ls__object *ls__relay_new(void) {
  static const struct ls__object_ops ops = {.option = option,
                                            .prepare = prepare,
                                            .start = start,
                                            .stop = stop,
                                            .shut = shut,
                                            .publish = publish,
                                            .statistics = statistics,
                                            .destroy = destroy};
  struct relay *relay = calloc(1, sizeof *relay);
  if (!relay)
    return NULL;
  relay->object.ops = &ops;
  ls__relay_config_init(&relay->config);
  relay->listening = (struct ls__source){.fd = -1, .ready = listening_ready, .self = relay};
  relay->expiry = (struct ls__task){.run = expire, .self = relay};
  for (int i = 0; i < DIRECTIONS; i++) {
    relay->ways[i].relay = relay;
    relay->ways[i].direction = (enum direction)i;
  }
  for (unsigned i = 0; i < LS__RELAY_CLIENTS; i++) {
    struct client *client = &relay->clients[i];
    client->relay = relay;
    client->source = (struct ls__source){.fd = -1, .ready = target_ready, .self = client};
  }
  return &relay->object;
}
