/* The public interface of lockstep.h over objects and reactors.
 *
 * An API thread holds the engine's lock for the length of a call, so that a handle stays valid in
 * it; only the wait for events goes without. A close waits until every call has left. Commands are
 * carried out by the reactor while the caller waits, so that an error comes back as an answer. */
#include "flow/engine.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/option.h"
#include "base/statistics.gen.h"
#include "base/time.h"
#include "flow/flow.h"
#include "flow/reactor.h"
#include "flow/relay.h"
#include "io/clock.h"
#include "io/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A handle: generation from bit 20 on, bit 19 for an engine, its slot in bits 10..13, the slot of
 * a flow or relay in bits 0..9. */
#define SLOT_BITS 20
#define ENGINE_BIT (UINT32_C(1) << 19)

enum command_kind { COMMAND_START, COMMAND_STOP, COMMAND_SHUT, COMMAND_QUIT };

struct command {
  enum command_kind kind;
  struct ls__object *object;
  char *err;
  uint32_t err_len;
  int result;
  bool done;
};

struct engine_config {
  int64_t spin_budget_percent, realtime_priority;
};

static const struct ls__option engine_options[] = {
    {"spin_budget_percent", LS__OPTION_INT, offsetof(struct engine_config, spin_budget_percent), 0,
     100, NULL},
    {"realtime_priority", LS__OPTION_INT, offsetof(struct engine_config, realtime_priority), 0, 99,
     NULL},
};

struct ls__engine {
  int64_t handle;
  unsigned users; /* API calls inside; under engines_lock */
  bool closing, started;
  pthread_mutex_t lock; /* the table, and one command at a time */
  pthread_mutex_t command_lock;
  pthread_cond_t command_done;
  struct command *command[LS__REACTORS_MAX]; /* the one that waits for each reactor */
  struct engine_config config;
  unsigned reactor_count, next_reactor, next_event;
  struct ls__reactor reactors[LS__REACTORS_MAX];
  pthread_t threads[LS__REACTORS_MAX];
  struct ls__published published[LS__REACTORS_MAX];
  struct ls__object *objects[LS__OBJECTS_MAX];
  int event_fd;
};

static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t engine_left = PTHREAD_COND_INITIALIZER;
static struct ls__engine *engines[LS__ENGINES_MAX];
/* One count for all: a handle of a closed engine means nothing to the next one in its place. */
static _Atomic uint64_t generations;

LS_API int32_t ls_abi_version(void) {
  return LS_ABI_VERSION;
}

LS_API uint32_t ls_layout_hash(void) {
  return LS__STATS_LAYOUT_HASH;
}

LS_API int32_t ls_error_describe(int32_t code, char *buf, uint32_t len) {
  if (!buf || len == 0)
    return LS_ESIZE;
  int used = snprintf(buf, len, "%s: %s", ls__error_name(code), ls__error_text(code));
  return used < (int)len ? used : (int)len - 1;
}

static uint32_t engine_slot(int64_t handle) {
  return (uint32_t)(handle >> 10) & (LS__ENGINES_MAX - 1);
}

static int64_t make_handle(uint32_t engine, uint32_t object, uint32_t bit) {
  uint64_t generation = atomic_fetch_add(&generations, 1) + 1;
  return (int64_t)(generation << SLOT_BITS | bit | engine << 10 | object);
}

static void leave_engine(struct ls__engine *engine) {
  pthread_mutex_lock(&engines_lock);
  engine->users--;
  pthread_cond_broadcast(&engine_left);
  pthread_mutex_unlock(&engines_lock);
}

static void unlock_engine(struct ls__engine *engine) {
  pthread_mutex_unlock(&engine->lock);
  leave_engine(engine);
}

/* Finds and locks the engine of a handle; NULL when it is closed. */
static struct ls__engine *lock_engine(int64_t handle) {
  if (handle <= 0)
    return NULL;
  pthread_mutex_lock(&engines_lock);
  struct ls__engine *engine = engines[engine_slot(handle)];
  if (engine)
    engine->users++;
  pthread_mutex_unlock(&engines_lock);
  if (!engine)
    return NULL;
  pthread_mutex_lock(&engine->lock);
  if (!engine->closing)
    return engine;
  unlock_engine(engine);
  return NULL;
}

