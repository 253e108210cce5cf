/* What the tests of SRT share: bytes that a real peer sent. Included by tests only.
 *
 * The datagrams were captured from libsrt 1.5.1 (a caller and a listener on one machine, passphrase
 * "abcdefghijk", stream ID "abcdef", latency 300/200 ms) and, where groups or refusals are meant,
 * from libsrt 1.5.5. */
#ifndef LS__SRT_TESTING_H
#define LS__SRT_TESTING_H

#include "base/bytes.h"
#include "base/testing.h"
#include "srt/link.h"

#include <string.h>

/** The bytes that `text` spells in hexadecimal; blanks do not count. Their number. */
static inline size_t ls__test_hex(const char *text, uint8_t *out) {
  size_t digits = 0;
  for (; *text; text++) {
    const char *all = "0123456789abcdef", *at = strchr(all, *text);
    if (*text == ' ')
      continue;
    assert_non_null(at);
    uint8_t value = (uint8_t)(at - all);
    out[digits / 2] = (uint8_t)(digits % 2 ? out[digits / 2] | value : value << 4);
    digits++;
  }
  assert_int_equal(digits % 2, 0);
  return digits / 2;
}

#define LS__TEST_LOCALHOST "0100007f 00000000 00000000 00000000 "

/* Whole datagrams. */
#define LS__TEST_INDUCTION_REQUEST                                                                 \
  "80000000 00000000 00138c85 00000000 "                                                           \
  "00000004 00000002 42cad04a 000005dc 00002000 00000001 31b9025a 00000000 " LS__TEST_LOCALHOST
#define LS__TEST_INDUCTION_RESPONSE                                                                \
  "80000000 00000000 001f3883 31b9025a "                                                           \
  "00000005 00004a17 42cad04a 000005dc 00002000 00000001 31b9025a 4cf42b17 " LS__TEST_LOCALHOST
#define LS__TEST_DATA_HEADER "42cad04a c8000001 001b0d5d 0db3b291"
#define LS__TEST_ACK                                                                               \
  "80020000 00000001 00077a0f 31b9025a "                                                           \
  "42cad04b 000186a0 0000c350 00001ffe 00000002 000003e8 00000605"
#define LS__TEST_ACKACK "80060000 00000001 001b129a 0db3b291 00000000"
#define LS__TEST_SHUTDOWN "80050000 00000000 007d5a69 0db3b291 00000000"

/* Payloads of handshakes, without the 16 bytes before them. */
#define LS__TEST_KM                                                                                \
  "12202901 00000000 02000200 00000404 ba768278 7ebe1a8b c5936808 55eb2701 cfd42fb0 2e1c705e "     \
  "1a6d04bf 227fadd2 3c143bdf 3ec48bc3 "
#define LS__TEST_CONCLUSION_REQUEST                                                                \
  "00000005 00000007 42cad04a 000005dc 00002000 ffffffff 31b9025a 4cf42b17 " LS__TEST_LOCALHOST    \
  "00010003 00010501 000000bf 012c012c 00050002 64636261 00006665 0003000e " LS__TEST_KM
#define LS__TEST_CONCLUSION_RESPONSE                                                               \
  "00000005 00000003 42cad04a 000005dc 00002000 ffffffff 0db3b291 4cf42b17 " LS__TEST_LOCALHOST    \
  "00020003 00010501 000000bf 012c012c 0004000e " LS__TEST_KM

/* The socket IDs of the two ends in those bytes. */
#define LS__TEST_CALLER UINT32_C(0x31b9025a)
#define LS__TEST_LISTENER UINT32_C(0x0db3b291)

/** A caller's conclusion that a listener takes: a peer of version 1.5.5, 120 ms of latency. */
static inline struct ls__handshake ls__test_conclusion(uint32_t isn) {
  return (struct ls__handshake){.version = 5,
                                .extension = LS__HS_EXT_HSREQ,
                                .isn = isn,
                                .mss = 1500,
                                .window_packets = 8192,
                                .request = LS__REQUEST_CONCLUSION,
                                .socket_id = LS__TEST_CALLER,
                                .has_hs = true,
                                .srt_version = 0x010505,
                                .flags = 0xbf,
                                .receive_latency_ms = 120};
}

static inline struct ls__link_config ls__test_link_config(uint32_t isn) {
  return (struct ls__link_config){.socket_id = LS__TEST_LISTENER,
                                  .isn = isn,
                                  .receive_latency_ns = 120 * LS_MS,
                                  .connect_timeout_ns = 3 * LS_S,
                                  .peer_idle_timeout_ns = 5 * LS_S,
                                  .mss = 1500,
                                  .flow_window = 64,
                                  .too_late_drop = true,
                                  .nak_report = true};
}

/** A link of 64 places that has accepted such a caller at time 0 and has answered it. */
static inline void ls__test_connect(struct ls__link *link, const struct ls__link_config *config) {
  uint8_t out[LS_DATAGRAM_MAX];
  struct ls__link_event event;
  struct ls__handshake hs = ls__test_conclusion(config->isn);
  assert_int_equal(ls__link_init(link, 64), 0);
  ls__link_accept(link, config, &hs, 0, 0, &event);
  assert_int_equal(event.kind, LS__EVENT_CONNECTED);
  assert_int_equal(ls__link_control(link, 0, out), 80);
  assert_int_equal(ls__link_control(link, 0, out), 0);
}

/** Feeds a control packet whose payload is `words` words of `cif`. */
static inline struct ls__link_event ls__test_control(struct ls__link *link, uint16_t type,
                                                     uint32_t info, const uint32_t *cif,
                                                     size_t words, int64_t now_ns) {
  uint8_t data[LS_DATAGRAM_MAX];
  struct ls__header header = {.control = true,
                              .type = type,
                              .info = info,
                              .stamp_us = (uint32_t)(now_ns / LS_US),
                              .socket_id = link->config.socket_id};
  ls__header_put(&header, data);
  for (size_t i = 0; i < words; i++)
    ls__put32(data + LS_HEADER_BYTES + 4 * i, cif[i]);
  struct ls__link_event event;
  ls__link_input(link, data, LS_HEADER_BYTES + 4 * words, now_ns, &event);
  return event;
}

/** Feeds a data packet of 100 bytes; whether it was new to the link. */
static inline bool ls__test_data(struct ls__link *link, uint32_t seq, bool again, int64_t now_ns) {
  uint8_t data[LS_HEADER_BYTES + 100] = {0};
  struct ls__header header = {.seq = seq,
                              .position = 3,
                              .msgno = 1,
                              .retransmitted = again,
                              .socket_id = link->config.socket_id};
  ls__header_put(&header, data);
  struct ls__link_event event;
  ls__link_input(link, data, sizeof data, now_ns, &event);
  assert_true(event.kind != LS__EVENT_DATA || event.header.seq == seq);
  return event.kind == LS__EVENT_DATA;
}

/** Whether the next control packet is of `type`; its header, payload and length are given. */
static inline bool ls__test_answer(struct ls__link *link, int64_t now_ns, uint16_t type,
                                   struct ls__header *header, uint8_t *cif, size_t *len) {
  uint8_t out[LS_DATAGRAM_MAX];
  size_t whole = ls__link_control(link, now_ns, out);
  if (whole == 0)
    return false;
  assert_int_equal(ls__header_get(out, whole, header), 0);
  assert_int_equal(header->socket_id, link->peer_id);
  *len = whole - LS_HEADER_BYTES;
  memcpy(cif, out + LS_HEADER_BYTES, *len);
  return header->type == type;
}

#endif
