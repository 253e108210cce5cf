#include "io/thread.h"

#include "lockstep.h"

#include <signal.h>

int ls__thread_start(pthread_t *thread, void *(*run)(void *), void *self) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int refused = pthread_create(thread, NULL, run, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return refused ? LS_ESYSTEM : 0;
}
