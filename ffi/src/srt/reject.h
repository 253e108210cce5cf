/* Why a connection is refused: the reason codes of a handshake (draft-sharabayko-srt §3.2.1,
 * table 7, and libsrt's additions), by name and in words. On the wire they stand as 1000 + code. */
#ifndef LS__SRT_REJECT_H
#define LS__SRT_REJECT_H

#define LS__REJECT_WIRE 1000

/* name, code, text for a person: what it means and what to do */
#define LS__REJECTS(X)                                                                             \
  X(UNKNOWN, 0, "the peer gave no reason")                                                         \
  X(SYSTEM, 1, "a system call failed at the peer")                                                 \
  X(PEER, 2, "the peer refused")                                                                   \
  X(RESOURCE, 3, "the peer has no room for another connection")                                    \
  X(ROGUE, 4, "the handshake was not what the protocol demands")                                   \
  X(BACKLOG, 5, "the listener's queue is full: try again")                                         \
  X(IPE, 6, "the peer failed inside")                                                              \
  X(CLOSE, 7, "the listener is closing")                                                           \
  X(VERSION, 8, "one side's SRT version is too old: 1.3.0 (handshake 5) is needed")                \
  X(RDVCOOKIE, 9, "rendezvous cookies collided: try again")                                        \
  X(BADSECRET, 10, "the passphrases differ")                                                       \
  X(UNSECURE, 11, "one side has a passphrase and the other has none")                              \
  X(MESSAGEAPI, 12, "one side is in live mode and the other in file (stream) mode")                \
  X(CONGESTION, 13, "the congestion controllers differ: only live is served")                      \
  X(FILTER, 14, "the packet filters (FEC) differ: none is served")                                 \
  X(GROUP, 15, "groups are not served here, or of another type")                                   \
  X(TIMEOUT, 16, "no answer in time")                                                              \
  X(CRYPTO, 17, "the cipher modes differ")                                                         \
  X(FALLBACK, 1000, "the application refused without a reason")                                    \
  X(KEY_NOTSUP, 1001, "a key of the stream ID is not served")                                      \
  X(FILEPATH, 1002, "the resource type does not fit the stream ID's path")                         \
  X(HOSTNOTFOUND, 1003, "the host of the stream ID is unknown")                                    \
  X(BAD_REQUEST, 1400, "the stream ID is malformed")                                               \
  X(UNAUTHORIZED, 1401, "the stream ID's user is not authorised")                                  \
  X(OVERLOAD, 1402, "too many connections: the source's place is taken")                           \
  X(FORBIDDEN, 1403, "access is forbidden")                                                        \
  X(NOTFOUND, 1404, "no stream of this stream ID is served here")                                  \
  X(BAD_MODE, 1405, "the stream ID's mode (m=) is not served here")                                \
  X(UNACCEPTABLE, 1406, "the parameters of the stream ID cannot be met")                           \
  X(CONFLICT, 1409, "the resource is in use by another source")                                    \
  X(NOTSUP_MEDIA, 1415, "the media type is not served")                                            \
  X(LOCKED, 1423, "the resource is locked")                                                        \
  X(FAILED_DEPEND, 1424, "something that the stream depends on failed")                            \
  X(ISE, 1500, "the server failed inside")                                                         \
  X(UNIMPLEMENTED, 1501, "the request is not implemented")                                         \
  X(GW, 1502, "the server behind the gateway failed")                                              \
  X(DOWN, 1503, "the service is down")                                                             \
  X(UNSUPPORTED, 1505, "the stream ID's version is not served")                                    \
  X(NOROOM, 1507, "no room to store the data")

enum ls__reject {
#define LS__REJECT_ENUM(name, code, text) LS__REJECT_##name = code,
  LS__REJECTS(LS__REJECT_ENUM)
#undef LS__REJECT_ENUM
};

/** "BADSECRET" and the like; "USER" from 2000, "UNKNOWN" for a code of no table. */
const char *ls__reject_name(int code);

/** One clause for a person. */
const char *ls__reject_text(int code);

#endif
