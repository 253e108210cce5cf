/* liblockstep: the whole public interface.
 *
 * An engine owns reactor threads. A flow has one input and one or more outputs; a relay is a UDP
 * impairment relay. All are made, given options by name and value, and started; statistics are
 * copied out, events are waited for. Nothing here calls back, returns a pointer or keeps one.
 *
 * Conventions
 *   handle  int64_t > 0 (slot and generation); a stale handle gives LS_EHANDLE, never a crash
 *   result  >= 0 on success, a negative error of LS_ERRORS otherwise
 *   err     where given: receives a NUL-terminated sentence (what happened, what is accepted);
 *           may be NULL with err_len 0
 *   index   LS_SELF for the object itself, else an endpoint or link number that an _add returned
 *   threads any thread may call; calls on one engine are serialised inside
 *   closing ls_close of an engine waits for the calls inside it; later ones give LS_EHANDLE
 */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LS_API __attribute__((visibility("default")))

/** Raised with every incompatible change of this file. */
#define LS_ABI_VERSION 1

#define LS_SELF (-1)

/* Every error of the library: name, value, text for a person. */
#define LS_ERRORS(X)                                                                               \
  X(LS_EINVAL, -1, "an argument or option value is not accepted")                                  \
  X(LS_EHANDLE, -2, "the handle is unknown or was closed")                                         \
  X(LS_ENOMEM, -3, "out of memory")                                                                \
  X(LS_ELIMIT, -4, "a limit was reached")                                                          \
  X(LS_ESTATE, -5, "not possible in this state")                                                   \
  X(LS_EOPTION, -6, "there is no such option")                                                     \
  X(LS_ESYSTEM, -7, "the operating system refused")                                                \
  X(LS_EINDEX, -8, "there is no such endpoint or link")                                            \
  X(LS_ESIZE, -9, "the buffer has the wrong size")                                                 \
  X(LS_EFORMAT, -10, "malformed data")

enum ls_error {
#define LS__ERROR_ENUM(name, value, text) name = value,
  LS_ERRORS(LS__ERROR_ENUM)
#undef LS__ERROR_ENUM
};

/* What an endpoint is. */
enum ls_endpoint_kind {
  LS_KIND_UDP = 1,  /* datagrams; options remote, local, interface, ... */
  LS_KIND_SRT = 2,  /* one stream over 1..n links; links are added with ls_link_add */
  LS_KIND_FILE = 3, /* a file, or fd 0 / fd 1 with option fd */
  LS_KIND_CHECK = 4 /* output only: verifies the measuring payload of the media room */
};

enum ls_direction { LS_INPUT = 1, LS_OUTPUT = 2 };

/* What a block of statistics belongs to; layouts are in statistics.gen.h. */
enum ls_scope {
  LS_SCOPE_ENGINE = 1,
  LS_SCOPE_FLOW = 2,
  LS_SCOPE_ENDPOINT = 3,
  LS_SCOPE_LINK = 4,
  LS_SCOPE_RELAY = 5,
  LS_SCOPE_SIMULATION = 6
};

enum ls_event_kind {
  LS_EVENT_FLOW_STATE = 1, /* code: enum ls_flow_state */
  LS_EVENT_LINK_STATE = 2, /* code: enum ls_link_state; index: the link */
  LS_EVENT_WARNING = 3,    /* text says what and what to do */
  LS_EVENT_LOST = 4        /* code: how many events did not fit into the ring */
};

enum ls_flow_state { LS_FLOW_RUNNING = 1, LS_FLOW_DRAINING = 2, LS_FLOW_ENDED = 3 };

enum ls_link_state {
  LS_LINK_CONNECTING = 1, /* calling, or listening for a caller */
  LS_LINK_CONNECTED = 2,
  LS_LINK_BROKEN = 3, /* ended by an error; text says why; a caller calls again */
  LS_LINK_CLOSED = 4  /* ended by either side on purpose */
};

#define LS_EVENT_TEXT 224

/* One event, 256 bytes, copied to the caller. Little-endian where the machine is. */
struct ls_event {
  uint32_t kind;
  int32_t code;
  int64_t handle; /* flow or relay */
  int32_t index;  /* endpoint or link, LS_SELF */
  uint32_t reserved;
  int64_t at_ns; /* CLOCK_REALTIME */
  char text[LS_EVENT_TEXT];
};

/** LS_ABI_VERSION of the library that was loaded. */
LS_API int32_t ls_abi_version(void);

/** Hash of the statistics layout that the library was built with (statistics.gen.h). */
LS_API uint32_t ls_layout_hash(void);

/** Name and text of an error ("LS_EINVAL: ...") into `buf`; the length without NUL.
 * LS_ESIZE when `len` is 0. */
LS_API int32_t ls_error_describe(int32_t code, char *buf, uint32_t len);

