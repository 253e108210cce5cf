#include "io/udp.h"

#include "base/addr_text.h"
#include "base/assert.h"
#include "base/option.h"
#include "lockstep.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#define CONTROL_BYTES 128

struct ls__udp_reader {
  struct mmsghdr messages[LS__UDP_READ];
  struct iovec vectors[LS__UDP_READ];
  struct sockaddr_storage names[LS__UDP_READ];
  uint8_t control[LS__UDP_READ][CONTROL_BYTES] __attribute__((aligned(8)));
  uint8_t bytes[LS__UDP_READ][LS__UDP_BYTES];
};

struct ls__udp_reader *ls__udp_reader_new(void) {
  return calloc(1, sizeof(struct ls__udp_reader));
}

void ls__udp_reader_free(struct ls__udp_reader *reader) {
  free(reader);
}

socklen_t ls__addr_to_sockaddr(const struct ls__addr *addr, struct sockaddr_storage *out) {
  memset(out, 0, sizeof *out);
  if (addr->family == 4) {
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    in->sin_family = AF_INET;
    in->sin_port = htons(addr->port);
    memcpy(&in->sin_addr, addr->bytes, 4);
    return sizeof *in;
  }
  struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
  in6->sin6_family = AF_INET6;
  in6->sin6_port = htons(addr->port);
  in6->sin6_scope_id = addr->scope;
  memcpy(&in6->sin6_addr, addr->bytes, 16);
  return sizeof *in6;
}

/* An IPv4 peer of a dual-stack socket shows up as ::ffff:a.b.c.d; here it is what it is. */
static void from_bytes6(const uint8_t *bytes, struct ls__addr *addr) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  bool four = memcmp(bytes, mapped, sizeof mapped) == 0;
  addr->family = four ? 4 : 6;
  memcpy(addr->bytes, four ? bytes + 12 : bytes, four ? 4 : 16);
}

void ls__addr_from_sockaddr(const struct sockaddr_storage *in, struct ls__addr *addr) {
  memset(addr, 0, sizeof *addr);
  if (in->ss_family == AF_INET) {
    const struct sockaddr_in *in4 = (const struct sockaddr_in *)in;
    addr->family = 4;
    addr->port = ntohs(in4->sin_port);
    memcpy(addr->bytes, &in4->sin_addr, 4);
  } else if (in->ss_family == AF_INET6) {
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)in;
    from_bytes6((const uint8_t *)&in6->sin6_addr, addr);
    addr->port = ntohs(in6->sin6_port);
    addr->scope = addr->family == 6 ? in6->sin6_scope_id : 0;
  }
}

struct ls__addr ls__udp_local(int fd) {
  struct sockaddr_storage name = {0};
  socklen_t len = sizeof name;
  struct ls__addr addr = {0};
  if (getsockname(fd, (struct sockaddr *)&name, &len) == 0)
    ls__addr_from_sockaddr(&name, &addr);
  return addr;
}

static int set(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value);
}

/* With CAP_NET_ADMIN the wanted size is granted whatever net.core.*mem_max says. */
static void set_buffer(int fd, int forced, int option, int64_t bytes) {
  int value = (int)(bytes ? bytes : LS__UDP_BUFFER);
  if (set(fd, SOL_SOCKET, forced, value) < 0)
    set(fd, SOL_SOCKET, option, value);
}

static int set_four(int fd, const struct ls__udp_config *config) {
  int failed = set(fd, IPPROTO_IP, IP_PKTINFO, 1);
  if (config->tos >= 0)
    failed |= set(fd, IPPROTO_IP, IP_TOS, (int)config->tos);
  if (config->ttl >= 0) {
    failed |= set(fd, IPPROTO_IP, IP_TTL, (int)config->ttl);
    failed |= set(fd, IPPROTO_IP, IP_MULTICAST_TTL, (int)config->ttl);
  }
  return failed;
}

static int set_six(int fd, const struct ls__udp_config *config, bool dual) {
  int failed = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, !dual);
  failed |= set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  if (config->tos >= 0)
    failed |= set(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)config->tos);
  if (config->ttl >= 0) {
    failed |= set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, (int)config->ttl);
    failed |= set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, (int)config->ttl);
  }
  return failed;
}

/* Several programs may receive one group, and each gets what it has joined: the system's default
 * hands every socket on the port whatever anybody on the machine has joined. */
