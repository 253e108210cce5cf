/* A reactor thread and the commands by which API threads reach it. */
#ifndef LS__FLOW_REACTOR_H
#define LS__FLOW_REACTOR_H

#include "flow/object.h"

#include <pthread.h>

/** Starts nothing yet. 0, LS_ENOMEM, LS_ESYSTEM. */
int ls__reactor_init(struct ls__reactor *reactor, struct ls__engine *engine);

/** Frees what init took; the loop must have stopped. */
void ls__reactor_free(struct ls__reactor *reactor);

/** Puts a started object on the list of its reactor, or takes it off (reactor thread). */
void ls__reactor_adopt(struct ls__reactor *reactor, struct ls__object *object);
void ls__reactor_drop(struct ls__reactor *reactor, struct ls__object *object);

#endif
