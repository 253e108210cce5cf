/* A UDP proxy in a thread between two SRT peers of a test: it notes what passes and can be cut, as
 * when a cable is pulled or a process killed. Included by tests only. */
#ifndef LS__FLOW_PROXY_TESTING_H
#define LS__FLOW_PROXY_TESTING_H

#include "flow/testing.h"

#include <poll.h>

struct ls__test_proxy {
  uint16_t port, target;
  int front, back;
  pthread_t thread;
  _Atomic bool cut, quit;
  _Atomic size_t longest; /* bytes of a datagram */
  _Atomic unsigned passed;
};

static inline void *ls__test_proxy_run(void *self) {
  struct ls__test_proxy *proxy = self;
  struct sockaddr_storage client = {0};
  socklen_t client_len = 0;
  uint8_t data[4096];
  while (!atomic_load(&proxy->quit)) {
    struct pollfd fds[2] = {{.fd = proxy->front, .events = POLLIN},
                            {.fd = proxy->back, .events = POLLIN}};
    if (poll(fds, 2, 20) <= 0)
      continue;
    for (int back = 0; back < 2; back++) {
      struct sockaddr_storage from;
      socklen_t from_len = sizeof from;
      ssize_t len = recvfrom(back ? proxy->back : proxy->front, data, sizeof data, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &from_len);
      if (len < 0 || atomic_load(&proxy->cut))
        continue;
      if ((size_t)len > atomic_load(&proxy->longest))
        atomic_store(&proxy->longest, (size_t)len);
      atomic_fetch_add(&proxy->passed, 1);
      if (!back) {
        client = from;
        client_len = from_len;
        ls__test_send(proxy->back, proxy->target, data, (size_t)len);
      } else if (client_len) {
        sendto(proxy->front, data, (size_t)len, 0, (struct sockaddr *)&client, client_len);
      }
    }
  }
  return NULL;
}

/** Starts a proxy to a port of 127.0.0.1; callers call `proxy->port`. */
static inline void ls__test_proxy_start(struct ls__test_proxy *proxy, uint16_t target) {
  memset(proxy, 0, sizeof *proxy);
  proxy->target = target;
  proxy->front = ls__test_socket(0);
  proxy->back = ls__test_socket(0);
  proxy->port = ls__udp_local(proxy->front).port;
  assert_int_equal(pthread_create(&proxy->thread, NULL, ls__test_proxy_run, proxy), 0);
}

static inline void ls__test_proxy_end(struct ls__test_proxy *proxy) {
  atomic_store(&proxy->quit, true);
  pthread_join(proxy->thread, NULL);
  close(proxy->front);
  close(proxy->back);
}

#endif
