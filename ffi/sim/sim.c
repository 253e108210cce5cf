#include "sim/sim.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/option.h"
#include "base/seq.h"
#include "base/siphash.h"
#include "lockstep.h"
#include "srt/listener.h"

#include <math.h>

enum { SENDER, RECEIVER };

#define OPTION(field) offsetof(struct ls__sim_config, field)
#define DAY_NS (86400 * LS_S)

static const struct ls__option options[] = {
    {"seed", LS__OPTION_INT, OPTION(seed), 0, INT64_MAX, NULL},
    {"rate_bps", LS__OPTION_INT, OPTION(rate_bps), 1000, INT64_C(10000000000), NULL},
    {"payload_bytes", LS__OPTION_INT, OPTION(payload_bytes), 32, LS_PAYLOAD_MAX, NULL},
    {"latency_ns", LS__OPTION_INT, OPTION(latency_ns), 0, 65535 * LS_MS, NULL},
    {"buffer_packets", LS__OPTION_INT, OPTION(buffer_packets), 256, 65536, NULL},
    {"max_bandwidth_bps", LS__OPTION_INT, OPTION(max_bandwidth_bps), 0, INT64_C(100000000000),
     NULL},
    {"sender_ppb", LS__OPTION_INT, OPTION(sender_ppb), -1000000, 1000000, NULL},
    {"receiver_ppb", LS__OPTION_INT, OPTION(receiver_ppb), -1000000, 1000000, NULL},
    {"sender_wander_ppb", LS__OPTION_INT, OPTION(sender_wander_ppb), 0, 1000000, NULL},
    {"receiver_wander_ppb", LS__OPTION_INT, OPTION(receiver_wander_ppb), 0, 1000000, NULL},
    {"isn", LS__OPTION_INT, OPTION(isn), -1, LS_SEQ_MASK - 1, NULL},
    {"stamp_us", LS__OPTION_INT, OPTION(stamp_us), 0, UINT32_MAX, NULL},
    {"latency_tolerance_ns", LS__OPTION_INT, OPTION(latency_tolerance_ns), 1000, DAY_NS, NULL},
    {"reorder_tolerance", LS__OPTION_INT, OPTION(reorder_tolerance), 0, 10000, NULL},
    {"loss_allowed", LS__OPTION_BOOL, OPTION(loss_allowed), 0, 1, NULL},
};

void ls__sim_init(struct ls__sim *sim) {
  memset(sim, 0, sizeof *sim);
  sim->config = (struct ls__sim_config){.seed = 1,
                                        .rate_bps = 10000000,
                                        .payload_bytes = 1316,
                                        .latency_ns = 120 * LS_MS,
                                        .buffer_packets = 8192,
                                        .isn = -1,
                                        .latency_tolerance_ns = LS_MS,
                                        .loss_allowed = true};
}

int ls__sim_option(struct ls__sim *sim, const char *name, const char *value, char *err,
                   size_t err_len) {
  return ls__option_set(options, sizeof options / sizeof *options, &sim->config, name, value, err,
                        err_len);
}

int ls__sim_add_link(struct ls__sim *sim) {
  return sim->link_count < LS__SIM_LINKS_MAX ? (int)sim->link_count++ : LS_ELIMIT;
}

static void violate(struct ls__sim *sim, const char *what) {
  if (sim->violation[0])
    return;
  snprintf(sim->violation, sizeof sim->violation, "%s, at %lld.%09lld s", what,
           (long long)(sim->now_ns / LS_S), (long long)(sim->now_ns % LS_S));
}

static int64_t local_now(struct ls__sim_end *end, int64_t true_ns) {
  ls__sim_clock_advance(&end->clock, true_ns);
  return ls__sim_clock_read(&end->clock, true_ns);
}

