#include "srt/link.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/seq.h"
#include "lockstep.h"

uint32_t ls__link_place(const struct ls__link *link, uint32_t seq) {
  return seq & (link->window - 1);
}

uint32_t ls__link_stamp(const struct ls__link *link, int64_t now_ns) {
  return (uint32_t)((now_ns - link->config.start_ns) / LS_US);
}

/* What we can and want, as HSREQ and HSRSP say it. Whether late packets are skipped and loss
 * reports repeated tells the peer's sender what it may do. FILTER says that we know packet filters
 * by name: only then does a listener that uses one tell us, and can be declined; otherwise it
 * filters what we know nothing of. */
uint32_t ls__link_flags(const struct ls__link_config *config) {
  return LS__FLAG_TSBPDSND | LS__FLAG_TSBPDRCV | LS__FLAG_CRYPT | LS__FLAG_REXMIT |
         LS__FLAG_FILTER | (config->too_late_drop ? LS__FLAG_TLPKTDROP : 0) |
         (config->nak_report ? LS__FLAG_NAKREPORT : 0);
}

int ls__link_init(struct ls__link *link, uint32_t window) {
  memset(link, 0, sizeof *link);
  link->window = window;
  link->ask_at_ns = calloc(window, sizeof *link->ask_at_ns);
  link->repeated_at_ns = calloc(window, sizeof *link->repeated_at_ns);
  if (!link->ask_at_ns || !link->repeated_at_ns || ls__seqset_init(&link->missing, window, 0) < 0 ||
      ls__seqset_init(&link->fresh, window, 0) < 0 || ls__seqset_init(&link->lost, window, 0) < 0) {
    ls__link_free(link);
    return LS_ENOMEM;
  }
  return 0;
}

void ls__link_free(struct ls__link *link) {
  free(link->ask_at_ns);
  free(link->repeated_at_ns);
  ls__seqset_free(&link->missing);
  ls__seqset_free(&link->fresh);
  ls__seqset_free(&link->lost);
  memset(link, 0, sizeof *link);
}

/* Both directions of a connection begin at the caller's initial sequence number. */
void ls__link_start_data(struct ls__link *link, const struct ls__handshake *peer, int64_t now_ns) {
  link->peer_id = peer->socket_id;
  link->peer_version = peer->srt_version;
  link->peer_flags = peer->flags;
  link->payload_max = (peer->mss < link->config.mss ? peer->mss : link->config.mss) - LS_WIRE_BYTES;
  uint32_t isn = link->config.isn;
  link->expected = link->reached = isn;
  ls__seqset_reset(&link->missing, isn);
  ls__seqset_reset(&link->fresh, isn);
  link->nak_at_ns = LS_NEVER;
  link->ack_number = 0;
  link->ack_sent = link->ack_confirmed = isn;
  link->ack_at_ns = now_ns;
  link->packets_since_ack = link->light_acks = 0;
  memset(link->acks, 0, sizeof link->acks);
  link->room_end = ls__seq_add(isn, (int32_t)link->config.flow_window);
  link->room_sent = link->room_confirmed = link->room_end;
  link->row = 0;
  link->rate_since_ns = now_ns;
  link->rate_packets = link->rate_bytes = 0;
  link->rate_pps = link->rate_bytes_ps = 0;
  link->next = link->acked = isn;
  uint32_t window = peer->window_packets < link->window ? peer->window_packets : link->window;
  link->peer_window_end = ls__seq_add(isn, (int32_t)window);
  ls__seqset_reset(&link->lost, isn);
  link->progress_ns = link->acked_ns = now_ns;
  link->ackack_count = link->drop_count = 0;
}

static void begin(struct ls__link *link, const struct ls__link_config *config, int64_t now_ns) {
  LS_ASSERT(config->socket_id > 0 && config->socket_id <= 0x3FFFFFFF);
  LS_ASSERT(config->isn < LS_SEQ_MASK && config->flow_window <= link->window);
  link->config = *config;
  link->peer_id = link->cookie = 0;
  link->since_ns = link->sent_ns = link->heard_ns = now_ns;
  link->goodbyes = 0;
  link->goodbye_at_ns = link->handshake_at_ns = LS_NEVER;
  ls__rtt_init(&link->rtt);
}

void ls__link_call(struct ls__link *link, const struct ls__link_config *config, int64_t now_ns) {
  begin(link, config, now_ns);
  link->caller = true;
  link->phase = LS__LINK_INDUCTION;
  link->handshake_at_ns = now_ns;
}

