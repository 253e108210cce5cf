/* The simulator's part of lockstep.h. It needs no engine: it has no thread and no real time. */
#include "base/error.h"
#include "base/option.h"
#include "lockstep.h"
#include "sim/sim.h"

#include <pthread.h>
#include <stdlib.h>

#define SIMULATIONS_MAX 16

struct slot {
  pthread_mutex_t busy; /* one call at a time */
  struct ls__sim *sim;
  uint32_t generation;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot slots[SIMULATIONS_MAX] = {
    [0 ... SIMULATIONS_MAX - 1] = {.busy = PTHREAD_MUTEX_INITIALIZER}};

/* Handle: generation · SIMULATIONS_MAX + slot. */
static struct slot *lock_slot(int64_t handle) {
  if (handle <= 0)
    return NULL;
  struct slot *slot = &slots[handle % SIMULATIONS_MAX];
  pthread_mutex_lock(&slot->busy);
  if (slot->sim && (int64_t)slot->generation == handle / SIMULATIONS_MAX)
    return slot;
  pthread_mutex_unlock(&slot->busy);
  return NULL;
}

LS_API int64_t ls_simulation_open(void) {
  struct ls__sim *sim = malloc(sizeof *sim);
  int64_t result = sim ? LS_ELIMIT : LS_ENOMEM;
  pthread_mutex_lock(&table_lock);
  for (int i = 0; sim && i < SIMULATIONS_MAX; i++) {
    struct slot *slot = &slots[i];
    pthread_mutex_lock(&slot->busy);
    if (!slot->sim) {
      ls__sim_init(sim);
      slot->sim = sim;
      slot->generation++;
      result = (int64_t)slot->generation * SIMULATIONS_MAX + i;
      sim = NULL;
    }
    pthread_mutex_unlock(&slot->busy);
  }
  pthread_mutex_unlock(&table_lock);
  free(sim);
  return result;
}

LS_API int32_t ls_simulation_link_add(int64_t handle) {
  struct slot *slot = lock_slot(handle);
  if (!slot)
    return LS_EHANDLE;
  int result = slot->sim->started ? LS_ESTATE : ls__sim_add_link(slot->sim);
  pthread_mutex_unlock(&slot->busy);
  return result;
}

static int set(struct ls__sim *sim, int32_t index, const char *name, const char *value, char *err,
               uint32_t err_len) {
  if (sim->started)
    return ls__fail(LS_ESTATE, err, err_len, "%s: cannot be changed after the start", name);
  if (index == LS_SELF)
    return ls__sim_option(sim, name, value, err, err_len);
  if (index < 0 || index >= (int32_t)sim->link_count)
    return ls__fail(LS_EINDEX, err, err_len, "the simulation has no link %d", index);
  return ls__model_pair_set(&sim->links[index].ways, name, value, err, err_len);
}

LS_API int32_t ls_simulation_option(int64_t handle, int32_t index, const char *name,
                                    const char *value, char *err, uint32_t err_len) {
  if (!name || !value)
    return ls__fail(LS_EINVAL, err, err_len, "an option needs a name and a value");
  struct slot *slot = lock_slot(handle);
  if (!slot)
    return ls__fail(LS_EHANDLE, err, err_len, "%s", ls__error_text(LS_EHANDLE));
  int result = set(slot->sim, index, name, value, err, err_len);
  pthread_mutex_unlock(&slot->busy);
  return result;
}

LS_API int32_t ls_simulation_run(int64_t handle, int64_t span_ns, char *err, uint32_t err_len) {
  struct slot *slot = lock_slot(handle);
  if (!slot)
    return ls__fail(LS_EHANDLE, err, err_len, "%s", ls__error_text(LS_EHANDLE));
  struct ls__sim *sim = slot->sim;
  int result = sim->started ? 0 : ls__sim_start(sim, err, err_len);
  if (result == 0) {
    result = ls__sim_run(sim, span_ns);
    ls__fail(0, err, err_len, "%s", sim->violation);
  }
  pthread_mutex_unlock(&slot->busy);
  return result;
}

LS_API int32_t ls_simulation_finish(int64_t handle) {
  struct slot *slot = lock_slot(handle);
  if (!slot)
    return LS_EHANDLE;
  int result = slot->sim->started ? 0 : LS_ESTATE;
  if (result == 0 && !slot->sim->finishing)
    ls__sim_finish(slot->sim);
  pthread_mutex_unlock(&slot->busy);
  return result;
}

static int copy(const struct ls__sim *sim, int32_t scope, int32_t index, void *buf, uint32_t len) {
  struct ls__stats_simulation whole = ls__sim_statistics(sim);
  struct ls__stats_link link;
  const void *from = &whole;
  uint32_t bytes = sizeof whole;
  if (scope == LS_SCOPE_LINK) {
    if (index < 0 || index >= 2 * (int32_t)sim->link_count || !sim->started)
      return LS_EINDEX;
    link = ls__sim_link_statistics(sim, (unsigned)index / 2, (unsigned)index % 2);
    from = &link;
    bytes = sizeof link;
  } else if (scope != LS_SCOPE_SIMULATION) {
    return LS_EINVAL;
  }
  if (len != bytes)
    return LS_ESIZE;
  memcpy(buf, from, bytes);
  return (int)bytes;
}

LS_API int32_t ls_simulation_stats(int64_t handle, int32_t scope, int32_t index, void *buf,
                                   uint32_t len) {
  struct slot *slot = buf ? lock_slot(handle) : NULL;
  if (!slot)
    return buf ? LS_EHANDLE : LS_ESIZE;
  int result = copy(slot->sim, scope, index, buf, len);
  pthread_mutex_unlock(&slot->busy);
  return result;
}

LS_API int32_t ls_simulation_close(int64_t handle) {
  struct slot *slot = lock_slot(handle);
  if (!slot)
    return LS_EHANDLE;
  ls__sim_free(slot->sim);
  free(slot->sim);
  slot->sim = NULL;
  pthread_mutex_unlock(&slot->busy);
  return 0;
}
