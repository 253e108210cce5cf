/* UDP sockets, read and written in batches. */
#ifndef LS__IO_UDP_H
#define LS__IO_UDP_H

#include "base/addr.h"
#include "pace/schedule.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Datagrams read by one system call. */
#define LS__UDP_READ 32
/* Longest datagram that is read whole: a jumbo frame. */
#define LS__UDP_BYTES 9216
/* Asked for where nothing else is said: a second of 64 Mbit/s. The kernel may grant less. */
#define LS__UDP_BUFFER (8 << 20)

struct ls__udp_config {
  struct ls__addr local;  /* family 0: any address, any port, of the family of `remote` */
  struct ls__addr remote; /* family 0: not connected; used to choose the family */
  struct ls__addr group;  /* multicast group to join, family 0: none */
  struct ls__addr source; /* only from this source (IGMPv3, MLDv2), family 0: any */
  char interface[16];     /* bind to device, and multicast in and out; empty: by route */
  int64_t receive_buffer, send_buffer; /* bytes, 0: LS__UDP_BUFFER */
  int64_t tos, ttl;                    /* -1: the system's */
};

struct ls__udp_datagram {
  struct ls__addr from, to; /* `to` is our own address, port 0 */
  uint8_t *data;
  size_t len;
};

/* The reading side: buffers for one batch, shared by all sockets of a thread. */
struct ls__udp_reader;

/** NULL when out of memory. */
struct ls__udp_reader *ls__udp_reader_new(void);
void ls__udp_reader_free(struct ls__udp_reader *reader);

/** Opens a non-blocking socket; the descriptor, or LS_ESYSTEM with a sentence in `err`. */
int ls__udp_open(const struct ls__udp_config *config, char *err, uint32_t err_len);

/** The address that a socket is bound to. */
struct ls__addr ls__udp_local(int fd);

/** Reads up to LS__UDP_READ datagrams; how many, 0 when there is none now. `drops` receives the
 * kernel's count of datagrams dropped for want of buffer, when it says so. */
unsigned ls__udp_read(int fd, struct ls__udp_reader *reader, struct ls__udp_datagram *datagrams,
                      uint32_t *drops);

/** Whether a socket is of IPv6 (dual stack or not). */
bool ls__udp_is_six(int fd);

/** Sends a batch; how many were taken: all before the first that would block. A datagram that the
 * system refuses counts as taken; `refused` is raised and `last_errno` set. */
unsigned ls__udp_send(int fd, bool six, struct ls__departure *const *batch, unsigned count,
                      uint64_t *refused, int *last_errno);

/** To and from the system's form. */
socklen_t ls__addr_to_sockaddr(const struct ls__addr *addr, struct sockaddr_storage *out);
void ls__addr_from_sockaddr(const struct sockaddr_storage *in, struct ls__addr *addr);

#endif
