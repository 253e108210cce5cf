#include "impair/model.h"

#include "base/assert.h"
#include "base/option.h"
#include "base/time.h"
#include "lockstep.h"

#include <math.h>

/* A byte has 8·10⁹ of the queue's units of 10⁻⁹ bit, of which the line sends rate_bps each ns. */
#define NB_PER_BYTE UINT64_C(8000000000)

/* The variation of the delay is drawn within this many standard deviations. */
#define JITTER_SIGMAS 3.0

static bool is_share(double value) {
  return value >= 0 && value <= 1; /* false for NaN as well */
}

static double ms_of(int64_t ns) {
  return (double)ns / (double)LS_MS;
}

static int check_delay(const char *name, int64_t ns, char *err, uint32_t err_len) {
  if (ns >= 0 && ns <= LS_MODEL_DELAY_MAX_NS)
    return 0;
  return ls__fail(LS_EINVAL, err, err_len, "%s is %.10g ms: it must lie between 0 and %.10g ms",
                  name, ms_of(ns), ms_of(LS_MODEL_DELAY_MAX_NS));
}

static int check_share(const char *name, double value, char *err, uint32_t err_len) {
  if (is_share(value))
    return 0;
  return ls__fail(LS_EINVAL, err, err_len,
                  "%s is %.10g: it must lie between 0 and 1 (0.01 is 1 %%)", name, value);
}

static int check_burst(const struct ls__model_config *config, char *err, uint32_t err_len) {
  double burst = config->burst_packets, loss = config->loss;
  if (burst != 0 && !(burst >= 1 && burst <= LS_MODEL_BURST_MAX))
    return ls__fail(LS_EINVAL, err, err_len,
                    "burst is %.10g: it must lie between 1 and %.10g packets", burst,
                    LS_MODEL_BURST_MAX);
  /* Between two bursts at least one packet passes: bursts of b lose at most b/(b+1). */
  if (burst > 1 && loss < 1 && loss > burst / (burst + 1))
    return ls__fail(
        LS_EINVAL, err, err_len,
        "loss is %.10g: bursts of %.10g packets lose at most %.10g; make burst at least "
        "%.10g",
        loss, burst, burst / (burst + 1), loss / (1 - loss));
  return 0;
}

static int check_outage(const struct ls__model_config *config, char *err, uint32_t err_len) {
  int64_t every_ns = config->outage_every_ns, for_ns = config->outage_for_ns;
  if (every_ns < 0 || every_ns > LS_MODEL_PERIOD_MAX_NS)
    return ls__fail(LS_EINVAL, err, err_len,
                    "outage period is %.10g ms: it must lie between 0 and %.10g ms",
                    ms_of(every_ns), ms_of(LS_MODEL_PERIOD_MAX_NS));
  if (for_ns < 0)
    return ls__fail(LS_EINVAL, err, err_len, "outage length is %.10g ms: it must not be negative",
                    ms_of(for_ns));
  if (for_ns > 0 && for_ns >= every_ns)
    return ls__fail(LS_EINVAL, err, err_len,
                    "outage length is %.10g ms: it must be shorter than its period of %.10g ms",
                    ms_of(for_ns), ms_of(every_ns));
  return 0;
}

static int check_rate(const struct ls__model_config *config, char *err, uint32_t err_len) {
  uint64_t rate_bps = config->rate_bps, queue = config->queue_bytes;
  if (rate_bps && (rate_bps < LS_MODEL_RATE_MIN_BPS || rate_bps > LS_MODEL_RATE_MAX_BPS))
    return ls__fail(
        LS_EINVAL, err, err_len,
        "rate is %llu bit/s: it must be 0 (no limit) or lie between %llu and %llu bit/s",
        (unsigned long long)rate_bps, (unsigned long long)LS_MODEL_RATE_MIN_BPS,
        (unsigned long long)LS_MODEL_RATE_MAX_BPS);
  if (queue > LS_MODEL_QUEUE_MAX_BYTES)
    return ls__fail(LS_EINVAL, err, err_len, "queue is %llu bytes: it must not exceed %llu bytes",
                    (unsigned long long)queue, (unsigned long long)LS_MODEL_QUEUE_MAX_BYTES);
  if (queue && !rate_bps)
    return ls__fail(LS_EINVAL, err, err_len,
                    "queue is %llu bytes, but nothing queues without a rate: set rate",
                    (unsigned long long)queue);
  return 0;
}

