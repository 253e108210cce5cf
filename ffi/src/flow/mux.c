#include "flow/mux.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/option.h"
#include "io/clock.h"
#include "srt/listener.h"
#include "srt/reject.h"

#include <string.h>
#include <unistd.h>

/* Datagrams that wait for the socket: a second of 45 Mbit/s. */
#define SLOTS 4096
#define READS_MAX 8

static void unknown(struct ls__mux *mux) {
  mux->unknown++;
  mux->reactor->packets_unknown++;
}

static struct ls__mux_binding *find(struct ls__mux *mux, uint32_t socket_id) {
  for (unsigned i = 0; socket_id && i < LS__MUX_LINKS_MAX; i++)
    if (mux->bindings[i].socket_id == socket_id)
      return &mux->bindings[i];
  return NULL;
}

/* A slot for an answer to `asked`; NULL, counted by the schedule, when there is none: the caller
 * asks again. */
static struct ls__departure *answer_to(struct ls__mux *mux, const struct ls__udp_datagram *asked) {
  struct ls__departure *departure = ls__egress_reserve(&mux->egress);
  if (!departure)
    return NULL;
  departure->to = asked->from;
  departure->from = asked->to;
  return departure;
}

static void on_induction(struct ls__mux *mux, const struct ls__udp_datagram *datagram,
                         const struct ls__header *header, const struct ls__handshake *hs,
                         int64_t now_ns) {
  struct ls__departure *answer = answer_to(mux, datagram);
  if (!answer)
    return;
  answer->length = (uint32_t)ls__listener_induction(mux->reactor->cookie_key, &datagram->from,
                                                    header, hs, now_ns, answer->payload);
  ls__egress_commit(&mux->egress, answer, now_ns);
}

static void refuse(struct ls__mux *mux, const struct ls__udp_datagram *datagram,
                   const struct ls__header *header, const struct ls__handshake *hs, int reject,
                   int64_t now_ns) {
  struct ls__departure *answer = answer_to(mux, datagram);
  if (!answer)
    return;
  answer->length =
      (uint32_t)ls__listener_refuse(&datagram->from, header, hs, reject, answer->payload);
  ls__egress_commit(&mux->egress, answer, now_ns);
}

/* The listener that fits a caller best, among equals the first; NULL where none does. */
static const struct ls__mux_listener *choose(const struct ls__mux *mux,
                                             const struct ls__handshake *hs) {
  const struct ls__mux_listener *chosen = NULL;
  int best = 0;
  for (unsigned i = 0; i < mux->listener_count; i++) {
    int match = mux->listeners[i].match(mux->listeners[i].self, hs);
    if (match > best) {
      best = match;
      chosen = &mux->listeners[i];
    }
  }
  return chosen;
}

static void on_conclusion(struct ls__mux *mux, const struct ls__udp_datagram *datagram,
                          const struct ls__header *header, const struct ls__handshake *hs,
                          int64_t now_ns) {
  if (!ls__listener_knows(mux->reactor->cookie_key, &datagram->from, hs, now_ns)) {
    unknown(mux);
    return;
  }
  /* With a round trip above 250 ms every caller asks twice: the same caller, the same answer. */
  for (unsigned i = 0; i < LS__MUX_LINKS_MAX; i++) {
    struct ls__mux_binding *binding = &mux->bindings[i];
    if (binding->socket_id && binding->peer_id == hs->socket_id && binding->isn == hs->isn &&
        ls__addr_equal(&binding->peer, &datagram->from)) {
      binding->user.input(binding->user.self, datagram, now_ns);
      binding->touched = true;
      return;
    }
  }
  const struct ls__mux_listener *chosen = choose(mux, hs);
  int reject = ls__handshake_refusal(hs);
  if (reject < 0)
    reject =
        chosen ? chosen->accept(chosen->self, datagram, header, hs, now_ns) : LS__REJECT_NOTFOUND;
  if (reject < 0)
    return;
  refuse(mux, datagram, header, hs, reject, now_ns);
  if (!chosen)
    chosen = &mux->listeners[0];
  chosen->refused(chosen->self, &datagram->from, reject, now_ns);
}

static void on_request(struct ls__mux *mux, const struct ls__udp_datagram *datagram,
                       const struct ls__header *header, int64_t now_ns) {
  struct ls__handshake hs;
  if (mux->listener_count == 0 || !header->control || header->type != LS__CONTROL_HANDSHAKE ||
      ls__handshake_get(datagram->data + LS_HEADER_BYTES, datagram->len - LS_HEADER_BYTES, &hs) <
          0) {
    unknown(mux);
    return;
  }
  /* The magic is that of an answer. To answer it would let two listeners answer each other for
   * ever, begun by one datagram with a forged source. */
  if (hs.request == LS__REQUEST_INDUCTION && hs.extension != LS__HS_MAGIC)
    on_induction(mux, datagram, header, &hs, now_ns);
  else if (hs.request == LS__REQUEST_CONCLUSION)
    on_conclusion(mux, datagram, header, &hs, now_ns);
  else
    unknown(mux);
}