/* Puts a datagram on its way. */
static void transmit(struct ls__sim *sim, unsigned link, unsigned from, const uint8_t *data,
                     size_t len) {
  struct ls__sim_link *at = &sim->links[link];
  enum ls__model_fate fate;
  int64_t arrivals[2];
  const char *objection = ls__shadow_sent(&at->shadow, from, data, len);
  if (objection)
    violate(sim, objection);
  unsigned copies =
      ls__model_offer(&at->models[from], sim->now_ns,
                      (uint32_t)(len + LS_WIRE_BYTES - LS_HEADER_BYTES), arrivals, &fate);
  at->offered[from]++;
  at->lost[from] += copies == 0;
  for (unsigned i = 0; i < copies; i++) {
    struct ls__departure *slot = ls__schedule_reserve(&sim->flight);
    if (!slot) {
      violate(sim, "more datagrams under way than the simulator holds");
      return;
    }
    memcpy(slot->payload, data, len);
    slot->length = (uint32_t)len;
    slot->cookie = (uint64_t)link << 1 | (1 - from);
    ls__schedule_commit(&sim->flight, slot, arrivals[i]);
  }
}

static void pump_out(struct ls__sim *sim, unsigned which, int64_t local_ns) {
  struct ls__sim_end *end = &sim->ends[which];
  uint8_t out[LS_DATAGRAM_MAX];
  for (unsigned i = 0; i < sim->link_count; i++) {
    size_t len;
    while ((len = ls__stream_output(&end->stream, i, local_ns, out)) > 0)
      transmit(sim, i, which, out, len);
  }
  struct ls__stream_event event;
  while ((event = ls__stream_event(&end->stream)).kind != LS__STREAM_NO_EVENT)
    if (event.kind == LS__STREAM_BROKEN)
      violate(sim, ls__reject_text(event.reject));
}

/* A payload says its number and the true time of its making, and a hash of both over the rest. */
static void make_payload(const struct ls__sim *sim, uint64_t number, int64_t made_ns,
                         uint8_t *payload) {
  size_t len = (size_t)sim->config.payload_bytes;
  ls__put64(payload, number);
  ls__put64(payload + 8, (uint64_t)made_ns);
  ls__put64(payload + 16, ls__siphash(sim->cookie_key, payload, 16));
  payload[len - 1] = (uint8_t)number;
}

/* `late_ns`: how much after its time a packet comes that was repaired in the last moment, between
 * its own time and that of the next; the latency law holds for the time it was due. */
static void check_payload(struct ls__sim *sim, const uint8_t *payload, size_t len,
                          int64_t late_ns) {
  uint64_t number = ls__get64(payload);
  int64_t latency_ns = sim->now_ns - (int64_t)ls__get64(payload + 8);
  if (len != (size_t)sim->config.payload_bytes || payload[len - 1] != (uint8_t)number ||
      ls__get64(payload + 16) != ls__siphash(sim->cookie_key, payload, 16)) {
    violate(sim, "other bytes were delivered than were sent");
    return;
  }
  if (number < sim->expected) {
    violate(sim, "a packet was delivered twice or out of order");
    return;
  }
  if (number > sim->expected && !sim->config.loss_allowed)
    violate(sim, "a packet was lost");
  sim->lost += number - sim->expected;
  sim->expected = number + 1;
  sim->delivered++;
  if (sim->delivered == 1)
    sim->latency_first_ns = sim->latency_min_ns = sim->latency_max_ns = latency_ns;
  sim->latency_min_ns = ls__time_min(sim->latency_min_ns, latency_ns);
  sim->latency_max_ns = ls__time_max(sim->latency_max_ns, latency_ns);
  int64_t off_ns = latency_ns - late_ns - sim->latency_first_ns;
  ls__histogram_record(&sim->latency, off_ns < 0 ? -off_ns : off_ns);
  if (off_ns > sim->config.latency_tolerance_ns || -off_ns > sim->config.latency_tolerance_ns)
    violate(sim, "the latency has moved out of its tolerance");
}

static void play_out(struct ls__sim *sim, int64_t local_ns) {
  struct ls__stream *stream = &sim->ends[RECEIVER].stream;
  const uint8_t *payload;
  size_t len;
  int64_t due_ns;
  while ((payload = ls__stream_take(stream, local_ns, &len, &due_ns)) != NULL) {
    check_payload(sim, payload, len, local_ns - due_ns);
    ls__stream_taken(stream);
  }
}