int ls__model_check(const struct ls__model_config *config, char *err, uint32_t err_len) {
  int code = check_delay("delay", config->delay_ns, err, err_len);
  code = code ? code : check_delay("jitter", config->jitter_ns, err, err_len);
  code = code ? code : check_share("loss", config->loss, err, err_len);
  code = code ? code : check_burst(config, err, err_len);
  code = code ? code : check_outage(config, err, err_len);
  code = code ? code : check_share("reorder", config->reorder, err, err_len);
  code = code ? code : check_share("duplicate", config->duplicate, err, err_len);
  return code ? code : check_rate(config, err, err_len);
}

/* Chances of the two-state chain whose bad state takes up `loss` of the time. Independent losses
 * are the chain that forgets its state at once. */
static void set_bursts(struct ls__model *model) {
  double loss = model->config.loss, burst = model->config.burst_packets;
  if (burst <= 1 || loss >= 1) {
    model->begin_burst = loss;
    model->end_burst = 1 - loss;
  } else {
    model->begin_burst = loss / (burst * (1 - loss));
    model->end_burst = 1 / burst;
  }
}

int ls__model_init(struct ls__model *model, const struct ls__model_config *config, int64_t start_ns,
                   char *err, uint32_t err_len) {
  int code = ls__model_check(config, err, err_len);
  if (code)
    return code;
  *model = (struct ls__model){
      .config = *config, .start_ns = start_ns, .offered_ns = start_ns, .arrived_ns = INT64_MIN};
  if (model->config.burst_packets < 1)
    model->config.burst_packets = 1;
  if (!model->config.queue_bytes)
    model->config.queue_bytes = config->rate_bps / 8 / (uint64_t)(LS_S / LS_MODEL_QUEUE_NS);
  if (model->config.queue_bytes > LS_MODEL_QUEUE_MAX_BYTES)
    model->config.queue_bytes = LS_MODEL_QUEUE_MAX_BYTES;
  struct ls__prng seeds;
  ls__prng_seed(&seeds, config->seed);
  ls__prng_seed(&model->jitter, ls__prng_next(&seeds));
  ls__prng_seed(&model->loss, ls__prng_next(&seeds));
  ls__prng_seed(&model->reorder, ls__prng_next(&seeds));
  ls__prng_seed(&model->duplicate, ls__prng_next(&seeds));
  set_bursts(model);
  model->in_burst = ls__prng_unit(&model->loss) < config->loss;
  return 0;
}

/* What chance has in store for one packet, whatever becomes of it. */
struct draws {
  bool lost, twice;
  int64_t delay_ns, second_delay_ns; /* each with its own variation */
  int64_t hold_ns;                   /* 0: in order */
};

static int64_t draw_delay(const struct ls__model *model, struct ls__prng *prng) {
  double sigmas;
  do
    sigmas = ls__prng_normal(prng);
  while (fabs(sigmas) > JITTER_SIGMAS);
  int64_t variation_ns = llrint(sigmas * (double)model->config.jitter_ns);
  return ls__time_max(model->config.delay_ns + variation_ns, 0);
}

