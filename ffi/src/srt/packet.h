/* SRT packets: the 16-byte header and the payloads of control packets, as bytes and as fields
 * (draft-sharabayko-srt §3). Reading checks every length; what is longer than needed is ignored. */
#ifndef LS__SRT_PACKET_H
#define LS__SRT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LS_HEADER_BYTES 16
/* Header bytes of one packet on the wire: IPv4 20, UDP 8, SRT 16. Byte counters include them. */
#define LS_WIRE_BYTES 44
/* Largest payload of a data packet: an Ethernet MTU less LS_WIRE_BYTES. */
#define LS_PAYLOAD_MAX 1456
#define LS_DATAGRAM_MAX (LS_HEADER_BYTES + LS_PAYLOAD_MAX)

enum ls__control_type {
  LS__CONTROL_HANDSHAKE = 0x0000,
  LS__CONTROL_KEEPALIVE = 0x0001,
  LS__CONTROL_ACK = 0x0002,
  LS__CONTROL_NAK = 0x0003,
  LS__CONTROL_CONGESTION = 0x0004,
  LS__CONTROL_SHUTDOWN = 0x0005,
  LS__CONTROL_ACKACK = 0x0006,
  LS__CONTROL_DROPREQ = 0x0007,
  LS__CONTROL_PEERERROR = 0x0008,
  LS__CONTROL_USER = 0x7FFF
};

struct ls__header {
  bool control;
  /* control */
  uint16_t type, subtype;
  uint32_t info; /* ACK number, or the message number of a drop request */
  /* data */
  uint32_t seq;
  uint32_t msgno;
  uint8_t position; /* 3 = a message of one packet, the only one in live mode */
  uint8_t key;      /* 0 clear, 1 even, 2 odd */
  bool in_order, retransmitted;
  /* both */
  uint32_t stamp_us;
  uint32_t socket_id; /* of the destination; 0 asks for a connection */
};

/** Reads a header. 0, or LS_EFORMAT when `len` is below 16. */
int ls__header_get(const uint8_t *data, size_t len, struct ls__header *header);

/** Writes the 16 bytes of a header. */
void ls__header_put(const struct ls__header *header, uint8_t *out);

/* An acknowledgement. `words` says how much of it there is: 1 (light), 4 (small) or 7 (full). */
struct ls__ack {
  uint32_t seq; /* first sequence number not acknowledged */
  uint32_t rtt_us, rtt_var_us;
  uint32_t room_packets; /* free places of the receive buffer */
  uint32_t rate_pps, capacity_pps, rate_bytes_ps;
  uint8_t words;
};

/** Reads the payload of an ACK. 0, or LS_EFORMAT. */
int ls__ack_get(const uint8_t *payload, size_t len, struct ls__ack *ack);

/** Writes `ack->words` words; the number of bytes. */
size_t ls__ack_put(const struct ls__ack *ack, uint8_t *out);

/* A position in a loss list. */
struct ls__nak_reader {
  const uint8_t *payload;
  size_t len, at;
};

/** The next range [first, last] of a loss list. 1; 0 at the end; LS_EFORMAT for a range without
 * its second word, one that runs backwards, or trailing bytes. */
int ls__nak_next(struct ls__nak_reader *reader, uint32_t *first, uint32_t *last);

/** Appends a range to a loss list; the bytes written, 0 when `room` does not hold it. */
size_t ls__nak_put(uint8_t *out, size_t room, uint32_t first, uint32_t last);

/** Reads the range of a drop request. 0, or LS_EFORMAT. */
int ls__dropreq_get(const uint8_t *payload, size_t len, uint32_t *first, uint32_t *last);

#endif