static void listen(struct ls__sim *sim, unsigned link, const struct ls__departure *arrived,
                   const struct ls__header *header, int64_t local_ns) {
  static const struct ls__addr caller = {.family = 4, .port = 1};
  struct ls__sim_end *end = &sim->ends[RECEIVER];
  struct ls__handshake hs;
  uint8_t out[LS_DATAGRAM_MAX];
  if (ls__handshake_get(arrived->payload + LS_HEADER_BYTES, arrived->length - LS_HEADER_BYTES,
                        &hs) < 0) {
    violate(sim, "a malformed handshake");
    return;
  }
  if (hs.request == LS__REQUEST_INDUCTION) {
    transmit(sim, link, RECEIVER, out,
             ls__listener_induction(sim->cookie_key, &caller, header, &hs, local_ns, out));
    return;
  }
  if (!ls__listener_knows(sim->cookie_key, &caller, &hs, local_ns) ||
      ls__handshake_refusal(&hs) >= 0) {
    violate(sim, "the handshake was refused");
    return;
  }
  if (end->stream.links[link].link.phase != LS__LINK_IDLE) {
    ls__stream_input(&end->stream, link, arrived->payload, arrived->length, local_ns);
    return;
  }
  if (!end->accepted)
    ls__stream_open(&end->stream, hs.isn, local_ns - sim->config.stamp_us * LS_US);
  end->accepted = true;
  struct ls__link_config config = {.socket_id = 1000 + link,
                                   .receive_latency_ns = sim->config.latency_ns,
                                   .connect_timeout_ns = 3 * LS_S,
                                   .peer_idle_timeout_ns = 5 * LS_S,
                                   .mss = 1500,
                                   .flow_window = (uint32_t)sim->config.buffer_packets,
                                   .reorder_tolerance = (uint32_t)sim->config.reorder_tolerance,
                                   .nak_report = true};
  ls__stream_accept(&end->stream, link, config, &hs, header->stamp_us, local_ns);
}

static void arrive(struct ls__sim *sim, const struct ls__departure *arrived) {
  unsigned to = arrived->cookie & 1;
  unsigned link = (unsigned)(arrived->cookie >> 1);
  struct ls__sim_end *end = &sim->ends[to];
  int64_t local_ns = local_now(end, sim->now_ns);
  struct ls__header header;
  LS_ASSERT(ls__header_get(arrived->payload, arrived->length, &header) == 0);
  if (to == RECEIVER && header.control && header.type == LS__CONTROL_HANDSHAKE)
    listen(sim, link, arrived, &header, local_ns);
  else
    ls__stream_input(&end->stream, link, arrived->payload, arrived->length, local_ns);
  ls__stream_tick(&end->stream, local_ns);
  if (to == RECEIVER)
    play_out(sim, local_ns);
  pump_out(sim, to, local_ns);
}

/* The source speaks by the sender's clock, at a constant rate without rounding drift. */
static void next_source(struct ls__sim *sim) {
  uint64_t bits = (uint64_t)sim->config.payload_bytes * 8;
  uint64_t rate = (uint64_t)sim->config.rate_bps;
  uint64_t scaled = bits * (uint64_t)LS_S + sim->source_rest;
  sim->source_ns += (int64_t)(scaled / rate);
  sim->source_rest = scaled % rate;
}

static void feed(struct ls__sim *sim, int64_t local_ns) {
  struct ls__stream *stream = &sim->ends[SENDER].stream;
  uint8_t payload[LS_PAYLOAD_MAX] = {0};
  while (sim->source_ns <= local_ns) {
    if (ls__stream_connected(stream)) {
      make_payload(sim, sim->sent, sim->now_ns, payload);
      int result =
          ls__stream_push(stream, payload, (size_t)sim->config.payload_bytes, sim->source_ns);
      sim->sent += result == 0;
      sim->refused += result < 0;
    }
    next_source(sim);
  }
}

static void wake(struct ls__sim *sim, unsigned which) {
  struct ls__sim_end *end = &sim->ends[which];
  int64_t local_ns = local_now(end, sim->now_ns);
  if (which == SENDER && !sim->finishing)
    feed(sim, local_ns);
  ls__stream_tick(&end->stream, local_ns);
  if (which == RECEIVER)
    play_out(sim, local_ns);
  pump_out(sim, which, local_ns);
}

/* When an end wants to run next, in true time. */
static int64_t wanted(const struct ls__sim *sim, unsigned which) {
  const struct ls__sim_end *end = &sim->ends[which];
  int64_t local_ns = ls__stream_timer(&end->stream);
  if (which == SENDER && !sim->finishing)
    local_ns = ls__time_min(local_ns, sim->source_ns);
  if (which == RECEIVER && end->accepted)
    local_ns = ls__time_min(
        local_ns, ls__stream_due(&end->stream, ls__sim_clock_read(&end->clock, sim->now_ns)));
  return ls__sim_clock_when(&end->clock, local_ns);
}

