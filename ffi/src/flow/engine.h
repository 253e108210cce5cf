/* The engine: reactor threads, the table of handles, commands in and events out. */
#ifndef LS__FLOW_ENGINE_H
#define LS__FLOW_ENGINE_H

#include "flow/object.h"

#define LS__ENGINES_MAX 16
#define LS__OBJECTS_MAX 1024
#define LS__REACTORS_MAX 16

/** Carries out the commands that wait for a reactor (its thread). */
void ls__engine_run_commands(struct ls__reactor *reactor, int64_t now_ns);

/** Wakes whoever waits for an event (any thread). */
void ls__engine_signal_event(struct ls__engine *engine);

/** Publishes the reactor's share of the engine's statistics (its thread). */
void ls__engine_publish(struct ls__reactor *reactor);

#endif