static struct ls__object *find_object(struct ls__engine *engine, int64_t handle) {
  struct ls__object *object = engine->objects[handle & (LS__OBJECTS_MAX - 1)];
  return object && object->handle == handle ? object : NULL;
}

/* The engine's options take effect on a reactor at its first start. */
static void apply_options(struct ls__reactor *reactor, struct ls__object *object) {
  const struct engine_config *config = &reactor->engine->config;
  struct sched_param param = {.sched_priority = (int)config->realtime_priority};
  if (reactor->configured)
    return;
  reactor->configured = true;
  ls__loop_budget(&reactor->loop, (uint32_t)config->spin_budget_percent);
  int refused =
      param.sched_priority ? pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) : 0;
  if (refused)
    ls__object_event(object, LS_EVENT_WARNING, refused, LS_SELF,
                     "no real-time priority: %s; run as root or grant CAP_SYS_NICE",
                     strerror(refused));
}

/* Carries out one command; the thread of the reactor. */
static int carry_out(struct ls__reactor *reactor, struct command *command, int64_t now_ns) {
  struct ls__object *object = command->object;
  switch (command->kind) {
  case COMMAND_START: {
    apply_options(reactor, object);
    int result = object->ops->start(object, now_ns, command->err, command->err_len);
    if (result == 0)
      ls__reactor_adopt(reactor, object);
    return result;
  }
  case COMMAND_STOP:
    if (!object->ended)
      object->ops->stop(object, now_ns);
    return 0;
  case COMMAND_SHUT:
    object->ops->shut(object);
    ls__reactor_drop(reactor, object);
    return 0;
  case COMMAND_QUIT:
    reactor->loop.stop = true;
    return 0;
  }
  return LS_EINVAL;
}

void ls__engine_run_commands(struct ls__reactor *reactor, int64_t now_ns) {
  struct ls__engine *engine = reactor->engine;
  unsigned index = (unsigned)(reactor - engine->reactors);
  pthread_mutex_lock(&engine->command_lock);
  struct command *command = engine->command[index];
  engine->command[index] = NULL;
  pthread_mutex_unlock(&engine->command_lock);
  if (!command)
    return;
  int result = carry_out(reactor, command, now_ns);
  pthread_mutex_lock(&engine->command_lock);
  command->result = result;
  command->done = true;
  pthread_cond_broadcast(&engine->command_done);
  pthread_mutex_unlock(&engine->command_lock);
}

/* Hands a command to a reactor and waits for its answer; the engine's lock is held, so that there
 * is one at a time. */
static int command(struct ls__engine *engine, struct ls__reactor *reactor, struct command command) {
  unsigned index = (unsigned)(reactor - engine->reactors);
  pthread_mutex_lock(&engine->command_lock);
  LS_ASSERT(!engine->command[index]);
  engine->command[index] = &command;
  ls__loop_wake(&reactor->loop);
  while (!command.done)
    pthread_cond_wait(&engine->command_done, &engine->command_lock);
  pthread_mutex_unlock(&engine->command_lock);
  return command.result;
}

void ls__engine_signal_event(struct ls__engine *engine) {
  uint64_t one = 1;
  ssize_t done = write(engine->event_fd, &one, sizeof one);
  LS_ASSERT(done == sizeof one || errno == EAGAIN);
}

void ls__engine_publish(struct ls__reactor *reactor) {
  struct ls__stats_engine stats = {.wakeups = reactor->loop.wakeups,
                                   .spin_ns = reactor->loop.spin.total_ns,
                                   .spin_refused = reactor->loop.spin.over_budget,
                                   .packets_unknown = reactor->packets_unknown,
                                   .events_lost = reactor->events_lost};
  ls__publish(&reactor->engine->published[reactor - reactor->engine->reactors], &stats,
              sizeof stats);
}

static void *reactor_thread(void *self) {
  struct ls__reactor *reactor = self;
  ls__loop_run(&reactor->loop);
  return NULL;
}

static void stop_threads(struct ls__engine *engine) {
  for (unsigned i = 0; i < engine->reactor_count; i++) {
    command(engine, &engine->reactors[i], (struct command){.kind = COMMAND_QUIT});
    pthread_join(engine->threads[i], NULL);
    ls__reactor_free(&engine->reactors[i]);
  }
  engine->reactor_count = 0;
}

