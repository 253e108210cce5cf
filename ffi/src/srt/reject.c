#include "srt/reject.h"

/* Codes from here on mean what the peer's application says they mean. */
#define USER_CODES 2000

const char *ls__reject_name(int code) {
  switch (code) {
#define LS__REJECT_CASE(name, value, text)                                                         \
  case value:                                                                                      \
    return #name;
    LS__REJECTS(LS__REJECT_CASE)
#undef LS__REJECT_CASE
  default:
    return code >= USER_CODES ? "USER" : "UNKNOWN";
  }
}

const char *ls__reject_text(int code) {
  switch (code) {
#define LS__REJECT_CASE(name, value, text)                                                         \
  case value:                                                                                      \
    return text;
    LS__REJECTS(LS__REJECT_CASE)
#undef LS__REJECT_CASE
  default:
    return code >= USER_CODES ? "the peer's application gave a reason of its own"
                              : "the peer gave no reason";
  }
}
