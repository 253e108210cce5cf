/* The multiplexer: one UDP socket for each local address and port, shared by all links on it. The
 * destination socket ID of a packet finds the link; a handshake's stream ID finds the listener. */
#ifndef LS__FLOW_MUX_H
#define LS__FLOW_MUX_H

#include "flow/object.h"
#include "io/egress.h"
#include "srt/handshake.h"
#include "srt/packet.h"

#define LS__MUX_LINKS_MAX 256
#define LS__MUX_LISTENERS_MAX 64

/* What the multiplexer tells the owner of a link. */
struct ls__mux_user {
  /** A datagram for the link came from its peer. */
  void (*input)(void *self, const struct ls__udp_datagram *datagram, int64_t now_ns);
  /** The batch is over: time to answer. */
  void (*pump)(void *self, int64_t now_ns);
  void *self;
};

/* What it asks a listener. */
struct ls__mux_listener {
  /** How well a caller's conclusion fits: 0 not at all; the listener with the most takes it. */
  int (*match)(void *self, const struct ls__handshake *hs);
  /** Takes up a connection, or gives a code of srt/reject.h. -1: taken, or to be ignored for now.
   * The listener binds the link by ls__mux_bind. */
  int (*accept)(void *self, const struct ls__udp_datagram *datagram,
                const struct ls__header *header, const struct ls__handshake *hs, int64_t now_ns);
  /** A caller was refused with a code of srt/reject.h: this listener fits it best, or is the first
   * on the port where none does. */
  void (*refused)(void *self, const struct ls__addr *caller, int reject, int64_t now_ns);
  void *self;
};

struct ls__mux_binding {
  uint32_t socket_id; /* 0 = free */
  struct ls__addr peer;
  uint32_t peer_id, isn; /* of an accepted link, to know its repeated conclusion; else 0 */
  struct ls__mux_user user;
  bool touched; /* had input in this batch */
};

struct ls__mux {
  struct ls__mux *next;
  struct ls__reactor *reactor;
  struct ls__addr local; /* as asked for */
  char interface[16];
  unsigned users;
  int fd;
  struct ls__source source;
  struct ls__egress egress;
  uint32_t drops;   /* of the kernel */
  uint64_t unknown; /* datagrams for no link, or not from its peer */
  struct ls__mux_binding bindings[LS__MUX_LINKS_MAX];
  struct ls__mux_listener listeners[LS__MUX_LISTENERS_MAX];
  unsigned listener_count;
};

/** The multiplexer of `config->local`, opened if it is not yet. With port 0 always a new one. NULL
 * with a sentence in `err`. */
struct ls__mux *ls__mux_open(struct ls__reactor *reactor, const struct ls__udp_config *config,
                             char *err, uint32_t err_len);

/** Gives it back; the last user closes it. Only from a task or command. */
void ls__mux_release(struct ls__mux *mux);

/** Adds and removes a listener. LS_ELIMIT. */
int ls__mux_listen(struct ls__mux *mux, const struct ls__mux_listener *listener);
void ls__mux_unlisten(struct ls__mux *mux, const void *self);

/** A socket ID that is free on this multiplexer. */
uint32_t ls__mux_new_id(const struct ls__mux *mux);

/** Binds a link to its socket ID. LS_ELIMIT. */
int ls__mux_bind(struct ls__mux *mux, const struct ls__mux_binding *binding);
void ls__mux_unbind(struct ls__mux *mux, uint32_t socket_id);

#endif