static void free_engine(struct ls__engine *engine) {
  if (engine->event_fd >= 0)
    close(engine->event_fd);
  pthread_mutex_destroy(&engine->lock);
  pthread_mutex_destroy(&engine->command_lock);
  pthread_cond_destroy(&engine->command_done);
  free(engine);
}

static int start_threads(struct ls__engine *engine, uint32_t threads) {
  for (; engine->reactor_count < threads; engine->reactor_count++) {
    struct ls__reactor *reactor = &engine->reactors[engine->reactor_count];
    int result = ls__reactor_init(reactor, engine);
    if (result < 0)
      return result;
    if (ls__thread_start(&engine->threads[engine->reactor_count], reactor_thread, reactor) < 0) {
      ls__reactor_free(reactor);
      return LS_ESYSTEM;
    }
  }
  return 0;
}

LS_API int64_t ls_engine_open(uint32_t threads, char *err, uint32_t err_len) {
  if (threads < 1 || threads > LS__REACTORS_MAX)
    return ls__fail(LS_EINVAL, err, err_len, "threads: %u is not from 1 to %d", threads,
                    LS__REACTORS_MAX);
  struct ls__engine *engine = calloc(1, sizeof *engine);
  if (!engine)
    return ls__fail(LS_ENOMEM, err, err_len, "out of memory");
  pthread_mutex_init(&engine->lock, NULL);
  pthread_mutex_init(&engine->command_lock, NULL);
  pthread_cond_init(&engine->command_done, NULL);
  engine->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  int result = engine->event_fd < 0 ? LS_ESYSTEM : start_threads(engine, threads);
  pthread_mutex_lock(&engines_lock);
  unsigned slot = 0;
  while (slot < LS__ENGINES_MAX && engines[slot])
    slot++;
  if (result == 0 && slot == LS__ENGINES_MAX)
    result = LS_ELIMIT;
  if (result == 0) {
    engine->handle = make_handle(slot, 0, ENGINE_BIT);
    engines[slot] = engine;
  }
  pthread_mutex_unlock(&engines_lock);
  if (result == 0)
    return engine->handle;
  stop_threads(engine);
  free_engine(engine);
  return ls__fail(result, err, err_len, "cannot start the engine: %s", ls__error_text(result));
}

static int64_t add_object(int64_t engine_handle, struct ls__object *object) {
  if (!object)
    return LS_ENOMEM;
  int64_t result = LS_EHANDLE;
  struct ls__engine *engine = lock_engine(engine_handle);
  if (engine && engine->handle == engine_handle) {
    unsigned slot = 0;
    while (slot < LS__OBJECTS_MAX && engine->objects[slot])
      slot++;
    result = LS_ELIMIT;
    if (slot < LS__OBJECTS_MAX) {
      object->engine = engine;
      object->handle = make_handle(engine_slot(engine_handle), slot, 0);
      engine->objects[slot] = object;
      result = object->handle;
    }
  }
  if (engine)
    unlock_engine(engine);
  if (result < 0)
    object->ops->destroy(object);
  return result;
}

LS_API int64_t ls_flow_open(int64_t engine) {
  return add_object(engine, ls__flow_new());
}

LS_API int64_t ls_relay_open(int64_t engine) {
  return add_object(engine, ls__relay_new());
}

LS_API int32_t ls_endpoint_add(int64_t flow, int32_t direction, int32_t kind) {
  struct ls__engine *engine = lock_engine(flow);
  if (!engine)
    return LS_EHANDLE;
  struct ls__object *object = find_object(engine, flow);
  int result = LS_EHANDLE;
  if (object)
    result = object->reactor ? LS_ESTATE : ls__flow_add_endpoint(object, direction, kind);
  unlock_engine(engine);
  return result;
}

LS_API int32_t ls_link_add(int64_t flow, int32_t endpoint) {
  struct ls__engine *engine = lock_engine(flow);
  if (!engine)
    return LS_EHANDLE;
  struct ls__object *object = find_object(engine, flow);
  int result = LS_EHANDLE;
  if (object)
    result = object->reactor ? LS_ESTATE : ls__flow_add_link(object, endpoint);
  unlock_engine(engine);
  return result;
}