int ls__sim_run(struct ls__sim *sim, int64_t span_ns) {
  int64_t until_ns = sim->now_ns + span_ns;
  struct ls__departure *batch[LS_BATCH];
  LS_ASSERT(sim->started);
  while (!sim->violation[0] && !sim->ended) {
    int64_t at_ns[3] = {wanted(sim, SENDER), wanted(sim, RECEIVER),
                        ls__schedule_first(&sim->flight)};
    int64_t next_ns = ls__time_min(ls__time_min(at_ns[0], at_ns[1]), at_ns[2]);
    if (next_ns >= until_ns) {
      sim->now_ns = until_ns;
      return 1;
    }
    sim->now_ns = ls__time_max(sim->now_ns, next_ns);
    if (at_ns[2] <= sim->now_ns) {
      unsigned count = ls__schedule_pop(&sim->flight, sim->now_ns, sim->now_ns, batch);
      for (unsigned i = 0; i < count; i++) {
        arrive(sim, batch[i]);
        ls__schedule_release(&sim->flight, batch[i]);
      }
    }
    if (at_ns[SENDER] <= sim->now_ns)
      wake(sim, SENDER);
    if (at_ns[RECEIVER] <= sim->now_ns)
      wake(sim, RECEIVER);
    sim->ended = sim->finishing && ls__stream_ended(&sim->ends[SENDER].stream) &&
                 ls__stream_ended(&sim->ends[RECEIVER].stream);
  }
  if (sim->ended && sim->delivered + sim->lost != sim->sent) {
    sim->lost = sim->sent - sim->delivered; /* at the very end nothing follows that shows it */
    if (!sim->config.loss_allowed)
      violate(sim, "the end of the stream was lost");
  }
  return 0;
}

void ls__sim_finish(struct ls__sim *sim) {
  sim->finishing = true;
  struct ls__sim_end *end = &sim->ends[SENDER];
  int64_t local_ns = local_now(end, sim->now_ns);
  ls__stream_finish(&end->stream, local_ns);
  pump_out(sim, SENDER, local_ns);
}

static int start_links(struct ls__sim *sim, char *err, size_t err_len) {
  for (unsigned i = 0; i < sim->link_count; i++) {
    struct ls__sim_link *link = &sim->links[i];
    int result = ls__model_pair_finish(&link->ways, ls__prng_next(&sim->prng), err, err_len);
    if (result == 0)
      result =
          ls__model_init(&link->models[SENDER], &link->ways.forward, 0, err, (uint32_t)err_len);
    if (result == 0)
      result =
          ls__model_init(&link->models[RECEIVER], &link->ways.backward, 0, err, (uint32_t)err_len);
    if (result < 0)
      return result;
  }
  return 0;
}

static int start_ends(struct ls__sim *sim) {
  uint32_t buffer = 256;
  while (buffer < sim->config.buffer_packets)
    buffer *= 2;
  struct ls__stream_config config = {.buffer_packets = buffer,
                                     .max_bandwidth_bps = (uint64_t)sim->config.max_bandwidth_bps,
                                     .too_late_drop = true};
  config.sends = true;
  int result = ls__stream_init(&sim->ends[SENDER].stream, &config, sim->link_count);
  config.sends = false;
  if (result == 0)
    result = ls__stream_init(&sim->ends[RECEIVER].stream, &config, sim->link_count);
  return result;
}

static void call(struct ls__sim *sim) {
  struct ls__sim_end *end = &sim->ends[SENDER];
  int64_t local_ns = local_now(end, 0);
  uint32_t isn = sim->config.isn >= 0 ? (uint32_t)sim->config.isn
                                      : (uint32_t)ls__prng_below(&sim->prng, LS_SEQ_MASK);
  ls__stream_open(&end->stream, isn, local_ns - sim->config.stamp_us * LS_US);
  sim->source_ns = local_ns;
  for (unsigned i = 0; i < sim->link_count; i++) {
    struct ls__link_config config = {.socket_id = 1 + i,
                                     .connect_timeout_ns = 30 * LS_S,
                                     .peer_idle_timeout_ns = 5 * LS_S,
                                     .mss = 1500,
                                     .flow_window = (uint32_t)sim->config.buffer_packets,
                                     .nak_report = true};
    ls__stream_call(&end->stream, i, config, local_ns);
  }
}

