/* Threads of the library. */
#ifndef LS__IO_THREAD_H
#define LS__IO_THREAD_H

#include <pthread.h>

/** Starts a thread that takes no signal: they belong to the application, and a write to a closed
 * pipe becomes an error instead of an end. 0 or LS_ESYSTEM. */
int ls__thread_start(pthread_t *thread, void *(*run)(void *), void *self);

#endif