static int engine_option(struct ls__engine *engine, int32_t index, const char *name,
                         const char *value, char *err, uint32_t err_len) {
  if (index != LS_SELF)
    return ls__fail(LS_EINDEX, err, err_len, "an engine has no endpoint %d", index);
  if (engine->started)
    return ls__fail(LS_ESTATE, err, err_len, "%s: set it before the first start", name);
  return ls__option_set(engine_options, sizeof engine_options / sizeof *engine_options,
                        &engine->config, name, value, err, err_len);
}

LS_API int32_t ls_option(int64_t handle, int32_t index, const char *name, const char *value,
                         char *err, uint32_t err_len) {
  if (!name || !value)
    return ls__fail(LS_EINVAL, err, err_len, "an option needs a name and a value");
  struct ls__engine *engine = lock_engine(handle);
  int result = LS_EHANDLE;
  if (engine) {
    struct ls__object *object = find_object(engine, handle);
    if (engine->handle == handle)
      result = engine_option(engine, index, name, value, err, err_len);
    else if (object && object->reactor)
      result = ls__fail(LS_ESTATE, err, err_len, "%s: cannot be changed after the start", name);
    else if (object)
      result = object->ops->option(object, index, name, value, err, err_len);
    unlock_engine(engine);
  }
  if (result == LS_EHANDLE)
    ls__fail(result, err, err_len, "%s", ls__error_text(result));
  return result;
}

/* A local port belongs to one reactor, since all its flows share one socket. */
static struct ls__reactor *choose_reactor(struct ls__engine *engine, struct ls__object *object) {
  uint16_t port = ls__flow_local_port(object);
  for (unsigned i = 0; port && i < LS__OBJECTS_MAX; i++) {
    struct ls__object *other = engine->objects[i];
    if (other && other->reactor && ls__flow_local_port(other) == port)
      return other->reactor;
  }
  return &engine->reactors[engine->next_reactor++ % engine->reactor_count];
}

static void release(struct ls__object *object) {
  if (object->ops->release)
    object->ops->release(object);
}

static int start(struct ls__engine *engine, struct ls__object *object, char *err,
                 uint32_t err_len) {
  if (object->reactor)
    return ls__fail(LS_ESTATE, err, err_len, "already started");
  int result = object->ops->prepare(object, err, err_len);
  if (result < 0) {
    release(object);
    return result;
  }
  engine->started = true;
  object->reactor = choose_reactor(engine, object);
  result = command(
      engine, object->reactor,
      (struct command){.kind = COMMAND_START, .object = object, .err = err, .err_len = err_len});
  if (result < 0) {
    object->reactor = NULL;
    release(object);
  }
  return result;
}

LS_API int32_t ls_start(int64_t handle, char *err, uint32_t err_len) {
  struct ls__engine *engine = lock_engine(handle);
  struct ls__object *object = engine ? find_object(engine, handle) : NULL;
  int result = object ? start(engine, object, err, err_len)
                      : ls__fail(LS_EHANDLE, err, err_len, "%s", ls__error_text(LS_EHANDLE));
  if (engine)
    unlock_engine(engine);
  return result;
}

LS_API int32_t ls_stop(int64_t handle) {
  struct ls__engine *engine = lock_engine(handle);
  struct ls__object *object = engine ? find_object(engine, handle) : NULL;
  int result = object ? LS_ESTATE : LS_EHANDLE;
  if (object && object->reactor)
    result =
        command(engine, object->reactor, (struct command){.kind = COMMAND_STOP, .object = object});
  if (engine)
    unlock_engine(engine);
  return result;
}

static void close_object(struct ls__engine *engine, struct ls__object *object) {
  engine->objects[object->handle & (LS__OBJECTS_MAX - 1)] = NULL;
  if (object->reactor)
    command(engine, object->reactor, (struct command){.kind = COMMAND_SHUT, .object = object});
  object->ops->destroy(object);
}