static struct draws draw(struct ls__model *model) {
  const struct ls__model_config *config = &model->config;
  struct draws draws = {.delay_ns = config->delay_ns};
  if (config->loss > 0) {
    draws.lost = model->in_burst;
    double chance = ls__prng_unit(&model->loss);
    model->in_burst = chance < (model->in_burst ? 1 - model->end_burst : model->begin_burst);
  }
  if (config->jitter_ns)
    draws.delay_ns = draw_delay(model, &model->jitter);
  if (config->reorder > 0) {
    bool held = ls__prng_unit(&model->reorder) < config->reorder;
    uint64_t span_ns = LS_MODEL_HOLD_MAX_NS - LS_MODEL_HOLD_MIN_NS + 1;
    int64_t hold_ns = LS_MODEL_HOLD_MIN_NS + (int64_t)ls__prng_below(&model->reorder, span_ns);
    draws.hold_ns = held ? hold_ns : 0;
  }
  if (config->duplicate > 0) {
    draws.twice = ls__prng_unit(&model->duplicate) < config->duplicate;
    draws.second_delay_ns = draw_delay(model, &model->duplicate);
  }
  return draws;
}

static bool is_down(const struct ls__model *model, int64_t now_ns) {
  const struct ls__model_config *config = &model->config;
  if (!config->outage_for_ns)
    return false;
  int64_t phase_ns = (now_ns - model->start_ns) % config->outage_every_ns;
  return phase_ns >= config->outage_every_ns - config->outage_for_ns;
}

/* Brings the queue from the last offer up to `now_ns`. */
static void drain(struct ls__model *model, int64_t now_ns) {
  uint64_t sent_nb;
  if (__builtin_mul_overflow((uint64_t)(now_ns - model->offered_ns), model->config.rate_bps,
                             &sent_nb) ||
      sent_nb >= model->backlog_nb)
    model->backlog_nb = 0;
  else
    model->backlog_nb -= sent_nb;
}

/* Puts a packet onto the line; false when the queue is full. `*sent_ns` is when its last bit has
 * left, rounded up. */
static bool enqueue(struct ls__model *model, int64_t now_ns, uint32_t bytes, int64_t *sent_ns) {
  *sent_ns = now_ns;
  if (!model->config.rate_bps)
    return true;
  uint64_t after_nb = model->backlog_nb + bytes * NB_PER_BYTE;
  if (model->backlog_nb && after_nb > model->config.queue_bytes * NB_PER_BYTE)
    return false;
  model->backlog_nb = after_nb;
  *sent_ns = now_ns + (int64_t)((after_nb - 1) / model->config.rate_bps + 1);
  return true;
}

/* Arrival times of `copies` of a packet whose last bit was sent at `sent_ns`. */
static void arrive(struct ls__model *model, const struct draws *draws, int64_t sent_ns,
                   unsigned copies, int64_t at_ns[2]) {
  int64_t newest_ns = ls__time_max(sent_ns + draws->delay_ns, model->arrived_ns);
  at_ns[0] = newest_ns + draws->hold_ns;
  if (copies == 2) {
    newest_ns = ls__time_max(sent_ns + draws->second_delay_ns, newest_ns);
    at_ns[1] = newest_ns + draws->hold_ns;
  }
  if (!draws->hold_ns)
    model->arrived_ns = newest_ns;
}

unsigned ls__model_offer(struct ls__model *model, int64_t now_ns, uint32_t bytes, int64_t at_ns[2],
                         enum ls__model_fate *fate) {
  LS_ASSERT(bytes > 0 && bytes <= 65535);
  now_ns = ls__time_max(now_ns, model->offered_ns);
  drain(model, now_ns);
  model->offered_ns = now_ns;
  struct draws draws = draw(model);
  int64_t sent_ns;
  if (is_down(model, now_ns))
    *fate = LS_FATE_OUTAGE;
  else if (!enqueue(model, now_ns, bytes, &sent_ns))
    *fate = LS_FATE_OVERFLOW;
  else if (draws.lost)
    *fate = LS_FATE_LOST;
  else {
    unsigned copies = draws.twice ? 2 : 1;
    *fate = draws.twice ? LS_FATE_DUPLICATED : LS_FATE_DELIVERED;
    arrive(model, &draws, sent_ns, copies, at_ns);
    return copies;
  }
  return 0;
}
