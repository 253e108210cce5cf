/* What a listener answers before there is a link: the cookie of an induction, and refusals. It
 * keeps no state of a caller, and answers no more bytes than it was sent (draft-sharabayko-srt
 * §4.3.1). */
#ifndef LS__SRT_LISTENER_H
#define LS__SRT_LISTENER_H

#include "srt/handshake.h"
#include "srt/packet.h"

#define LS__COOKIE_MINUTE_NS INT64_C(60000000000)

/** Answers an induction request from `peer` with version 5, the magic and a cookie; the number of
 * bytes written to `out` (LS_DATAGRAM_MAX). */
size_t ls__listener_induction(const uint8_t key[16], const struct ls__addr *peer,
                              const struct ls__header *header, const struct ls__handshake *hs,
                              int64_t now_ns, uint8_t *out);

/** Whether a conclusion from `peer` carries the cookie that it was given. */
bool ls__listener_knows(const uint8_t key[16], const struct ls__addr *peer,
                        const struct ls__handshake *hs, int64_t now_ns);

/** Refuses a conclusion for a reason of reject.h; the number of bytes written to `out`. */
size_t ls__listener_refuse(const struct ls__addr *peer, const struct ls__header *header,
                           const struct ls__handshake *hs, int reject, uint8_t *out);

#endif