/* Ends all of an engine that is locked, and waits for the calls that are still inside it. */
static void close_engine(struct ls__engine *engine) {
  engine->closing = true;
  for (unsigned i = 0; i < LS__OBJECTS_MAX; i++)
    if (engine->objects[i])
      close_object(engine, engine->objects[i]);
  stop_threads(engine);
  ls__engine_signal_event(engine);
  pthread_mutex_unlock(&engine->lock);
  pthread_mutex_lock(&engines_lock);
  engines[engine_slot(engine->handle)] = NULL;
  while (engine->users > 1)
    pthread_cond_wait(&engine_left, &engines_lock);
  pthread_mutex_unlock(&engines_lock);
  free_engine(engine);
}

LS_API int32_t ls_close(int64_t handle) {
  struct ls__engine *engine = lock_engine(handle);
  if (!engine)
    return LS_EHANDLE;
  if (engine->handle == handle) {
    close_engine(engine);
    return 0;
  }
  struct ls__object *object = find_object(engine, handle);
  if (object)
    close_object(engine, object);
  unlock_engine(engine);
  return object ? 0 : LS_EHANDLE;
}

/* Takes the next event, from each reactor in turn. Its descriptor may still tell of events that
 * were taken before, and tells other waiters of those that are left. */
static int take_event(struct ls__engine *engine, struct ls_event *event) {
  uint64_t told;
  ssize_t got = read(engine->event_fd, &told, sizeof told);
  LS_ASSERT(got == sizeof told || errno == EAGAIN);
  int taken = 0;
  for (unsigned i = 0; i < engine->reactor_count; i++) {
    struct ls__ring *ring =
        &engine->reactors[(engine->next_event + i) % engine->reactor_count].events;
    if (!taken && ls__ring_read(ring, event, sizeof *event) > 0)
      taken = 1;
    if (taken && !ls__ring_empty(ring)) {
      ls__engine_signal_event(engine);
      break;
    }
  }
  engine->next_event += (unsigned)taken;
  return taken;
}

LS_API int32_t ls_event_wait(int64_t handle, void *event, uint32_t len, int32_t timeout_ms) {
  if (!event || len != sizeof(struct ls_event))
    return LS_ESIZE;
  int64_t until_ns = ls__clock_now() + timeout_ms * LS_MS;
  struct ls__engine *engine = lock_engine(handle);
  if (!engine)
    return LS_EHANDLE;
  for (;;) {
    bool gone = engine->closing || engine->handle != handle;
    int result = gone ? LS_EHANDLE : take_event(engine, event);
    pthread_mutex_unlock(&engine->lock);
    int64_t left_ns = until_ns - ls__clock_now();
    if (result != 0 || left_ns <= 0) {
      leave_engine(engine);
      return result;
    }
    struct pollfd ready = {.fd = engine->event_fd, .events = POLLIN};
    poll(&ready, 1, (int)((left_ns + LS_MS - 1) / LS_MS));
    pthread_mutex_lock(&engine->lock);
  }
}

static int engine_statistics(struct ls__engine *engine, void *buf, uint32_t len) {
  struct ls__stats_engine sum = {0}, one;
  if (len != sizeof sum)
    return LS_ESIZE;
  for (unsigned i = 0; i < engine->reactor_count; i++) {
    ls__published_copy(&engine->published[i], sizeof one, &one, sizeof one);
    sum.wakeups += one.wakeups;
    sum.spin_ns += one.spin_ns;
    sum.spin_refused += one.spin_refused;
    sum.packets_unknown += one.packets_unknown;
    sum.events_lost += one.events_lost;
  }
  memcpy(buf, &sum, sizeof sum);
  return sizeof sum;
}

LS_API int32_t ls_stats(int64_t handle, int32_t scope, int32_t index, void *buf, uint32_t len) {
  if (!buf)
    return LS_ESIZE;
  struct ls__engine *engine = lock_engine(handle);
  if (!engine)
    return LS_EHANDLE;
  struct ls__object *object = find_object(engine, handle);
  int result = LS_EHANDLE;
  if (engine->handle == handle)
    result = scope == LS_SCOPE_ENGINE ? engine_statistics(engine, buf, len) : LS_EINVAL;
  else if (object)
    result = object->ops->statistics(object, scope, index, buf, len);
  unlock_engine(engine);
  return result;
}
