/* Headers and the payloads of control packets from any bytes: what can be read is written back to
 * the same bytes, and no range of a loss list runs backwards. */
#include "base/assert.h"
#include "base/seq.h"
#include "srt/packet.h"

#include <string.h>

static void read_header(const uint8_t *data, size_t size) {
  struct ls__header header;
  uint8_t out[LS_HEADER_BYTES];
  if (ls__header_get(data, size, &header) < 0) {
    LS_ASSERT(size < LS_HEADER_BYTES);
    return;
  }
  ls__header_put(&header, out);
  LS_ASSERT(memcmp(out, data, sizeof out) == 0);
}

static void read_ack(const uint8_t *data, size_t size) {
  struct ls__ack ack;
  uint8_t out[28];
  if (ls__ack_get(data, size, &ack) < 0)
    return;
  size_t len = ls__ack_put(&ack, out);
  LS_ASSERT(len <= size && memcmp(out, data, len) == 0);
}

/* A range of one packet has two spellings, of which the short one is written. */
static void read_nak(const uint8_t *data, size_t size) {
  struct ls__nak_reader reader = {.payload = data, .len = size};
  uint32_t first, last;
  for (size_t at = 0; ls__nak_next(&reader, &first, &last) > 0; at = reader.at) {
    uint8_t out[8];
    LS_ASSERT(first <= LS_SEQ_MASK && last <= LS_SEQ_MASK && !ls__seq_before(last, first));
    size_t len = ls__nak_put(out, sizeof out, first, last);
    LS_ASSERT(reader.at <= size && len <= reader.at - at);
    LS_ASSERT(len < reader.at - at || memcmp(out, data + at, len) == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t first, last;
  read_header(data, size);
  read_ack(data, size);
  read_nak(data, size);
  if (ls__dropreq_get(data, size, &first, &last) == 0)
    LS_ASSERT(first <= LS_SEQ_MASK && last <= LS_SEQ_MASK && !ls__seq_before(last, first));
  return 0;
}