void ls__link_accept(struct ls__link *link, const struct ls__link_config *config,
                     const struct ls__handshake *hs, uint32_t stamp_us, int64_t now_ns,
                     struct ls__link_event *event) {
  LS_ASSERT(ls__handshake_refusal(hs) < 0 && config->isn == hs->isn);
  begin(link, config, now_ns);
  link->caller = false;
  /* draft-sharabayko-srt §4.4: each direction takes the larger of what the two sides ask. */
  int64_t asked_ns = hs->send_latency_ms * LS_MS;
  int64_t theirs_ns = hs->receive_latency_ms * LS_MS;
  link->receive_latency_ns = ls__time_max(config->receive_latency_ns, asked_ns);
  link->send_latency_ns = ls__time_max(config->peer_latency_ns, theirs_ns);
  link->answer = (struct ls__handshake){
      .version = 5,
      .extension = LS__HS_EXT_HSREQ,
      .isn = hs->isn,
      .mss = config->mss < hs->mss ? config->mss : hs->mss,
      .window_packets = config->flow_window,
      .request = LS__REQUEST_CONCLUSION,
      .socket_id = config->socket_id,
      .cookie = hs->cookie,
      .peer = hs->peer,
      .has_hs = true,
      .hs_response = true,
      .srt_version = LS_SRT_VERSION,
      .flags = ls__link_flags(config),
      .receive_latency_ms = (uint16_t)(link->receive_latency_ns / LS_MS),
      .send_latency_ms = (uint16_t)(link->send_latency_ns / LS_MS),
  };
  ls__link_start_data(link, hs, now_ns);
  link->phase = LS__LINK_CONNECTED;
  link->handshake_at_ns = now_ns;
  link->stats.connections++;
  *event =
      (struct ls__link_event){.kind = LS__EVENT_CONNECTED, .time_ns = now_ns, .stamp_us = stamp_us};
}

void ls__link_leave(struct ls__link *link, bool known, int64_t now_ns) {
  link->phase = known ? LS__LINK_CLOSING : LS__LINK_ENDED;
  link->goodbyes = known ? LS__GOODBYES : 0;
  link->goodbye_at_ns = known ? now_ns : LS_NEVER;
  link->since_ns = now_ns;
}

void ls__link_close(struct ls__link *link, int64_t now_ns) {
  if (link->phase != LS__LINK_CLOSING)
    ls__link_leave(link, link->phase == LS__LINK_CONNECTED && link->peer_id != 0, now_ns);
}

static void on_control(struct ls__link *link, const struct ls__header *header,
                       const uint8_t *payload, size_t len, int64_t now_ns,
                       struct ls__link_event *event) {
  switch (header->type) {
  case LS__CONTROL_KEEPALIVE:
    event->kind = LS__EVENT_SAMPLE;
    event->stamp_us = header->stamp_us;
    event->time_ns = now_ns;
    return;
  case LS__CONTROL_ACK:
    ls__link_on_ack(link, header, payload, len, now_ns, event);
    return;
  case LS__CONTROL_NAK:
    ls__link_on_nak(link, payload, len);
    return;
  case LS__CONTROL_ACKACK:
    ls__link_on_ackack(link, header, now_ns, event);
    return;
  case LS__CONTROL_DROPREQ:
    ls__link_on_dropreq(link, payload, len, event);
    return;
  case LS__CONTROL_SHUTDOWN:
    link->phase = LS__LINK_ENDED;
    event->kind = LS__EVENT_CLOSED;
    return;
  case LS__CONTROL_CONGESTION:
  case LS__CONTROL_PEERERROR:
    return; /* nothing to do in live mode */
  default:
    link->stats.packets_unexpected++; /* key messages too: there is no key */
  }
}

void ls__link_input(struct ls__link *link, const uint8_t *data, size_t len, int64_t now_ns,
                    struct ls__link_event *event) {
  *event = (struct ls__link_event){.kind = LS__EVENT_NONE};
  struct ls__header header;
  if (link->phase == LS__LINK_IDLE || link->phase == LS__LINK_ENDED)
    return;
  if (ls__header_get(data, len, &header) < 0) {
    link->stats.packets_unexpected++;
    return;
  }
  const uint8_t *payload = data + LS_HEADER_BYTES;
  size_t payload_len = len - LS_HEADER_BYTES;
  if (header.control && header.type == LS__CONTROL_HANDSHAKE) {
    ls__link_on_handshake(link, &header, payload, payload_len, now_ns, event);
    return;
  }
  if (link->phase == LS__LINK_CLOSING) {
    if (header.control && header.type == LS__CONTROL_SHUTDOWN)
      link->phase = LS__LINK_ENDED;
    return;
  }
  if (link->phase != LS__LINK_CONNECTED)
    return; /* the peer's answer was lost: it comes again, and so does this */
  link->heard_ns = now_ns;
  if (header.control)
    on_control(link, &header, payload, payload_len, now_ns, event);
  else
    ls__link_on_data(link, &header, payload_len, now_ns, event);
}

