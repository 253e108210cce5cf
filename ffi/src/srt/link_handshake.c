/* The caller's half of the handshake, and the answer that a listener repeats. */
#include "base/assert.h"
#include "base/seq.h"
#include "srt/link.h"

static struct ls__handshake induction(const struct ls__link *link) {
  /* The first packet carries version 4 for the sake of peers that know no other
   * (draft-sharabayko-srt §4.3.1.1). */
  return (struct ls__handshake){.version = 4,
                                .extension = LS__HS_DGRAM,
                                .isn = link->config.isn,
                                .mss = link->config.mss,
                                .window_packets = link->config.flow_window,
                                .request = LS__REQUEST_INDUCTION,
                                .socket_id = link->config.socket_id};
}

static void conclusion(const struct ls__link *link, struct ls__handshake *hs) {
  const struct ls__link_config *config = &link->config;
  *hs = (struct ls__handshake){
      .version = 5,
      .extension = LS__HS_EXT_HSREQ,
      .isn = config->isn,
      .mss = config->mss,
      .window_packets = config->flow_window,
      .request = LS__REQUEST_CONCLUSION,
      .socket_id = config->socket_id,
      .cookie = link->cookie,
      .has_hs = true,
      .srt_version = LS_SRT_VERSION,
      .flags = ls__link_flags(config),
      .receive_latency_ms = (uint16_t)(config->receive_latency_ns / LS_MS),
      .send_latency_ms = (uint16_t)(config->peer_latency_ns / LS_MS),
  };
  hs->stream_id_len = (uint16_t)strlen(config->stream_id);
  memcpy(hs->stream_id, config->stream_id, hs->stream_id_len + 1u);
  if (hs->stream_id_len)
    hs->extension |= LS__HS_EXT_CONFIG;
}

size_t ls__link_put_handshake(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  struct ls__handshake hs;
  /* A caller asks until it is answered; a listener answers once for each time it is asked. */
  link->handshake_at_ns = LS_NEVER;
  if (link->phase == LS__LINK_INDUCTION || link->phase == LS__LINK_CONCLUSION)
    link->handshake_at_ns = now_ns + LS__HANDSHAKE_RETRY_NS;
  if (link->phase == LS__LINK_INDUCTION)
    hs = induction(link);
  else if (link->phase == LS__LINK_CONCLUSION)
    conclusion(link, &hs);
  else
    hs = link->answer;
  struct ls__header header = {
      .control = true,
      .type = LS__CONTROL_HANDSHAKE,
      .stamp_us = ls__link_stamp(link, now_ns),
      .socket_id = link->caller ? 0 : link->peer_id,
  };
  ls__header_put(&header, out);
  link->sent_ns = now_ns;
  return LS_HEADER_BYTES + ls__handshake_put(&hs, out + LS_HEADER_BYTES);
}

void ls__link_answer_again(struct ls__link *link, int64_t now_ns) {
  if (link->phase == LS__LINK_CONNECTED && !link->caller)
    link->handshake_at_ns = now_ns;
}

static void refuse(struct ls__link *link, int reject, struct ls__link_event *event) {
  link->phase = LS__LINK_ENDED;
  event->kind = LS__EVENT_BROKEN;
  event->reject = reject;
}

static void on_induction(struct ls__link *link, const struct ls__handshake *hs, int64_t now_ns,
                         struct ls__link_event *event) {
  if (hs->request != LS__REQUEST_INDUCTION)
    return;
  if (hs->version < 5 || hs->extension != LS__HS_MAGIC) {
    refuse(link, hs->version < 5 ? LS__REJECT_VERSION : LS__REJECT_ROGUE, event);
    return;
  }
  link->cookie = hs->cookie;
  link->phase = LS__LINK_CONCLUSION;
  link->handshake_at_ns = now_ns;
}

static void on_conclusion(struct ls__link *link, const struct ls__handshake *hs,
                          const struct ls__header *header, int64_t now_ns,
                          struct ls__link_event *event) {
  if (hs->request != LS__REQUEST_CONCLUSION)
    return;
  int reject = ls__handshake_refusal(hs);
  if (reject < 0 && (hs->isn != link->config.isn || !hs->hs_response || hs->socket_id == 0))
    reject = LS__REJECT_ROGUE;
  if (reject >= 0) {
    refuse(link, reject, event);
    /* The listener takes us for connected; left alone, it would wait for us until its time-out. */
    link->peer_id = hs->socket_id;
    ls__link_leave(link, hs->socket_id != 0, now_ns);
    return;
  }
  link->receive_latency_ns = hs->send_latency_ms * LS_MS;
  link->send_latency_ns = hs->receive_latency_ms * LS_MS;
  ls__link_start_data(link, hs, now_ns);
  link->phase = LS__LINK_CONNECTED;
  link->handshake_at_ns = LS_NEVER;
  link->heard_ns = now_ns;
  link->stats.connections++;
  event->kind = LS__EVENT_CONNECTED;
  event->time_ns = now_ns;
  event->stamp_us = header->stamp_us;
}

void ls__link_on_handshake(struct ls__link *link, const struct ls__header *header,
                           const uint8_t *payload, size_t len, int64_t now_ns,
                           struct ls__link_event *event) {
  struct ls__handshake hs;
  if (ls__handshake_get(payload, len, &hs) < 0) {
    link->stats.packets_unexpected++;
    return;
  }
  bool asking = link->phase == LS__LINK_INDUCTION || link->phase == LS__LINK_CONCLUSION;
  if (asking && hs.request >= LS__REJECT_WIRE)
    refuse(link, hs.request - LS__REJECT_WIRE, event);
  else if (link->phase == LS__LINK_INDUCTION)
    on_induction(link, &hs, now_ns, event);
  else if (link->phase == LS__LINK_CONCLUSION)
    on_conclusion(link, &hs, header, now_ns, event);
  else if (!link->caller && hs.request == LS__REQUEST_CONCLUSION)
    ls__link_answer_again(link, now_ns);
}
