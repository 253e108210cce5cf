/* A flow: one input, 1..n outputs, on one reactor thread. The input hands each payload with its
 * nominal time to every output; how an output makes that time true is its own affair. */
#ifndef LS__FLOW_FLOW_H
#define LS__FLOW_FLOW_H

#include "base/option.h"
#include "base/statistics.gen.h"
#include "flow/object.h"

#define LS__OUTPUTS_MAX 16
#define LS__ENDPOINTS_MAX (1 + LS__OUTPUTS_MAX)
#define LS__FLOW_LINKS_MAX 16
/* Link numbers begin here, so that none is an endpoint's. */
#define LS__LINK_BASE 0x10000

struct ls__flow;
struct ls__endpoint;

struct ls__endpoint_ops {
  const struct ls__option *options; /* their offsets are relative to the endpoint */
  size_t option_count;
  /** Checks the options and allocates (API thread). */
  int (*prepare)(struct ls__endpoint *endpoint, char *err, uint32_t err_len);
  /** Opens and starts (reactor thread, as all below). On failure `shut` follows. */
  int (*start)(struct ls__endpoint *endpoint, int64_t now_ns, char *err, uint32_t err_len);
  /** Input: no more payload. Output: deliver what is buffered, then end. */
  void (*stop)(struct ls__endpoint *endpoint, int64_t now_ns);
  /** Whether nothing is left to do after `stop` (an input may also end by itself). */
  bool (*ended)(const struct ls__endpoint *endpoint);
  /** Closes everything; works in any state. */
  void (*shut)(struct ls__endpoint *endpoint);
  /** As ls__object_ops.release; NULL: nothing. */
  void (*release)(struct ls__endpoint *endpoint);
  /** Output: takes a payload whose nominal time is `at_ns`. */
  void (*push)(struct ls__endpoint *endpoint, const uint8_t *payload, size_t len, int64_t at_ns,
               int64_t now_ns);
  /** Output: sends what the pushes since the last flush have left. */
  void (*flush)(struct ls__endpoint *endpoint, int64_t now_ns);
  /** Output: whether a source that can wait should push now. */
  bool (*has_room)(const struct ls__endpoint *endpoint);
  /** Fills in the gauges of endpoint->stats. */
  void (*gauges)(struct ls__endpoint *endpoint, int64_t now_ns);
  /** Frees the endpoint (API thread). */
  void (*destroy)(struct ls__endpoint *endpoint);
};

struct ls__endpoint {
  const struct ls__endpoint_ops *ops;
  struct ls__flow *flow;
  int32_t index, kind;
  struct ls__stats_endpoint stats;
  struct ls__published published;
};

/* A link of an SRT endpoint, as configured; its state is in the endpoint. */
struct ls__flow_link {
  struct ls__endpoint *endpoint;
  int mode; /* 0 caller, 1 listener */
  struct ls__addr remote, local;
  char interface[16];
  int64_t tos, ttl;
  struct ls__stats_link stats;
  struct ls__published published;
};

struct ls__flow {
  struct ls__object object; /* first: a flow is an object */
  char name[64];
  bool stop_with_link;
  struct ls__endpoint *endpoints[LS__ENDPOINTS_MAX]; /* [0] is the input */
  unsigned output_count;
  struct ls__flow_link links[LS__FLOW_LINKS_MAX];
  unsigned link_count;
  bool draining;
  char end_reason[128];
  int64_t started_ns;
  struct ls__published published;
};

/** A new flow; NULL when out of memory. */
struct ls__object *ls__flow_new(void);

/** As ls_endpoint_add and ls_link_add; the object must be a flow, else LS_EHANDLE. */
int ls__flow_add_endpoint(struct ls__object *object, int32_t direction, int32_t kind);
int ls__flow_add_link(struct ls__object *object, int32_t endpoint);

/** The local port that a link of a flow is bound to, 0 when none is or it is no flow. */
uint16_t ls__flow_local_port(const struct ls__object *object);

/* For endpoints (reactor thread). */

static inline struct ls__loop *ls__flow_loop(const struct ls__flow *flow) {
  return &flow->object.reactor->loop;
}

/** Hands a payload to all outputs; ls__flow_flush follows after the last of a batch. */
void ls__flow_deliver(struct ls__flow *flow, const uint8_t *payload, size_t len, int64_t at_ns,
                      int64_t now_ns);
void ls__flow_flush(struct ls__flow *flow, int64_t now_ns);

/** Whether every output has room. */
bool ls__flow_has_room(const struct ls__flow *flow);

/** Whether the input is SRT: its payloads have playout times. */
bool ls__flow_from_srt(const struct ls__flow *flow);

/** Begins the end: the input has ended by itself, or the flow was told to stop. */
void ls__flow_drain(struct ls__flow *flow, const char *reason, int64_t now_ns);

/** An endpoint may have ended: ends the flow when all have. */
void ls__flow_check(struct ls__flow *flow, int64_t now_ns);

/* The kinds of endpoint; NULL when out of memory. */
struct ls__endpoint *ls__udp_input_new(void);
struct ls__endpoint *ls__udp_output_new(void);
struct ls__endpoint *ls__file_input_new(void);
struct ls__endpoint *ls__file_output_new(void);
struct ls__endpoint *ls__check_output_new(void);
struct ls__endpoint *ls__srt_endpoint_new(bool output);

#endif