static void on_datagram(struct ls__mux *mux, const struct ls__udp_datagram *datagram,
                        int64_t now_ns) {
  struct ls__header header;
  if (datagram->len > LS_DATAGRAM_MAX ||
      ls__header_get(datagram->data, datagram->len, &header) < 0) {
    unknown(mux);
    return;
  }
  if (header.socket_id == 0) {
    on_request(mux, datagram, &header, now_ns);
    return;
  }
  struct ls__mux_binding *binding = find(mux, header.socket_id);
  if (!binding || !ls__addr_equal(&binding->peer, &datagram->from)) {
    unknown(mux);
    return;
  }
  binding->touched = true;
  binding->user.input(binding->user.self, datagram, now_ns);
}

static void ready(void *self, int64_t now_ns) {
  struct ls__mux *mux = self;
  struct ls__udp_datagram datagrams[LS__UDP_READ];
  unsigned count = LS__UDP_READ;
  for (int reads = 0; reads < READS_MAX && count == LS__UDP_READ; reads++) {
    count = ls__udp_read(mux->fd, mux->reactor->loop.reader, datagrams, &mux->drops);
    for (unsigned i = 0; i < count; i++)
      on_datagram(mux, &datagrams[i], now_ns);
  }
  for (unsigned i = 0; i < LS__MUX_LINKS_MAX; i++) {
    struct ls__mux_binding *binding = &mux->bindings[i];
    if (!binding->touched)
      continue;
    binding->touched = false;
    if (binding->socket_id)
      binding->user.pump(binding->user.self, now_ns);
  }
  ls__egress_run(&mux->egress, now_ns);
}

static struct ls__mux *open_new(struct ls__reactor *reactor, const struct ls__udp_config *config,
                                char *err, uint32_t err_len) {
  struct ls__mux *mux = calloc(1, sizeof *mux);
  if (!mux) {
    ls__fail(LS_ENOMEM, err, err_len, "out of memory");
    return NULL;
  }
  mux->reactor = reactor;
  mux->local = config->local;
  memcpy(mux->interface, config->interface, sizeof mux->interface);
  mux->fd = ls__udp_open(config, err, err_len);
  if (mux->fd < 0) {
    free(mux);
    return NULL;
  }
  mux->source = (struct ls__source){.fd = mux->fd, .ready = ready, .self = mux};
  int result = ls__egress_init(&mux->egress, &reactor->loop, mux->fd, SLOTS, LS_DATAGRAM_MAX);
  if (result == 0 && (result = ls__loop_watch(&reactor->loop, &mux->source)) < 0)
    ls__egress_free(&mux->egress);
  if (result < 0) {
    ls__fail(result, err, err_len, "cannot serve the socket: %s", ls__error_text(result));
    close(mux->fd);
    free(mux);
    return NULL;
  }
  mux->next = reactor->muxes;
  reactor->muxes = mux;
  return mux;
}

struct ls__mux *ls__mux_open(struct ls__reactor *reactor, const struct ls__udp_config *config,
                             char *err, uint32_t err_len) {
  struct ls__mux *mux = config->local.port ? reactor->muxes : NULL;
  while (mux && !(ls__addr_equal(&mux->local, &config->local) &&
                  strcmp(mux->interface, config->interface) == 0))
    mux = mux->next;
  if (!mux)
    mux = open_new(reactor, config, err, err_len);
  if (mux)
    mux->users++;
  return mux;
}

void ls__mux_release(struct ls__mux *mux) {
  LS_ASSERT(mux->users > 0);
  if (--mux->users > 0)
    return;
  struct ls__mux **at = &mux->reactor->muxes;
  while (*at != mux)
    at = &(*at)->next;
  *at = mux->next;
  ls__loop_unwatch(&mux->reactor->loop, &mux->source);
  ls__egress_free(&mux->egress);
  close(mux->fd);
  free(mux);
}

int ls__mux_listen(struct ls__mux *mux, const struct ls__mux_listener *listener) {
  if (mux->listener_count == LS__MUX_LISTENERS_MAX)
    return LS_ELIMIT;
  mux->listeners[mux->listener_count++] = *listener;
  return 0;
}

void ls__mux_unlisten(struct ls__mux *mux, const void *self) {
  for (unsigned i = 0; i < mux->listener_count; i++)
    if (mux->listeners[i].self == self) {
      mux->listeners[i] = mux->listeners[--mux->listener_count];
      return;
    }
}

uint32_t ls__mux_new_id(const struct ls__mux *mux) {
  uint32_t id;
  do
    id = ls__random_id(0x3FFFFFFF);
  while (find((struct ls__mux *)(uintptr_t)mux, id));
  return id;
}

int ls__mux_bind(struct ls__mux *mux, const struct ls__mux_binding *binding) {
  for (unsigned i = 0; i < LS__MUX_LINKS_MAX; i++)
    if (mux->bindings[i].socket_id == 0) {
      mux->bindings[i] = *binding;
      return 0;
    }
  return LS_ELIMIT;
}

void ls__mux_unbind(struct ls__mux *mux, uint32_t socket_id) {
  struct ls__mux_binding *binding = find(mux, socket_id);
  if (binding)
    *binding = (struct ls__mux_binding){0};
}
