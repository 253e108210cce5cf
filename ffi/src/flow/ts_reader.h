/* A transport stream that is read from a file as it comes and timed by its PCRs: bytes in, packets
 * with departure offsets out. Packets wait until the next PCR is known. */
#ifndef LS__FLOW_TS_READER_H
#define LS__FLOW_TS_READER_H

#include "media/pcr.h"

/* Packets held: those that wait for a PCR, and those that wait for their time. */
#define LS__TS_READER_PACKETS (LS_PCR_LOOKAHEAD + 4096)
/* Packets with a time that are held before reading pauses. */
#define LS__TS_READER_AHEAD 2048

struct ls__ts_reader {
  struct ls__pcr clock;
  uint8_t (*packets)[LS_TS_SIZE]; /* a ring */
  int64_t *times_ns;
  uint64_t fed, timed, taken;
  uint8_t partial[LS_TS_SIZE];
  uint32_t partial_len;
  uint64_t skipped_bytes; /* not in sync */
  bool ended;
};

/** Allocates; `rate_bps` serves until two PCRs are seen (0: they must come). 0 or LS_ENOMEM. */
int ls__ts_reader_init(struct ls__ts_reader *reader, int64_t rate_bps);
void ls__ts_reader_free(struct ls__ts_reader *reader);

/** Whether it wants more bytes now. */
bool ls__ts_reader_hungry(const struct ls__ts_reader *reader);

/** Feeds bytes (at most LS__TS_READER_AHEAD packets at once, and only while hungry). 0, or
 * LS_EFORMAT when there are no PCRs. */
int ls__ts_reader_feed(struct ls__ts_reader *reader, const uint8_t *bytes, size_t len);

/** The file has ended. 0, or LS_EFORMAT when there were no PCRs, or bytes but no packet. */
int ls__ts_reader_end(struct ls__ts_reader *reader);

/** The next packet and its departure offset in ns; false when none has a time. */
bool ls__ts_reader_next(struct ls__ts_reader *reader, uint8_t packet[LS_TS_SIZE], int64_t *at_ns);

#endif