static int set_group(int fd, bool six) {
  int failed = set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  return failed | (six ? set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0)
                       : set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0));
}

/* Any address means both families; the choice is made here and not left to the system. */
static int set_common(int fd, const struct ls__udp_config *config, bool six) {
  static const uint8_t any[16] = {0};
  bool dual = six && memcmp(config->local.bytes, any, sizeof any) == 0;
  int failed = set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
  failed |= six ? set_six(fd, config, dual) : 0;
  failed |= !six || dual ? set_four(fd, config) : 0;
  failed |= config->group.family ? set_group(fd, six) : 0;
  return failed ? LS_ESYSTEM : 0;
}

static int join(int fd, const struct ls__udp_config *config, unsigned index, bool six) {
  int level = six ? IPPROTO_IPV6 : IPPROTO_IP;
  struct group_source_req request = {.gsr_interface = index};
  ls__addr_to_sockaddr(&config->group, &request.gsr_group);
  if (config->source.family) {
    ls__addr_to_sockaddr(&config->source, &request.gsr_source);
    return setsockopt(fd, level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof request);
  }
  struct group_req plain = {.gr_interface = index, .gr_group = request.gsr_group};
  return setsockopt(fd, level, MCAST_JOIN_GROUP, &plain, sizeof plain);
}

/* What a refused bind asks of the operator. */
static const char *next_step(int reason) {
  switch (reason) {
  case EADDRINUSE:
    return "; another program has the port, `ss -ulnp` shows which";
  case EADDRNOTAVAIL:
    return "; no interface has this address, `ip address` lists those that one has";
  case EACCES:
    return "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
  default:
    return "";
  }
}

static int configure(int fd, const struct ls__udp_config *config, bool six, char *err,
                     uint32_t err_len) {
  char text[LS_ADDR_TEXT];
  set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, config->receive_buffer);
  set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, config->send_buffer);
  if (set_common(fd, config, six) < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot set the socket's options: %s",
                    strerror(errno));
  unsigned index = config->interface[0] ? if_nametoindex(config->interface) : 0;
  if (config->interface[0] && index == 0)
    return ls__fail(LS_ESYSTEM, err, err_len,
                    "there is no interface '%s': `ip link` lists those there are",
                    config->interface);
  bool multicast_out = index != 0 && config->local.port == 0;
  struct ip_mreqn mreq = {.imr_ifindex = (int)index};
  if (multicast_out && (six ? set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)index)
                            : setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &mreq, sizeof mreq)) < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot send multicast by '%s': %s",
                    config->interface, strerror(errno));
  if (index && !config->group.family &&
      setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, config->interface,
                 (socklen_t)strlen(config->interface)) < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot bind to the interface '%s': %s",
                    config->interface, strerror(errno));
  struct sockaddr_storage name;
  socklen_t len;
  struct ls__addr local = config->local;
  if (local.family == 0)
    local = (struct ls__addr){.family = six ? 6 : 4};
  len = ls__addr_to_sockaddr(&local, &name);
  if (bind(fd, (struct sockaddr *)&name, len) < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot %s %s: %s%s",
                    config->remote.family ? "send from" : "listen on",
                    ls__addr_format(&local, text), strerror(errno), next_step(errno));
  if (config->group.family && join(fd, config, index, six) < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot join the multicast group %s: %s",
                    ls__addr_format(&config->group, text), strerror(errno));
  return 0;
}

int ls__udp_open(const struct ls__udp_config *config, char *err, uint32_t err_len) {
  uint8_t family = config->local.family    ? config->local.family
                   : config->remote.family ? config->remote.family
                                           : 4;
  bool six = family == 6;
  int fd = socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return ls__fail(LS_ESYSTEM, err, err_len, "cannot open a UDP socket: %s", strerror(errno));
  int result = configure(fd, config, six, err, err_len);
  if (result == 0)
    return fd;
  close(fd);
  return result;
}

static void read_control(struct msghdr *message, struct ls__addr *to, uint32_t *drops) {
  for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
    if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo info;
      memcpy(&info, CMSG_DATA(at), sizeof info);
      to->family = 4;
      memcpy(to->bytes, &info.ipi_spec_dst, 4);
    } else if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
      struct in6_pktinfo info;
      memcpy(&info, CMSG_DATA(at), sizeof info);
      from_bytes6((const uint8_t *)&info.ipi6_addr, to);
    } else if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SO_RXQ_OVFL) {
      memcpy(drops, CMSG_DATA(at), sizeof *drops);
    }
  }
}

