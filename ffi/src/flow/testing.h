/* Flows through the public interface, for the tests of this room and those across rooms; included
 * by tests only. What is expected is waited for, with a deadline; what fails ends the test. */
#ifndef LS__FLOW_TESTING_H
#define LS__FLOW_TESTING_H

#include "base/addr_text.h"
#include "base/bytes.h"
#include "base/statistics.gen.h"
#include "io/testing.h"
#include "lockstep.h"
#include "media/testing.h"

#include <sys/mman.h>

#define LS__TEST_ERR 512

static inline int64_t ls__test_engine(unsigned threads) {
  char err[LS__TEST_ERR] = "";
  int64_t engine = ls_engine_open(threads, err, sizeof err);
  if (engine <= 0)
    fail_msg("%s", err);
  return engine;
}

static inline void ls__test_option(int64_t handle, int32_t index, const char *name,
                                   const char *value) {
  char err[LS__TEST_ERR] = "";
  if (ls_option(handle, index, name, value, err, sizeof err) != 0)
    fail_msg("%s", err);
}

/** The same for a number, or an address of 127.0.0.1 by its port. */
static inline void ls__test_number(int64_t handle, int32_t index, const char *name, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  ls__test_option(handle, index, name, text);
}

static inline void ls__test_local(int64_t handle, int32_t index, const char *name, uint16_t port) {
  char text[32];
  snprintf(text, sizeof text, "127.0.0.1:%u", port);
  ls__test_option(handle, index, name, text);
}

static inline int64_t ls__test_flow(int64_t engine) {
  int64_t flow = ls_flow_open(engine);
  assert_true(flow > 0);
  return flow;
}

static inline int32_t ls__test_add(int64_t flow, int32_t direction, int32_t kind) {
  int32_t index = ls_endpoint_add(flow, direction, kind);
  assert_true(index >= 0);
  return index;
}

/** A file endpoint on a descriptor. */
static inline int32_t ls__test_add_fd(int64_t flow, int32_t direction, int fd) {
  int32_t index = ls__test_add(flow, direction, LS_KIND_FILE);
  ls__test_number(flow, index, "fd", fd);
  return index;
}

/** A UDP input on a port of 127.0.0.1, or an output to one. */
static inline int32_t ls__test_add_udp(int64_t flow, int32_t direction, uint16_t port) {
  int32_t index = ls__test_add(flow, direction, LS_KIND_UDP);
  ls__test_local(flow, index, direction == LS_INPUT ? "local" : "remote", port);
  return index;
}

/** An SRT endpoint with one link, which calls or listens on a port of 127.0.0.1. The number of the
 * link. */
static inline int32_t ls__test_add_srt(int64_t flow, int32_t direction, const char *mode,
                                       uint16_t port) {
  int32_t index = ls__test_add(flow, direction, LS_KIND_SRT);
  int32_t link = ls_link_add(flow, index);
  assert_true(link > 0);
  ls__test_option(flow, link, "mode", mode);
  ls__test_local(flow, link, strcmp(mode, "caller") == 0 ? "remote" : "local", port);
  return link;
}

static inline void ls__test_start(int64_t handle) {
  char err[LS__TEST_ERR] = "";
  if (ls_start(handle, err, sizeof err) != 0)
    fail_msg("%s", err);
}

/** Waits for an event of `handle`, kind and code (0: any), passing over others. */
static inline struct ls_event ls__test_event(int64_t engine, int64_t handle, uint32_t kind,
                                             int32_t code) {
  int64_t give_up_ns = ls__clock_now() + LS__TEST_PATIENCE_MS * LS_MS;
  struct ls_event event;
  for (;;) {
    int64_t left_ms = (give_up_ns - ls__clock_now()) / LS_MS;
    if (left_ms <= 0 || ls_event_wait(engine, &event, sizeof event, (int32_t)left_ms) != 1)
      fail_msg("no event of kind %u and code %d", kind, code);
    if (event.handle == handle && event.kind == kind && (code == 0 || event.code == code))
      return event;
  }
}

/** Waits until a flow has ended. */
static inline struct ls_event ls__test_ended(int64_t engine, int64_t flow) {
  return ls__test_event(engine, flow, LS_EVENT_FLOW_STATE, LS_FLOW_ENDED);
}

static inline struct ls__stats_endpoint ls__test_endpoint(int64_t flow, int32_t index) {
  struct ls__stats_endpoint stats;
  assert_int_equal(ls_stats(flow, LS_SCOPE_ENDPOINT, index, &stats, sizeof stats), sizeof stats);
  return stats;
}

static inline struct ls__stats_link ls__test_link(int64_t flow, int32_t index) {
  struct ls__stats_link stats;
  assert_int_equal(ls_stats(flow, LS_SCOPE_LINK, index, &stats, sizeof stats), sizeof stats);
  return stats;
}

static inline uint64_t ls__test_flow_state(int64_t flow) {
  struct ls__stats_flow stats;
  assert_int_equal(ls_stats(flow, LS_SCOPE_FLOW, LS_SELF, &stats, sizeof stats), sizeof stats);
  return stats.state;
}

/** A plain UDP socket on 127.0.0.1, blocking with the test's patience. */
static inline int ls__test_socket(uint16_t port) {
  struct ls__udp_config config = {
      .local = {.family = 4, .bytes = {127, 0, 0, 1}, .port = port}, .tos = -1, .ttl = -1};
  int fd = ls__udp_open(&config, NULL, 0);
  assert_true(fd >= 0);
  return fd;
}

static inline void ls__test_send(int fd, uint16_t port, const void *data, size_t len) {
  struct sockaddr_storage name;
  struct ls__addr to = {.family = 4, .bytes = {127, 0, 0, 1}, .port = port};
  socklen_t name_len = ls__addr_to_sockaddr(&to, &name);
  assert_int_equal(sendto(fd, data, len, 0, (struct sockaddr *)&name, name_len), len);
}

/** The next datagram; its length. */
static inline size_t ls__test_receive(int fd, void *data, size_t size) {
  ssize_t got;
  if (!ls__test_until((got = recv(fd, data, size, MSG_DONTWAIT)) >= 0))
    fail_msg("no datagram");
  return (size_t)got;
}

/** A regular file without a name, and a path by which this process finds it. */
static inline int ls__test_file(const void *bytes, size_t len, char path[64]) {
  int fd = memfd_create("test", MFD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, len), len);
  assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
  snprintf(path, 64, "/proc/self/fd/%d", fd);
  return fd;
}

#define LS__TEST_CLIP 1000

/** A clip of one second, a packet each millisecond (1.504 Mbit/s): a PCR each 20 ms, a picture each
 * 40 ms, the packet's number in its last two bytes. */
static inline void ls__test_clip(uint8_t (*packets)[LS_TS_SIZE]) {
  for (int64_t i = 0; i < LS__TEST_CLIP; i++) {
    uint8_t *packet = packets[i];
    ls__test_packet(packet, 0x100, (uint8_t)(i & 15), (uint8_t)(i * 7));
    if (i % 20 == 0)
      ls__test_pcr(packet, i * LS_PCR_HZ / 1000, false);
    if (i % 40 == 0)
      ls__test_pes(packet, 0xe0, 9000 + i * LS_STAMP_HZ / 1000, -1);
    ls__put16(packet + LS_TS_SIZE - 2, (uint16_t)i);
  }
}

#endif