/** Starts `threads` (1..16) reactor threads. A handle; LS_EINVAL, LS_ELIMIT (16 engines),
 * LS_ENOMEM, LS_ESYSTEM. */
LS_API int64_t ls_engine_open(uint32_t threads, char *err, uint32_t err_len);

/** A flow with no endpoints yet. A handle; LS_EHANDLE, LS_ELIMIT, LS_ENOMEM. */
LS_API int64_t ls_flow_open(int64_t engine);

/** A UDP impairment relay. A handle; LS_EHANDLE, LS_ELIMIT, LS_ENOMEM. */
LS_API int64_t ls_relay_open(int64_t engine);

/** Adds an endpoint before the start: exactly one input, 1..16 outputs. Its number;
 * LS_EHANDLE, LS_EINVAL, LS_ELIMIT, LS_ESTATE. */
LS_API int32_t ls_endpoint_add(int64_t flow, int32_t direction, int32_t kind);

/** Adds a link to an SRT endpoint. Its number; LS_EHANDLE, LS_EINDEX, LS_ELIMIT, LS_ESTATE. */
LS_API int32_t ls_link_add(int64_t flow, int32_t endpoint);

/** Sets an option of an engine, flow, relay (index LS_SELF), endpoint or link. Names, units and
 * values: docs/reference/options.md. LS_EOPTION, LS_EINVAL, LS_EINDEX, LS_ESTATE
 * (started already), LS_EHANDLE with a sentence in `err`. */
LS_API int32_t ls_option(int64_t handle, int32_t index, const char *name, const char *value,
                         char *err, uint32_t err_len);

/** Opens the sockets and files of a flow or relay and starts it. LS_EINVAL (incomplete),
 * LS_ESYSTEM, LS_ESTATE, LS_ENOMEM, LS_ELIMIT, LS_EHANDLE with a sentence in `err`. */
LS_API int32_t ls_start(int64_t handle, char *err, uint32_t err_len);

/** Asks a flow or relay to end: input stops, what is buffered is delivered, links say goodbye;
 * then comes LS_EVENT_FLOW_STATE with LS_FLOW_ENDED. LS_EHANDLE, LS_ESTATE. */
LS_API int32_t ls_stop(int64_t handle);

/** Ends a flow, relay or engine at once and frees it; an engine closes all it owns.
 * LS_EHANDLE. */
LS_API int32_t ls_close(int64_t handle);

/** Waits up to `timeout_ms` for the next event. 1 with `event` filled, 0 on time-out; LS_EHANDLE,
 * LS_ESIZE when `len` is not sizeof(struct ls_event). The one call to make from a waiting thread.
 */
LS_API int32_t ls_event_wait(int64_t engine, void *event, uint32_t len, int32_t timeout_ms);

/** Copies the statistics of (scope, index) as they stood at one moment, at most 50 ms ago. The
 * number of bytes; LS_EHANDLE, LS_EINVAL, LS_EINDEX, LS_ESIZE. */
LS_API int32_t ls_stats(int64_t handle, int32_t scope, int32_t index, void *buf, uint32_t len);

/* Simulation: both ends of a stream on virtual clocks over links of the impairment model, from one
 * seed. It runs in the calling thread, in a process of its own: it breaks off at a broken rule. */

/** A simulation without links. A handle; LS_ELIMIT, LS_ENOMEM. */
LS_API int64_t ls_simulation_open(void);

/** Adds a link; its number. LS_EHANDLE, LS_ELIMIT, LS_ESTATE. */
LS_API int32_t ls_simulation_link_add(int64_t simulation);

/** Sets an option of the simulation (index LS_SELF) or of a link before the first run. As
 * ls_option. */
LS_API int32_t ls_simulation_option(int64_t simulation, int32_t index, const char *name,
                                    const char *value, char *err, uint32_t err_len);

/** Runs `span_ns` of virtual time. 1 when it goes on; 0 when it stands still: at its end, or with
 * what rule was broken in `err`. LS_EHANDLE, LS_EINVAL and LS_ENOMEM with a sentence in `err`. */
LS_API int32_t ls_simulation_run(int64_t simulation, int64_t span_ns, char *err, uint32_t err_len);

/** The source ends; further runs deliver what is under way. LS_EHANDLE, LS_ESTATE. */
LS_API int32_t ls_simulation_finish(int64_t simulation);

/** Copies statistics: LS_SCOPE_SIMULATION with LS_SELF, or LS_SCOPE_LINK with 2 · link (the
 * sender's side) or 2 · link + 1 (the receiver's). As ls_stats. */
LS_API int32_t ls_simulation_stats(int64_t simulation, int32_t scope, int32_t index, void *buf,
                                   uint32_t len);

/** Frees a simulation. LS_EHANDLE. */
LS_API int32_t ls_simulation_close(int64_t simulation);

#ifdef __cplusplus
}
#endif

#endif
