#include "flow/flow.h"

#include "base/assert.h"
#include "io/clock.h"

#include <stdio.h>
#include <string.h>

static const struct ls__object_ops flow_ops;

static const struct ls__option flow_options[] = {
    {"name", LS__OPTION_TEXT, offsetof(struct ls__flow, name), 0, 63, NULL},
    {"stop_with_link", LS__OPTION_BOOL, offsetof(struct ls__flow, stop_with_link), 0, 1, NULL},
};

static const struct ls__option link_options[] = {
    {"mode", LS__OPTION_ENUM, offsetof(struct ls__flow_link, mode), 0, 1, "caller listener"},
    {"remote", LS__OPTION_ADDR, offsetof(struct ls__flow_link, remote), 0, 0, NULL},
    {"local", LS__OPTION_ADDR, offsetof(struct ls__flow_link, local), 0, 0, NULL},
    {"interface", LS__OPTION_TEXT, offsetof(struct ls__flow_link, interface), 0, 15, NULL},
    {"tos", LS__OPTION_INT, offsetof(struct ls__flow_link, tos), 0, 255, NULL},
    {"ttl", LS__OPTION_INT, offsetof(struct ls__flow_link, ttl), 1, 255, NULL},
};

struct ls__object *ls__flow_new(void) {
  struct ls__flow *flow = calloc(1, sizeof *flow);
  if (!flow)
    return NULL;
  flow->object.ops = &flow_ops;
  return &flow->object;
}

static struct ls__flow *as_flow(const struct ls__object *object) {
  return object->ops == &flow_ops ? (struct ls__flow *)(uintptr_t)object : NULL;
}

static struct ls__endpoint *new_endpoint(int32_t direction, int32_t kind) {
  bool output = direction == LS_OUTPUT;
  switch (kind) {
  case LS_KIND_UDP:
    return output ? ls__udp_output_new() : ls__udp_input_new();
  case LS_KIND_SRT:
    return ls__srt_endpoint_new(output);
  case LS_KIND_FILE:
    return output ? ls__file_output_new() : ls__file_input_new();
  default:
    return ls__check_output_new();
  }
}

int ls__flow_add_endpoint(struct ls__object *object, int32_t direction, int32_t kind) {
  struct ls__flow *flow = as_flow(object);
  if (!flow)
    return LS_EHANDLE;
  if ((direction != LS_INPUT && direction != LS_OUTPUT) || kind < LS_KIND_UDP ||
      kind > LS_KIND_CHECK || (kind == LS_KIND_CHECK && direction == LS_INPUT))
    return LS_EINVAL;
  /* The input is endpoint 0; outputs follow in their order. */
  if (direction == LS_INPUT ? flow->endpoints[0] != NULL : flow->output_count == LS__OUTPUTS_MAX)
    return LS_ELIMIT;
  struct ls__endpoint *endpoint = new_endpoint(direction, kind);
  if (!endpoint)
    return LS_ENOMEM;
  endpoint->flow = flow;
  endpoint->kind = kind;
  endpoint->index = direction == LS_INPUT ? 0 : (int32_t)++flow->output_count;
  flow->endpoints[endpoint->index] = endpoint;
  return endpoint->index;
}

static struct ls__endpoint *endpoint_at(const struct ls__flow *flow, int32_t index) {
  return index >= 0 && index < LS__ENDPOINTS_MAX ? flow->endpoints[index] : NULL;
}

static struct ls__flow_link *link_at(struct ls__flow *flow, int32_t index) {
  int32_t at = index - LS__LINK_BASE;
  return at >= 0 && at < (int32_t)flow->link_count ? &flow->links[at] : NULL;
}

int ls__flow_add_link(struct ls__object *object, int32_t endpoint) {
  struct ls__flow *flow = as_flow(object);
  if (!flow)
    return LS_EHANDLE;
  struct ls__endpoint *owner = endpoint_at(flow, endpoint);
  if (!owner || owner->kind != LS_KIND_SRT)
    return LS_EINDEX;
  if (flow->link_count == LS__FLOW_LINKS_MAX)
    return LS_ELIMIT;
  struct ls__flow_link *link = &flow->links[flow->link_count];
  link->endpoint = owner;
  link->tos = link->ttl = -1;
  return LS__LINK_BASE + (int32_t)flow->link_count++;
}