int ls__sim_start(struct ls__sim *sim, char *err, size_t err_len) {
  if (sim->started || sim->link_count == 0)
    return ls__fail(LS_EINVAL, err, err_len,
                    sim->started ? "already started" : "a simulation needs at least one link");
  ls__prng_seed(&sim->prng, (uint64_t)sim->config.seed);
  int result = start_links(sim, err, err_len);
  if (result < 0)
    return result;
  for (unsigned i = 0; i < sizeof sim->cookie_key; i++)
    sim->cookie_key[i] = (uint8_t)ls__prng_next(&sim->prng);
  struct ls__schedule_config flight = {.slots = LS__SIM_FLIGHT_MAX,
                                       .slot_bytes = LS_DATAGRAM_MAX,
                                       .late = LS_LATE_SEND,
                                       .late_ns = INT64_MAX};
  result = ls__schedule_init(&sim->flight, &flight);
  if (result == 0)
    result = start_ends(sim);
  if (result < 0)
    return ls__fail(result, err, err_len, "out of memory");
  /* The two clocks begin an hour apart: nothing may depend on them being alike. */
  ls__sim_clock_init(&sim->ends[SENDER].clock, 3600 * LS_S, sim->config.sender_ppb,
                     sim->config.sender_wander_ppb, ls__prng_next(&sim->prng));
  ls__sim_clock_init(&sim->ends[RECEIVER].clock, 7200 * LS_S, sim->config.receiver_ppb,
                     sim->config.receiver_wander_ppb, ls__prng_next(&sim->prng));
  ls__histogram_reset(&sim->latency);
  sim->started = true;
  call(sim);
  return 0;
}

void ls__sim_free(struct ls__sim *sim) {
  ls__stream_free(&sim->ends[SENDER].stream);
  ls__stream_free(&sim->ends[RECEIVER].stream);
  ls__schedule_free(&sim->flight);
  memset(sim, 0, sizeof *sim);
}

double ls__sim_expected_loss(const struct ls__sim *sim, unsigned link) {
  const struct ls__model_pair *ways = &sim->links[link].ways;
  double p = ways->forward.loss, q = ways->backward.loss;
  int64_t rtt_ns = ways->forward.delay_ns + ways->backward.delay_ns;
  int64_t gap_ns = sim->config.payload_bytes * 8 * LS_S / sim->config.rate_bps;
  int64_t jitter_ns = ways->forward.jitter_ns + ways->backward.jitter_ns;
  int64_t repeat_ns = ls__time_max(rtt_ns + 4 * jitter_ns, LS__NAK_INTERVAL_MIN_NS);
  int64_t budget_ns = sim->config.latency_ns - gap_ns - rtt_ns;
  double tries = budget_ns < 0 ? 0 : 1 + (double)(budget_ns / repeat_ns);
  return p * pow(1 - (1 - p) * (1 - q), tries);
}

struct ls__stats_simulation ls__sim_statistics(const struct ls__sim *sim) {
  struct ls__stats_simulation stats = {
      .virtual_ns = (uint64_t)sim->now_ns,
      .sent = sim->sent,
      .refused = sim->refused,
      .delivered = sim->delivered,
      .lost = sim->lost,
      .expected_loss = sim->link_count == 1 ? ls__sim_expected_loss(sim, 0) : 0,
      .latency_first_ns = (uint64_t)sim->latency_first_ns,
      .latency_min_ns = (uint64_t)sim->latency_min_ns,
      .latency_max_ns = (uint64_t)sim->latency_max_ns,
      .latency_off_p50_ns = (uint64_t)ls__histogram_percentile(&sim->latency, 50000),
      .latency_off_p99_ns = (uint64_t)ls__histogram_percentile(&sim->latency, 99000),
      .violated = sim->violation[0] != 0,
  };
  return stats;
}

struct ls__stats_link ls__sim_link_statistics(const struct ls__sim *sim, unsigned link,
                                              unsigned end) {
  const struct ls__sim_end *at = &sim->ends[end];
  return ls__stream_statistics(&at->stream, link, ls__sim_clock_read(&at->clock, sim->now_ns));
}
