/* What libsrt would refuse: every packet that an end sends is held against the rules by which
 * libsrt breaks a connection or drops a packet, link by link. */
#ifndef LS__SIM_SHADOW_H
#define LS__SIM_SHADOW_H

#include "base/seqset.h"
#include "srt/packet.h"

struct ls__shadow_end {
  bool sent_any;
  uint32_t newest;       /* newest data sequence number sent */
  uint32_t ack_number;   /* newest full acknowledgement sent */
  uint32_t ack_position; /* highest acknowledged */
  bool acked_any;
};

/* One link; ends 0 and 1. */
struct ls__shadow {
  struct ls__shadow_end ends[2];
};

/** Notes a datagram that `end` has sent; NULL, or what libsrt would object to. */
const char *ls__shadow_sent(struct ls__shadow *shadow, unsigned end, const uint8_t *data,
                            size_t len);

#endif