uint16_t ls__flow_local_port(const struct ls__object *object) {
  const struct ls__flow *flow = as_flow(object);
  for (unsigned i = 0; flow && i < flow->link_count; i++)
    if (flow->links[i].local.port)
      return flow->links[i].local.port;
  return 0;
}

static int option(struct ls__object *object, int32_t index, const char *name, const char *value,
                  char *err, uint32_t err_len) {
  struct ls__flow *flow = as_flow(object);
  struct ls__endpoint *endpoint = endpoint_at(flow, index);
  struct ls__flow_link *link = link_at(flow, index);
  if (index == LS_SELF)
    return ls__option_set(flow_options, sizeof flow_options / sizeof *flow_options, flow, name,
                          value, err, err_len);
  if (endpoint)
    return ls__option_set(endpoint->ops->options, endpoint->ops->option_count, endpoint, name,
                          value, err, err_len);
  if (link)
    return ls__option_set(link_options, sizeof link_options / sizeof *link_options, link, name,
                          value, err, err_len);
  return ls__fail(LS_EINDEX, err, err_len, "the flow has no endpoint or link %d", index);
}

static int prepare(struct ls__object *object, char *err, uint32_t err_len) {
  struct ls__flow *flow = as_flow(object);
  if (!flow->endpoints[0] || flow->output_count == 0)
    return ls__fail(LS_EINVAL, err, err_len, "a flow needs one input and at least one output");
  for (unsigned i = 0; i <= flow->output_count; i++) {
    int result = flow->endpoints[i]->ops->prepare(flow->endpoints[i], err, err_len);
    if (result < 0)
      return result;
  }
  return 0;
}

static void shut(struct ls__object *object) {
  struct ls__flow *flow = as_flow(object);
  for (unsigned i = 0; i <= flow->output_count; i++)
    flow->endpoints[i]->ops->shut(flow->endpoints[i]);
}

static void release(struct ls__object *object) {
  struct ls__flow *flow = as_flow(object);
  for (unsigned i = 0; i < LS__ENDPOINTS_MAX; i++)
    if (flow->endpoints[i] && flow->endpoints[i]->ops->release)
      flow->endpoints[i]->ops->release(flow->endpoints[i]);
}

static void publish(struct ls__object *object, int64_t now_ns) {
  struct ls__flow *flow = as_flow(object);
  struct ls__stats_flow stats = {.state = object->ended    ? LS_FLOW_ENDED
                                          : flow->draining ? LS_FLOW_DRAINING
                                                           : LS_FLOW_RUNNING,
                                 .running_ns = (uint64_t)(now_ns - flow->started_ns),
                                 .links = flow->link_count};
  ls__publish(&flow->published, &stats, sizeof stats);
  for (unsigned i = 0; i <= flow->output_count; i++) {
    struct ls__endpoint *endpoint = flow->endpoints[i];
    endpoint->ops->gauges(endpoint, now_ns);
    ls__publish(&endpoint->published, &endpoint->stats, sizeof endpoint->stats);
  }
  for (unsigned i = 0; i < flow->link_count; i++)
    ls__publish(&flow->links[i].published, &flow->links[i].stats, sizeof flow->links[i].stats);
}

static int start(struct ls__object *object, int64_t now_ns, char *err, uint32_t err_len) {
  struct ls__flow *flow = as_flow(object);
  flow->started_ns = now_ns;
  flow->draining = false;
  /* The input last: what it brings must find its outputs open. */
  for (unsigned i = flow->output_count + 1; i-- > 0;) {
    int result = flow->endpoints[i]->ops->start(flow->endpoints[i], now_ns, err, err_len);
    if (result < 0) {
      shut(object);
      return result;
    }
  }
  publish(object, now_ns);
  ls__object_event(object, LS_EVENT_FLOW_STATE, LS_FLOW_RUNNING, LS_SELF, "running");
  return 0;
}