static size_t put_control(struct ls__link *link, uint16_t type, uint32_t info, const uint8_t *cif,
                          size_t len, int64_t now_ns, uint8_t *out) {
  struct ls__header header = {.control = true,
                              .type = type,
                              .info = info,
                              .stamp_us = ls__link_stamp(link, now_ns),
                              .socket_id = link->peer_id};
  ls__header_put(&header, out);
  /* An empty control packet carries one zero word: some peers accept no other form. */
  if (len)
    memcpy(out + LS_HEADER_BYTES, cif, len);
  else
    ls__put32(out + LS_HEADER_BYTES, 0);
  link->sent_ns = now_ns;
  return LS_HEADER_BYTES + (len ? len : 4);
}

static size_t put_goodbye(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  if (link->goodbyes == 0 || now_ns < link->goodbye_at_ns)
    return 0;
  link->goodbyes--;
  link->goodbye_at_ns = link->goodbyes ? now_ns + LS__GOODBYE_NS : LS_NEVER;
  if (link->goodbyes == 0)
    link->phase = LS__LINK_ENDED;
  return put_control(link, LS__CONTROL_SHUTDOWN, 0, NULL, 0, now_ns, out);
}

static size_t put_answers(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  if (link->ackack_count) {
    uint32_t number = link->ackacks[--link->ackack_count];
    return put_control(link, LS__CONTROL_ACKACK, number, NULL, 0, now_ns, out);
  }
  if (link->drop_count) {
    struct ls__range range = link->drops[--link->drop_count];
    uint8_t cif[8];
    ls__put32(cif, range.first);
    ls__put32(cif + 4, range.last);
    return put_control(link, LS__CONTROL_DROPREQ, 0, cif, sizeof cif, now_ns, out);
  }
  return 0;
}

size_t ls__link_control(struct ls__link *link, int64_t now_ns, uint8_t *out) {
  uint8_t cif[LS_PAYLOAD_MAX];
  size_t len;
  if (link->phase == LS__LINK_IDLE || link->phase == LS__LINK_ENDED)
    return 0;
  if (link->phase == LS__LINK_CLOSING)
    return put_goodbye(link, now_ns, out);
  if (now_ns >= link->handshake_at_ns)
    return ls__link_put_handshake(link, now_ns, out);
  if (link->phase != LS__LINK_CONNECTED)
    return 0;
  if ((len = put_answers(link, now_ns, out)) > 0)
    return len;
  if (now_ns >= link->nak_at_ns && (len = ls__link_put_nak(link, now_ns, cif)) > 0)
    return put_control(link, LS__CONTROL_NAK, 0, cif, len, now_ns, out);
  if ((len = ls__link_put_ack(link, now_ns, cif)) > 0)
    return put_control(link, LS__CONTROL_ACK, len > 4 ? link->ack_number : 0, cif, len, now_ns,
                       out);
  if (now_ns >= link->sent_ns + LS__KEEPALIVE_NS)
    return put_control(link, LS__CONTROL_KEEPALIVE, 0, NULL, 0, now_ns, out);
  return 0;
}

int64_t ls__link_timer(const struct ls__link *link, uint32_t end) {
  int64_t at_ns = link->handshake_at_ns;
  switch (link->phase) {
  case LS__LINK_INDUCTION:
  case LS__LINK_CONCLUSION:
    return ls__time_min(at_ns, link->since_ns + link->config.connect_timeout_ns);
  case LS__LINK_CLOSING:
    return link->goodbye_at_ns;
  case LS__LINK_CONNECTED:
    if (link->ackack_count || link->drop_count)
      return 0;
    at_ns = ls__time_min(at_ns, ls__link_receive_timer(link));
    at_ns = ls__time_min(at_ns, link->sent_ns + LS__KEEPALIVE_NS);
    at_ns = ls__time_min(at_ns, link->heard_ns + link->config.peer_idle_timeout_ns);
    return ls__time_min(at_ns, ls__link_tail_timer(link, end));
  default:
    return LS_NEVER;
  }
}

static void break_off(struct ls__link *link, int reject, struct ls__link_event *event) {
  link->phase = LS__LINK_ENDED;
  event->kind = LS__EVENT_BROKEN;
  event->reject = reject;
}

void ls__link_tick(struct ls__link *link, uint32_t end, int64_t now_ns,
                   struct ls__link_event *event) {
  *event = (struct ls__link_event){.kind = LS__EVENT_NONE};
  switch (link->phase) {
  case LS__LINK_INDUCTION:
  case LS__LINK_CONCLUSION:
    if (now_ns >= link->since_ns + link->config.connect_timeout_ns)
      break_off(link, LS__REJECT_TIMEOUT, event);
    return;
  case LS__LINK_CONNECTED:
    if (now_ns >= link->heard_ns + link->config.peer_idle_timeout_ns)
      break_off(link, LS__REJECT_TIMEOUT, event);
    else
      ls__link_tail(link, end, now_ns);
    return;
  default:
    return;
  }
}
