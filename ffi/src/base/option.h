/* Options by name and text, from a table that says for each its type, range and place in a
 * configuration struct. The error sentence names what is accepted. */
#ifndef LS__BASE_OPTION_H
#define LS__BASE_OPTION_H

#include <stddef.h>
#include <stdint.h>

enum ls__option_type {
  LS__OPTION_INT,   /* int64_t in [min, max] */
  LS__OPTION_BOOL,  /* bool: true, false, 1, 0, yes, no, on, off */
  LS__OPTION_SHARE, /* double in [min, max] */
  LS__OPTION_TEXT,  /* char[max + 1], at most max bytes */
  LS__OPTION_ADDR,  /* struct ls__addr: 192.0.2.1:5000, [2001:db8::1]:5000, :5000 */
  LS__OPTION_ENUM   /* int: one of the blank-separated words in `words`, counted from 0 */
};

struct ls__option {
  const char *name;
  enum ls__option_type type;
  size_t offset;
  int64_t min, max;
  const char *words;
};

/** Sets the option `name` of `config` from `text`. 0; LS_EOPTION when the table has no such name;
 * LS_EINVAL when the value is not accepted. On error a sentence is written to `err`. */
int ls__option_set(const struct ls__option *table, size_t count, void *config, const char *name,
                   const char *text, char *err, size_t err_len);

/** Writes a formatted sentence to `err` (may be NULL) and returns `code`. */
int ls__fail(int code, char *err, size_t err_len, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
