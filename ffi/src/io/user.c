#include "io/user.h"

#include "io/udp.h"

static int open_(void *self, char *err, uint32_t err_len) {
  struct ls__user *user = self;
  (void)err;
  (void)err_len;
  user->six = ls__udp_is_six(user->fd);
  user->errors = (struct ls__backend_errors){0};
  return 0;
}

static int submit(void *self, struct ls__departure *const *batch, unsigned count, int64_t now_ns) {
  struct ls__user *user = self;
  (void)now_ns;
  return (int)ls__udp_send(user->fd, user->six, batch, count, &user->errors.refused,
                           &user->errors.last_errno);
}

static void reap(void *self, struct ls__backend_errors *errors) {
  *errors = ((struct ls__user *)self)->errors;
}

static int64_t lead(const void *self) {
  (void)self;
  return 0;
}

static void close_(void *self) {
  (void)self;
}

struct ls__backend ls__user_backend(struct ls__user *user, int fd) {
  static const struct ls__backend_ops ops = {
      .name = "user", .open = open_, .submit = submit, .reap = reap, .lead = lead, .close = close_};
  user->fd = fd;
  return (struct ls__backend){.ops = &ops, .self = user};
}