void ls__flow_deliver(struct ls__flow *flow, const uint8_t *payload, size_t len, int64_t at_ns,
                      int64_t now_ns) {
  struct ls__endpoint *input = flow->endpoints[0];
  input->stats.packets++;
  input->stats.bytes += len;
  for (unsigned i = 1; i <= flow->output_count; i++)
    flow->endpoints[i]->ops->push(flow->endpoints[i], payload, len, at_ns, now_ns);
}

void ls__flow_flush(struct ls__flow *flow, int64_t now_ns) {
  for (unsigned i = 1; i <= flow->output_count; i++)
    flow->endpoints[i]->ops->flush(flow->endpoints[i], now_ns);
}

bool ls__flow_has_room(const struct ls__flow *flow) {
  for (unsigned i = 1; i <= flow->output_count; i++)
    if (!flow->endpoints[i]->ops->has_room(flow->endpoints[i]))
      return false;
  return true;
}

bool ls__flow_from_srt(const struct ls__flow *flow) {
  return flow->endpoints[0]->kind == LS_KIND_SRT;
}

void ls__flow_drain(struct ls__flow *flow, const char *reason, int64_t now_ns) {
  if (flow->draining)
    return;
  flow->draining = true;
  snprintf(flow->end_reason, sizeof flow->end_reason, "%s", reason);
  ls__object_event(&flow->object, LS_EVENT_FLOW_STATE, LS_FLOW_DRAINING, LS_SELF, "%s", reason);
  flow->endpoints[0]->ops->stop(flow->endpoints[0], now_ns);
  ls__flow_check(flow, now_ns);
}

/* Outputs are told to end once the input has handed over its last payload. */
void ls__flow_check(struct ls__flow *flow, int64_t now_ns) {
  if (!flow->draining || flow->object.ended || !flow->endpoints[0]->ops->ended(flow->endpoints[0]))
    return;
  bool all = true;
  for (unsigned i = 1; i <= flow->output_count; i++) {
    struct ls__endpoint *output = flow->endpoints[i];
    output->ops->stop(output, now_ns);
    all = all && output->ops->ended(output);
  }
  if (all)
    ls__object_ended(&flow->object, flow->end_reason);
}

static void stop(struct ls__object *object, int64_t now_ns) {
  ls__flow_drain(as_flow(object), "stopped", now_ns);
}

static int statistics(struct ls__object *object, int32_t scope, int32_t index, void *buf,
                      uint32_t len) {
  struct ls__flow *flow = as_flow(object);
  struct ls__endpoint *endpoint = endpoint_at(flow, index);
  struct ls__flow_link *link = link_at(flow, index);
  switch (scope) {
  case LS_SCOPE_FLOW:
    return ls__published_copy(&flow->published, sizeof(struct ls__stats_flow), buf, len);
  case LS_SCOPE_ENDPOINT:
    return endpoint ? ls__published_copy(&endpoint->published, sizeof endpoint->stats, buf, len)
                    : LS_EINDEX;
  case LS_SCOPE_LINK:
    return link ? ls__published_copy(&link->published, sizeof link->stats, buf, len) : LS_EINDEX;
  default:
    return LS_EINVAL;
  }
}

static void destroy(struct ls__object *object) {
  struct ls__flow *flow = as_flow(object);
  for (unsigned i = 0; i < LS__ENDPOINTS_MAX; i++)
    if (flow->endpoints[i])
      flow->endpoints[i]->ops->destroy(flow->endpoints[i]);
  free(flow);
}

static const struct ls__object_ops flow_ops = {.option = option,
                                               .prepare = prepare,
                                               .start = start,
                                               .stop = stop,
                                               .shut = shut,
                                               .release = release,
                                               .publish = publish,
                                               .statistics = statistics,
                                               .destroy = destroy};
