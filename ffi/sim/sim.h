/* The simulator: both ends of a stream run the real core on virtual clocks, over links of the
 * impairment model, from one seed. It has no I/O and no real time, so a day takes minutes, and it
 * checks as it goes:
 *
 *   order      nothing is delivered twice, out of order, or with other bytes than were sent
 *   latency    from source to delivery in true time, constant within `latency_tolerance_ns` (the
 *              first delivery is the reference; both clocks' drift must be followed within it)
 *   shadow     no end sends what libsrt would break the connection for (sim/shadow.h)
 *   no loss    where `loss_allowed` is false
 *   the end    all that was sent is delivered or counted as lost
 *
 * What is violated is said in words with the time; the seed repeats it. */
#ifndef LS__SIM_SIM_H
#define LS__SIM_SIM_H

#include "base/statistics.gen.h"
#include "impair/pair.h"
#include "pace/histogram.h"
#include "pace/schedule.h"
#include "sim/clock.h"
#include "sim/shadow.h"
#include "stream/stream.h"

#define LS__SIM_LINKS_MAX LS__STREAM_LINKS_MAX
/* Datagrams under way at once. */
#define LS__SIM_FLIGHT_MAX 65536

struct ls__sim_config {
  int64_t seed;
  int64_t rate_bps;      /* payload bits of the source */
  int64_t payload_bytes; /* of each packet, 32 .. LS_PAYLOAD_MAX */
  int64_t latency_ns;
  int64_t buffer_packets;
  int64_t max_bandwidth_bps;
  int64_t sender_ppb, receiver_ppb; /* errors of the two clocks */
  int64_t sender_wander_ppb, receiver_wander_ppb;
  int64_t isn;      /* -1: random */
  int64_t stamp_us; /* header stamp at the start: near 2^32 to see it wrap */
  int64_t latency_tolerance_ns;
  int64_t reorder_tolerance; /* packets */
  bool loss_allowed;
};

struct ls__sim_link {
  struct ls__model_pair ways;
  struct ls__model models[2]; /* from the sender, to the sender */
  struct ls__shadow shadow;
  uint64_t offered[2], lost[2];
};

struct ls__sim_end {
  struct ls__stream stream;
  struct ls__sim_clock clock;
  bool accepted; /* receiver: has a connection */
};

struct ls__sim {
  struct ls__sim_config config;
  struct ls__sim_link links[LS__SIM_LINKS_MAX];
  unsigned link_count;
  bool started, finishing, ended;
  int64_t now_ns; /* true time since the start */
  struct ls__prng prng;
  struct ls__sim_end ends[2]; /* 0 sends, 1 receives */
  uint8_t cookie_key[16];
  struct ls__schedule flight; /* datagrams under way, by true time of arrival */
  int64_t source_ns;          /* sender's clock: when the next packet is due */
  uint64_t source_rest;
  uint64_t sent;     /* packets that the source has pushed */
  uint64_t expected; /* number of the next packet to be delivered */
  uint64_t delivered, lost, refused;
  struct ls__histogram latency;
  int64_t latency_first_ns, latency_min_ns, latency_max_ns;
  char violation[200]; /* empty: none */
};

/** Sets the defaults: 10 Mbit/s of 1316 bytes, 120 ms latency, right clocks, seed 1, no link. */
void ls__sim_init(struct ls__sim *sim);

/** Sets an option of the simulation. LS_EOPTION, LS_EINVAL with a sentence in `err`. */
int ls__sim_option(struct ls__sim *sim, const char *name, const char *value, char *err,
                   size_t err_len);

/** Adds a link; its number, or LS_ELIMIT. Its options are those of impair/pair.h. */
int ls__sim_add_link(struct ls__sim *sim);

/** Allocates and connects; the simulation then stands at time 0. LS_EINVAL, LS_ENOMEM. */
int ls__sim_start(struct ls__sim *sim, char *err, size_t err_len);

/** Runs for `span_ns` of true time, or until a violation. 1 when it goes on, 0 when it stands
 * still: a violation, or the end after ls__sim_finish. */
int ls__sim_run(struct ls__sim *sim, int64_t span_ns);

/** The source ends; what is under way is delivered by further ls__sim_run. */
void ls__sim_finish(struct ls__sim *sim);

/** Frees everything. */
void ls__sim_free(struct ls__sim *sim);

/** The share of packets that a viewer loses on one link, in closed form: lost at first (p), and in
 * each of the n times that the latency allows to ask again (request lost q or answer lost p):
 *   p · (1 - (1-p)(1-q))^n,  n = 1 + floor((latency - gap - RTT) / repeat), 0 when below one RTT
 * with gap the time to the next packet, which shows the loss. Bursts are not accounted for. */
double ls__sim_expected_loss(const struct ls__sim *sim, unsigned link);

/** Figures of one end (0 sends, 1 receives) of a link. */
struct ls__stats_link ls__sim_link_statistics(const struct ls__sim *sim, unsigned link,
                                              unsigned end);

/** Figures of the simulation as a whole. */
struct ls__stats_simulation ls__sim_statistics(const struct ls__sim *sim);

#endif
