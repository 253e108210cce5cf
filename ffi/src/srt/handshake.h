/* The handshake packet: 48 bytes and extensions, as bytes and as fields
 * (draft-sharabayko-srt §3.2.1, §4.3), and the rules by which a listener refuses one. */
#ifndef LS__SRT_HANDSHAKE_H
#define LS__SRT_HANDSHAKE_H

#include "base/addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_HANDSHAKE_BYTES 48
#define LS_STREAM_ID_MAX 512
/* Key material: 16 bytes, 16 of salt, and two wrapped keys of 256 bits (8 + 2 · 32). */
#define LS__KM_MAX 104
/* The SRT version that we speak: 1.5.4, where AES-GCM got its present construction. */
#define LS_SRT_VERSION UINT32_C(0x00010504)
/* The oldest that speaks handshake 5. */
#define LS_SRT_VERSION_MIN UINT32_C(0x00010300)

enum ls__handshake_request {
  LS__REQUEST_WAVEAHAND = 0,
  LS__REQUEST_INDUCTION = 1,
  LS__REQUEST_CONCLUSION = -1,
  LS__REQUEST_AGREEMENT = -2
  /* 1000 and more: a refusal, LS__REJECT_WIRE + code */
};

/* Extension field of the first 48 bytes. */
#define LS__HS_DGRAM 2u      /* handshake 4 and every induction request */
#define LS__HS_MAGIC 0x4A17u /* induction response: "I speak handshake 5" */
#define LS__HS_EXT_HSREQ 1u  /* conclusion: extensions that follow */
#define LS__HS_EXT_KMREQ 2u
#define LS__HS_EXT_CONFIG 4u

/* Flags of HSREQ and HSRSP. */
#define LS__FLAG_TSBPDSND 0x01u
#define LS__FLAG_TSBPDRCV 0x02u
#define LS__FLAG_CRYPT 0x04u
#define LS__FLAG_TLPKTDROP 0x08u
#define LS__FLAG_NAKREPORT 0x10u
#define LS__FLAG_REXMIT 0x20u
#define LS__FLAG_STREAM 0x40u
#define LS__FLAG_FILTER 0x80u

struct ls__handshake {
  uint32_t version;
  uint16_t encryption; /* advertised key length / 8, 0 = none */
  uint16_t extension;
  uint32_t isn, mss, window_packets;
  int32_t request;
  uint32_t socket_id; /* of the sender */
  uint32_t cookie;
  struct ls__addr peer; /* as the sender sees the receiver; informational, port not carried */

  bool has_hs, hs_response;
  uint32_t srt_version, flags;
  uint16_t receive_latency_ms; /* of the sender's own receiver */
  uint16_t send_latency_ms;    /* proposed for the receiver of the peer */

  uint16_t stream_id_len;
  char stream_id[LS_STREAM_ID_MAX + 1];
  char congestion[17]; /* empty = live */
  char filter[65];

  bool has_group;
  uint32_t group_id;
  uint8_t group_type, group_flags;
  uint16_t group_weight;

  bool has_km, km_response;
  const uint8_t *km; /* inside the bytes that were read */
  size_t km_len;
};

/** Reads the payload of a handshake packet. 0, or LS_EFORMAT: too short, an extension that runs
 * past the end, a stream ID over 512 bytes, key material over LS__KM_MAX, an HSREQ below 12 bytes,
 * a text with a zero byte inside.
 * Unknown extensions are skipped. */
int ls__handshake_get(const uint8_t *payload, size_t len, struct ls__handshake *hs);

/** Writes a handshake payload, extensions included where `version` is 5 and the request is a
 * conclusion. The number of bytes; `out` has LS_PAYLOAD_MAX. */
size_t ls__handshake_put(const struct ls__handshake *hs, uint8_t *out);

/** Checks a conclusion as a listener, or a conclusion response as a caller, does: -1 when it can be
 * served, else a code of reject.h. */
int ls__handshake_refusal(const struct ls__handshake *hs);

/** The cookie for a caller at `peer` in minute `minute`: no state is kept until it comes back. */
uint32_t ls__cookie(const uint8_t key[16], const struct ls__addr *peer, int64_t minute);

/** Whether `cookie` is the one of this minute or of the one before. */
bool ls__cookie_valid(const uint8_t key[16], const struct ls__addr *peer, int64_t minute,
                      uint32_t cookie);

#endif
