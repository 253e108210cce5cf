#include "flow/stream_id.h"

#include <string.h>

#define MAGIC "#!::"

/* The value of a one-letter key and its length, NULL when there is none. */
static const char *value_of(const char *text, char key, size_t *len) {
  if (strncmp(text, MAGIC, sizeof MAGIC - 1) != 0)
    return NULL;
  for (const char *at = text + sizeof MAGIC - 1; *at;) {
    size_t pair = strcspn(at, ",");
    if (pair >= 2 && at[0] == key && at[1] == '=') {
      *len = pair - 2;
      return at + 2;
    }
    at += pair + (at[pair] == ',');
  }
  return NULL;
}

int ls__stream_id_match(const char *listener, const char *caller) {
  size_t len;
  if (!listener[0])
    return 1;
  if (strcmp(listener, caller) == 0)
    return 2;
  const char *resource = value_of(caller, 'r', &len);
  return resource && strlen(listener) == len && strncmp(listener, resource, len) == 0 ? 2 : 0;
}

char ls__stream_id_mode(const char *caller) {
  size_t len;
  const char *mode = value_of(caller, 'm', &len);
  if (!mode)
    return 0;
  if (len == 7 && strncmp(mode, "request", len) == 0)
    return 'r';
  return len == 7 && strncmp(mode, "publish", len) == 0 ? 'p' : 0;
}
