#include "base/addr_text.h"

#include "lockstep.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

static int parse_number(const char *text, unsigned long max, unsigned long *value) {
  char *end;
  if (*text < '0' || *text > '9')
    return LS_EINVAL;
  *value = strtoul(text, &end, 10);
  return *end || *value > max ? LS_EINVAL : 0;
}

int ls__addr_parse(const char *text, struct ls__addr *addr) {
  char host[LS_ADDR_TEXT];
  unsigned long port, scope = 0;
  const char *colon = strrchr(text, ':');
  size_t len = colon ? (size_t)(colon - text) : sizeof host;
  if (len >= sizeof host || parse_number(colon + 1, 65535, &port) < 0)
    return LS_EINVAL;
  memcpy(host, text, len);
  host[len] = 0;
  struct ls__addr parsed = {.port = (uint16_t)port, .family = 6};
  if (len == 0) {
    *addr = parsed;
    return 0;
  }
  if (host[0] == '[' && host[len - 1] == ']') {
    host[len - 1] = 0;
    char *percent = strchr(host, '%');
    if (percent) {
      *percent = 0;
      if (parse_number(percent + 1, UINT32_MAX, &scope) < 0)
        return LS_EINVAL;
    }
    parsed.scope = (uint32_t)scope;
    if (inet_pton(AF_INET6, host + 1, parsed.bytes) != 1)
      return LS_EINVAL;
  } else {
    parsed.family = 4;
    if (inet_pton(AF_INET, host, parsed.bytes) != 1)
      return LS_EINVAL;
  }
  *addr = parsed;
  return 0;
}

const char *ls__addr_format(const struct ls__addr *addr, char *text) {
  char host[INET6_ADDRSTRLEN];
  if (addr->family == 0)
    snprintf(text, LS_ADDR_TEXT, "none");
  else if (addr->family == 4)
    snprintf(text, LS_ADDR_TEXT, "%s:%u", inet_ntop(AF_INET, addr->bytes, host, sizeof host),
             addr->port);
  else if (addr->scope)
    snprintf(text, LS_ADDR_TEXT, "[%s%%%u]:%u", inet_ntop(AF_INET6, addr->bytes, host, sizeof host),
             addr->scope, addr->port);
  else
    snprintf(text, LS_ADDR_TEXT, "[%s]:%u", inet_ntop(AF_INET6, addr->bytes, host, sizeof host),
             addr->port);
  return text;
}
