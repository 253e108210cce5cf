#include "srt/listener.h"

#include "srt/reject.h"

static size_t put(const struct ls__header *asked, const struct ls__handshake *answer,
                  uint32_t to_id, uint8_t *out) {
  struct ls__header header = {.control = true,
                              .type = LS__CONTROL_HANDSHAKE,
                              .stamp_us = asked->stamp_us,
                              .socket_id = to_id};
  ls__header_put(&header, out);
  return LS_HEADER_BYTES + ls__handshake_put(answer, out + LS_HEADER_BYTES);
}

size_t ls__listener_induction(const uint8_t key[16], const struct ls__addr *peer,
                              const struct ls__header *header, const struct ls__handshake *hs,
                              int64_t now_ns, uint8_t *out) {
  struct ls__handshake answer = *hs;
  answer.version = 5;
  answer.encryption = 0;
  answer.extension = LS__HS_MAGIC;
  answer.cookie = ls__cookie(key, peer, now_ns / LS__COOKIE_MINUTE_NS);
  answer.peer = *peer;
  return put(header, &answer, hs->socket_id, out);
}

bool ls__listener_knows(const uint8_t key[16], const struct ls__addr *peer,
                        const struct ls__handshake *hs, int64_t now_ns) {
  return ls__cookie_valid(key, peer, now_ns / LS__COOKIE_MINUTE_NS, hs->cookie);
}

size_t ls__listener_refuse(const struct ls__addr *peer, const struct ls__header *header,
                           const struct ls__handshake *hs, int reject, uint8_t *out) {
  struct ls__handshake answer = {.version = hs->version,
                                 .extension = hs->extension,
                                 .isn = hs->isn,
                                 .mss = hs->mss,
                                 .window_packets = hs->window_packets,
                                 .request = LS__REJECT_WIRE + reject,
                                 .socket_id = hs->socket_id,
                                 .cookie = hs->cookie,
                                 .peer = *peer};
  return put(header, &answer, hs->socket_id, out);
}
