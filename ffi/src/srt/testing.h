/* What the tests of SRT share: bytes that a real peer sent. Included by tests only.
 *
 * The datagrams were captured from libsrt 1.5.1 (a caller and a listener on one machine, passphrase
 * "abcdefghijk", stream ID "abcdef", latency 300/200 ms) and, where groups or refusals are meant,
 * from libsrt 1.5.5. */
#ifndef LS__SRT_TESTING_H
#define LS__SRT_TESTING_H

#include "base/testing.h"

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

#endif
