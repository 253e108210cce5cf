#include "base/option.h"

#include "base/addr.h"
#include "base/addr_text.h"
#include "base/assert.h"
#include "lockstep.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

int ls__fail(int code, char *err, size_t err_len, const char *format, ...) {
  if (!err || !err_len)
    return code;
  va_list args;
  va_start(args, format);
  vsnprintf(err, err_len, format, args);
  va_end(args);
  return code;
}

static int set_int(const struct ls__option *option, int64_t *at, const char *text, char *err,
                   size_t err_len) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < option->min || value > option->max)
    return ls__fail(LS_EINVAL, err, err_len, "%s: '%s' is not a whole number from %lld to %lld",
                    option->name, text, (long long)option->min, (long long)option->max);
  *at = value;
  return 0;
}

static int set_share(const struct ls__option *option, double *at, const char *text, char *err,
                     size_t err_len) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value) || value < (double)option->min ||
      value > (double)option->max)
    return ls__fail(LS_EINVAL, err, err_len, "%s: '%s' is not a number from %lld to %lld",
                    option->name, text, (long long)option->min, (long long)option->max);
  *at = value;
  return 0;
}

static int set_bool(const struct ls__option *option, bool *at, const char *text, char *err,
                    size_t err_len) {
  static const char *const words[2][4] = {{"false", "0", "no", "off"}, {"true", "1", "yes", "on"}};
  for (int value = 0; value < 2; value++)
    for (int i = 0; i < 4; i++)
      if (strcasecmp(text, words[value][i]) == 0) {
        *at = value;
        return 0;
      }
  return ls__fail(LS_EINVAL, err, err_len, "%s: '%s' is neither true nor false", option->name,
                  text);
}

static int set_enum(const struct ls__option *option, int *at, const char *text, char *err,
                    size_t err_len) {
  size_t len = strlen(text);
  int value = 0;
  for (const char *word = option->words; len && *word; value++) {
    size_t word_len = strcspn(word, " ");
    if (word_len == len && strncmp(word, text, len) == 0) {
      *at = value;
      return 0;
    }
    word += word_len + (word[word_len] == ' ');
  }
  return ls__fail(LS_EINVAL, err, err_len, "%s: '%s' is none of: %s", option->name, text,
                  option->words);
}

int ls__option_set(const struct ls__option *table, size_t count, void *config, const char *name,
                   const char *text, char *err, size_t err_len) {
  const struct ls__option *option = table;
  while (option < table + count && strcmp(option->name, name) != 0)
    option++;
  if (option == table + count)
    return ls__fail(LS_EOPTION, err, err_len, "there is no option '%s' here", name);
  void *at = (char *)config + option->offset;
  switch (option->type) {
  case LS__OPTION_INT:
    return set_int(option, at, text, err, err_len);
  case LS__OPTION_SHARE:
    return set_share(option, at, text, err, err_len);
  case LS__OPTION_BOOL:
    return set_bool(option, at, text, err, err_len);
  case LS__OPTION_ENUM:
    return set_enum(option, at, text, err, err_len);
  case LS__OPTION_TEXT:
    if (strlen(text) > (size_t)option->max)
      return ls__fail(LS_EINVAL, err, err_len, "%s: longer than %lld bytes", name,
                      (long long)option->max);
    strcpy(at, text);
    return 0;
  case LS__OPTION_ADDR:
    if (ls__addr_parse(text, at) < 0)
      return ls__fail(LS_EINVAL, err, err_len,
                      "%s: '%s' is not an address like 192.0.2.1:5000, [2001:db8::1]:5000 or :5000",
                      name, text);
    return 0;
  }
  LS_ASSERT(false && "option type");
  return LS_EINVAL;
}