unsigned ls__udp_read(int fd, struct ls__udp_reader *reader, struct ls__udp_datagram *datagrams,
                      uint32_t *drops) {
  for (unsigned i = 0; i < LS__UDP_READ; i++) {
    reader->vectors[i] = (struct iovec){reader->bytes[i], LS__UDP_BYTES};
    reader->messages[i].msg_hdr = (struct msghdr){.msg_name = &reader->names[i],
                                                  .msg_namelen = sizeof reader->names[i],
                                                  .msg_iov = &reader->vectors[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = reader->control[i],
                                                  .msg_controllen = CONTROL_BYTES};
  }
  /* An error that an earlier send caused (ICMP) comes back here once: read on. */
  int got;
  do
    got = recvmmsg(fd, reader->messages, LS__UDP_READ, 0, NULL);
  while (got < 0 && (errno == EINTR || errno == ECONNREFUSED));
  for (int i = 0; i < got; i++) {
    struct ls__udp_datagram *datagram = &datagrams[i];
    *datagram =
        (struct ls__udp_datagram){.data = reader->bytes[i], .len = reader->messages[i].msg_len};
    ls__addr_from_sockaddr(&reader->names[i], &datagram->from);
    read_control(&reader->messages[i].msg_hdr, &datagram->to, drops);
  }
  return got < 0 ? 0 : (unsigned)got;
}

/* Says from which of our addresses a datagram leaves, so that an answer comes from the address
 * that was called. */
static void put_source(const struct ls__addr *from, struct msghdr *message, uint8_t *control) {
  struct cmsghdr *at = (struct cmsghdr *)(void *)control;
  if (from->family == 4) {
    struct in_pktinfo info = {0};
    memcpy(&info.ipi_spec_dst, from->bytes, 4);
    *at = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof info), .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO};
    memcpy(CMSG_DATA(at), &info, sizeof info);
    message->msg_controllen = CMSG_SPACE(sizeof info);
  } else {
    struct in6_pktinfo info = {0};
    memcpy(&info.ipi6_addr, from->bytes, 16);
    info.ipi6_ifindex = from->scope;
    *at = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof info), .cmsg_level = IPPROTO_IPV6, .cmsg_type = IPV6_PKTINFO};
    memcpy(CMSG_DATA(at), &info, sizeof info);
    message->msg_controllen = CMSG_SPACE(sizeof info);
  }
  message->msg_control = control;
}

/* A dual-stack socket takes IPv4 addresses in their mapped form. */
static socklen_t put_name(const struct ls__addr *to, bool six, struct sockaddr_storage *name) {
  if (!six || to->family == 6)
    return ls__addr_to_sockaddr(to, name);
  struct ls__addr mapped = {.family = 6, .port = to->port};
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  memcpy(mapped.bytes + 12, to->bytes, 4);
  return ls__addr_to_sockaddr(&mapped, name);
}

bool ls__udp_is_six(int fd) {
  int domain = AF_INET;
  socklen_t len = sizeof domain;
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
  return domain == AF_INET6;
}

unsigned ls__udp_send(int fd, bool six, struct ls__departure *const *batch, unsigned count,
                      uint64_t *refused, int *last_errno) {
  struct mmsghdr messages[LS_BATCH] = {0};
  struct iovec vectors[LS_BATCH];
  struct sockaddr_storage names[LS_BATCH];
  uint8_t control[LS_BATCH][64] __attribute__((aligned(8)));
  LS_ASSERT(count <= LS_BATCH);
  for (unsigned i = 0; i < count; i++) {
    struct msghdr *message = &messages[i].msg_hdr;
    vectors[i] = (struct iovec){batch[i]->payload, batch[i]->length};
    message->msg_iov = &vectors[i];
    message->msg_iovlen = 1;
    message->msg_name = &names[i];
    message->msg_namelen = put_name(&batch[i]->to, six, &names[i]);
    if (batch[i]->from.family) {
      memset(control[i], 0, sizeof control[i]);
      put_source(&batch[i]->from, message, control[i]);
    }
  }
  unsigned taken = 0;
  while (taken < count) {
    int sent = sendmmsg(fd, messages + taken, count - taken, 0);
    if (sent > 0) {
      taken += (unsigned)sent;
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
      break;
    *last_errno = errno;
    *refused += 1;
    taken++;
  }
  return taken;
}
