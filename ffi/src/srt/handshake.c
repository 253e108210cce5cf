#include "srt/handshake.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/seq.h"
#include "base/siphash.h"
#include "lockstep.h"
#include "srt/reject.h"

/* Extension types (draft-sharabayko-srt §3.2.1.1, table 5). */
enum {
  EXT_HSREQ = 1,
  EXT_HSRSP = 2,
  EXT_KMREQ = 3,
  EXT_KMRSP = 4,
  EXT_SID = 5,
  EXT_CONGESTION = 6,
  EXT_FILTER = 7,
  EXT_GROUP = 8
};

#define GROUP_ID_BIT UINT32_C(0x40000000)

/* Strings travel with the bytes of each 32-bit word reversed, as libsrt writes them; trailing
 * zeros are padding. The length, or LS_EFORMAT when it does not fit, or has a zero inside: what
 * follows it would escape whoever compares the text. */
static int get_string(const uint8_t *body, size_t len, char *out, size_t max) {
  size_t end = len;
  while (end > 0 && body[(end - 1) ^ 3] == 0)
    end--;
  if (end > max)
    return LS_EFORMAT;
  for (size_t i = 0; i < end; i++)
    out[i] = (char)body[i ^ 3];
  out[end] = 0;
  return memchr(out, 0, end) ? LS_EFORMAT : (int)end;
}

static size_t put_string(uint8_t *out, uint16_t type, const char *text, size_t len) {
  size_t padded = (len + 3) & ~(size_t)3;
  ls__put16(out, type);
  ls__put16(out + 2, (uint16_t)(padded / 4));
  memset(out + 4, 0, padded);
  for (size_t i = 0; i < len; i++)
    out[4 + (i ^ 3)] = (uint8_t)text[i];
  return 4 + padded;
}

/* libsrt writes the address in host order: IPv4 as one reversed word, IPv6 as four. */
static void get_peer(const uint8_t *in, struct ls__addr *peer) {
  bool six = false;
  for (int i = 4; i < 16; i++)
    six |= in[i] != 0;
  *peer = (struct ls__addr){.family = six ? 6 : 4};
  for (int i = 0; i < (six ? 16 : 4); i++)
    peer->bytes[i] = in[i ^ 3];
}

static void put_peer(const struct ls__addr *peer, uint8_t *out) {
  for (int i = 0; i < 16; i++)
    out[i] = peer->bytes[i ^ 3];
}

static int get_extension(struct ls__handshake *hs, unsigned type, const uint8_t *body, size_t len) {
  int used;
  switch (type) {
  case EXT_HSREQ:
  case EXT_HSRSP:
    if (len < 12)
      return LS_EFORMAT;
    hs->has_hs = true;
    hs->hs_response = type == EXT_HSRSP;
    hs->srt_version = ls__get32(body);
    hs->flags = ls__get32(body + 4);
    hs->receive_latency_ms = ls__get16(body + 8);
    hs->send_latency_ms = ls__get16(body + 10);
    return 0;
  case EXT_KMREQ:
  case EXT_KMRSP:
    if (len > LS__KM_MAX)
      return LS_EFORMAT;
    hs->has_km = true;
    hs->km_response = type == EXT_KMRSP;
    hs->km = body;
    hs->km_len = len;
    return 0;
  case EXT_SID:
    used = get_string(body, len, hs->stream_id, LS_STREAM_ID_MAX);
    if (used < 0)
      return used;
    hs->stream_id_len = (uint16_t)used;
    return 0;
  case EXT_CONGESTION:
    used = get_string(body, len, hs->congestion, sizeof hs->congestion - 1);
    return used < 0 ? used : 0;
  case EXT_FILTER:
    used = get_string(body, len, hs->filter, sizeof hs->filter - 1);
    return used < 0 ? used : 0;
  case EXT_GROUP:
    if (len < 8)
      return LS_EFORMAT;
    hs->has_group = true;
    hs->group_id = ls__get32(body);
    hs->group_type = body[4];
    hs->group_flags = body[5];
    hs->group_weight = ls__get16(body + 6);
    return 0;
  default:
    return 0;
  }
}

int ls__handshake_get(const uint8_t *payload, size_t len, struct ls__handshake *hs) {
  if (len < LS_HANDSHAKE_BYTES)
    return LS_EFORMAT;
  memset(hs, 0, sizeof *hs);
  hs->version = ls__get32(payload);
  hs->encryption = ls__get16(payload + 4);
  hs->extension = ls__get16(payload + 6);
  hs->isn = ls__get32(payload + 8);
  hs->mss = ls__get32(payload + 12);
  hs->window_packets = ls__get32(payload + 16);
  hs->request = (int32_t)ls__get32(payload + 20);
  hs->socket_id = ls__get32(payload + 24);
  hs->cookie = ls__get32(payload + 28);
  get_peer(payload + 32, &hs->peer);
  if (hs->version < 5 || hs->request != LS__REQUEST_CONCLUSION)
    return 0;
  for (size_t at = LS_HANDSHAKE_BYTES; at < len;) {
    if (len - at < 4)
      return LS_EFORMAT;
    unsigned type = ls__get16(payload + at);
    size_t body = 4u * ls__get16(payload + at + 2);
    at += 4;
    if (len - at < body)
      return LS_EFORMAT;
    int result = get_extension(hs, type, payload + at, body);
    if (result < 0)
      return result;
    at += body;
  }
  return 0;
}

