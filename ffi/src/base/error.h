/* Names and texts of the library's errors, from the one table LS_ERRORS in lockstep.h. */
#ifndef LS__BASE_ERROR_H
#define LS__BASE_ERROR_H

/** "LS_EINVAL" and the like; "LS_EUNKNOWN" for a code that is not in the table. */
const char *ls__error_name(int code);

/** One sentence for a person. */
const char *ls__error_text(int code);

#endif
