#include "base/error.h"

#include "lockstep.h"

#include <stddef.h>

const char *ls__error_name(int code) {
  switch (code) {
#define LS__ERROR_CASE(name, value, text)                                                          \
  case value:                                                                                      \
    return #name;
    LS_ERRORS(LS__ERROR_CASE)
#undef LS__ERROR_CASE
  default:
    return "LS_EUNKNOWN";
  }
}

const char *ls__error_text(int code) {
  switch (code) {
#define LS__ERROR_CASE(name, value, text)                                                          \
  case value:                                                                                      \
    return text;
    LS_ERRORS(LS__ERROR_CASE)
#undef LS__ERROR_CASE
  default:
    return "unknown error";
  }
}
