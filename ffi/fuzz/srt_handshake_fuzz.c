/* A handshake from any bytes: what was read is written in a form that is read as the same again,
 * and within the room that a packet has. */
#include "base/assert.h"
#include "srt/handshake.h"
#include "srt/packet.h"
#include "srt/reject.h"

#include <string.h>

static void check_text(const char *text, size_t max) {
  LS_ASSERT(memchr(text, 0, max + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ls__handshake hs, again;
  uint8_t one[LS_PAYLOAD_MAX], two[LS_PAYLOAD_MAX];
  if (ls__handshake_get(data, size, &hs) < 0)
    return 0;
  check_text(hs.stream_id, LS_STREAM_ID_MAX);
  check_text(hs.congestion, sizeof hs.congestion - 1);
  check_text(hs.filter, sizeof hs.filter - 1);
  LS_ASSERT(strlen(hs.stream_id) == hs.stream_id_len);
  int refusal = ls__handshake_refusal(&hs);
  LS_ASSERT(refusal >= -1 && (refusal < 0 || strcmp(ls__reject_name(refusal), "UNKNOWN") != 0));
  size_t len = ls__handshake_put(&hs, one);
  LS_ASSERT(len <= sizeof one);
  LS_ASSERT(ls__handshake_get(one, len, &again) == 0);
  LS_ASSERT(ls__handshake_refusal(&again) == refusal);
  LS_ASSERT(ls__handshake_put(&again, two) == len && memcmp(one, two, len) == 0);
  return 0;
}
