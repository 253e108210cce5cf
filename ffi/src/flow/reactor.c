#include "flow/reactor.h"

#include "base/assert.h"
#include "flow/engine.h"
#include "flow/flow.h"
#include "io/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* All objects may be on one reactor, and none may be left without a place for its tasks: two of an
 * endpoint and one of its socket's egress. */
_Static_assert(LS__OBJECTS_MAX *LS__ENDPOINTS_MAX * 3 < LS__LOOP_TASKS_MAX, "tasks");

static void commands_ready(void *self, int64_t now_ns) {
  ls__engine_run_commands(self, now_ns);
}

static void report_lost_events(struct ls__reactor *reactor) {
  struct ls_event event = {.kind = LS_EVENT_LOST, .index = LS_SELF};
  if (reactor->events_lost == reactor->events_lost_told)
    return;
  event.code = (int32_t)(reactor->events_lost - reactor->events_lost_told);
  event.at_ns = ls__clock_real();
  snprintf(event.text, sizeof event.text, "%d events were lost because nobody read them",
           event.code);
  if (!ls__ring_write(&reactor->events, &event, sizeof event))
    return;
  reactor->events_lost_told = reactor->events_lost;
  ls__engine_signal_event(reactor->engine);
}

static void publish(void *self, int64_t now_ns) {
  struct ls__reactor *reactor = self;
  for (struct ls__object *object = reactor->objects; object; object = object->next)
    object->ops->publish(object, now_ns);
  ls__engine_publish(reactor);
  report_lost_events(reactor);
  if (reactor->objects || reactor->events_lost != reactor->events_lost_told)
    ls__loop_at(&reactor->loop, &reactor->publish, now_ns + LS__PUBLISH_NS);
}

int ls__reactor_init(struct ls__reactor *reactor, struct ls__engine *engine) {
  memset(reactor, 0, sizeof *reactor);
  reactor->engine = engine;
  reactor->publish = (struct ls__task){.run = publish, .self = reactor};
  ls__random_bytes(reactor->cookie_key, sizeof reactor->cookie_key);
  int result = ls__ring_init(&reactor->events, LS__EVENT_RING);
  if (result < 0)
    return result;
  result = ls__loop_init(&reactor->loop, commands_ready, reactor);
  if (result < 0)
    ls__ring_free(&reactor->events);
  return result;
}

void ls__reactor_free(struct ls__reactor *reactor) {
  ls__loop_free(&reactor->loop);
  ls__ring_free(&reactor->events);
}

void ls__reactor_adopt(struct ls__reactor *reactor, struct ls__object *object) {
  object->next = reactor->objects;
  reactor->objects = object;
  ls__loop_at(&reactor->loop, &reactor->publish, ls__clock_now());
}

void ls__reactor_drop(struct ls__reactor *reactor, struct ls__object *object) {
  struct ls__object **at = &reactor->objects;
  while (*at && *at != object)
    at = &(*at)->next;
  if (*at)
    *at = object->next;
}

/* Peers have a say in texts, and programs print them: no control character (ECMA-48 §5) passes,
 * be it of one byte or the two of UTF-8. */
static void make_printable(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at; at++)
    if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
      *at = '?';
}

void ls__object_event(struct ls__object *object, enum ls_event_kind kind, int32_t code,
                      int32_t index, const char *format, ...) {
  struct ls__reactor *reactor = object->reactor;
  struct ls_event event = {.kind = kind,
                           .code = code,
                           .handle = object->handle,
                           .index = index,
                           .at_ns = ls__clock_real()};
  va_list args;
  va_start(args, format);
  vsnprintf(event.text, sizeof event.text, format, args);
  va_end(args);
  make_printable(event.text);
  if (ls__ring_write(&reactor->events, &event, sizeof event))
    ls__engine_signal_event(reactor->engine);
  else
    reactor->events_lost++;
}

void ls__object_ended(struct ls__object *object, const char *reason) {
  if (object->ended)
    return;
  object->ended = true;
  object->ops->publish(object, ls__clock_now());
  ls__object_event(object, LS_EVENT_FLOW_STATE, LS_FLOW_ENDED, LS_SELF, "%s", reason);
}

void ls__publish(struct ls__published *published, const void *stats, uint32_t bytes) {
  uint64_t words[LS__STATS_WORDS_MAX];
  LS_ASSERT(bytes <= sizeof words && bytes % 8 == 0);
  memcpy(words, stats, bytes);
  ls__seqlock_write(&published->lock, published->words, words, bytes / 8);
}

int ls__published_copy(struct ls__published *published, uint32_t bytes, void *buf, uint32_t len) {
  uint64_t words[LS__STATS_WORDS_MAX];
  if (len != bytes)
    return LS_ESIZE;
  ls__seqlock_read(&published->lock, published->words, words, bytes / 8);
  memcpy(buf, words, bytes);
  return (int)bytes;
}