static size_t put_hs(const struct ls__handshake *hs, uint8_t *out) {
  ls__put16(out, hs->hs_response ? EXT_HSRSP : EXT_HSREQ);
  ls__put16(out + 2, 3);
  ls__put32(out + 4, hs->srt_version);
  ls__put32(out + 8, hs->flags);
  ls__put16(out + 12, hs->receive_latency_ms);
  ls__put16(out + 14, hs->send_latency_ms);
  return 16;
}

static size_t put_group(const struct ls__handshake *hs, uint8_t *out) {
  ls__put16(out, EXT_GROUP);
  ls__put16(out + 2, 2);
  ls__put32(out + 4, hs->group_id);
  out[8] = hs->group_type;
  out[9] = hs->group_flags;
  ls__put16(out + 10, hs->group_weight);
  return 12;
}

static size_t put_km(const struct ls__handshake *hs, uint8_t *out) {
  LS_ASSERT(hs->km_len % 4 == 0 && hs->km_len <= LS__KM_MAX);
  ls__put16(out, hs->km_response ? EXT_KMRSP : EXT_KMREQ);
  ls__put16(out + 2, (uint16_t)(hs->km_len / 4));
  memcpy(out + 4, hs->km, hs->km_len);
  return 4 + hs->km_len;
}

size_t ls__handshake_put(const struct ls__handshake *hs, uint8_t *out) {
  LS_ASSERT(hs->stream_id_len <= LS_STREAM_ID_MAX);
  ls__put32(out, hs->version);
  ls__put16(out + 4, hs->encryption);
  ls__put16(out + 6, hs->extension);
  ls__put32(out + 8, hs->isn);
  ls__put32(out + 12, hs->mss);
  ls__put32(out + 16, hs->window_packets);
  ls__put32(out + 20, (uint32_t)hs->request);
  ls__put32(out + 24, hs->socket_id);
  ls__put32(out + 28, hs->cookie);
  put_peer(&hs->peer, out + 32);
  size_t len = LS_HANDSHAKE_BYTES;
  if (hs->version < 5 || hs->request != LS__REQUEST_CONCLUSION)
    return len;
  if (hs->has_hs)
    len += put_hs(hs, out + len);
  if (hs->stream_id_len)
    len += put_string(out + len, EXT_SID, hs->stream_id, hs->stream_id_len);
  if (hs->congestion[0])
    len += put_string(out + len, EXT_CONGESTION, hs->congestion, strlen(hs->congestion));
  if (hs->filter[0])
    len += put_string(out + len, EXT_FILTER, hs->filter, strlen(hs->filter));
  if (hs->has_group)
    len += put_group(hs, out + len);
  if (hs->has_km)
    len += put_km(hs, out + len);
  return len;
}

int ls__handshake_refusal(const struct ls__handshake *hs) {
  if (hs->version < 5)
    return LS__REJECT_VERSION;
  /* The last sequence number begins no connection, as libsrt has it. An MSS below 76 leaves no room
   * for a handshake; libsrt 1.5.6 refuses it too. */
  if (hs->isn >= LS_SEQ_MASK || hs->mss < 76 || hs->mss > 1500 || hs->window_packets < 2 ||
      hs->socket_id == 0 || !hs->has_hs)
    return LS__REJECT_ROGUE;
  if (hs->srt_version < LS_SRT_VERSION_MIN)
    return LS__REJECT_VERSION;
  if (hs->flags & LS__FLAG_STREAM)
    return LS__REJECT_MESSAGEAPI;
  if (!(hs->flags & LS__FLAG_REXMIT))
    return LS__REJECT_ROGUE;
  if (hs->congestion[0] && strcmp(hs->congestion, "live") != 0)
    return LS__REJECT_CONGESTION;
  if (hs->filter[0])
    return LS__REJECT_FILTER;
  if (hs->has_group)
    return hs->group_id & GROUP_ID_BIT ? LS__REJECT_GROUP : LS__REJECT_ROGUE;
  if (hs->has_km)
    return LS__REJECT_UNSECURE;
  return -1;
}

uint32_t ls__cookie(const uint8_t key[16], const struct ls__addr *peer, int64_t minute) {
  uint8_t data[30];
  memcpy(data, peer->bytes, 16);
  ls__put32(data + 16, peer->scope);
  ls__put16(data + 20, peer->port);
  ls__put64(data + 22, (uint64_t)minute);
  return (uint32_t)ls__siphash(key, data, sizeof data);
}

bool ls__cookie_valid(const uint8_t key[16], const struct ls__addr *peer, int64_t minute,
                      uint32_t cookie) {
  return cookie == ls__cookie(key, peer, minute) || cookie == ls__cookie(key, peer, minute - 1);
}
