#include "io/file.h"

#include "base/prng.h"
#include "base/testing.h"
#include "io/testing.h"
#include "lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

static struct ls__test_loop t;

/* One file on the loop, and what the loop has seen of it. */
struct fixture {
  struct ls__file file;
  int fd;
  bool owned, writing;
  uint32_t chunk;
  int result;
  _Atomic unsigned readies;
  /* reading: what was taken */
  bool hold; /* take nothing for now */
  uint8_t *bytes;
  size_t taken, room;
  uint32_t longest, records, shorter; /* shorter: records below `chunk` that were not the last */
  bool last_was_short;
  _Atomic bool drained;
};

static void take_all(struct fixture *f) {
  uint8_t record[LS__FILE_CHUNK];
  uint32_t len;
  while (!f->hold && (len = ls__file_take(&f->file, record)) > 0) {
    assert_true(f->taken + len <= f->room);
    memcpy(f->bytes + f->taken, record, len);
    f->taken += len;
    f->records++;
    f->shorter += f->last_was_short;
    f->last_was_short = len < f->chunk;
    if (len > f->longest)
      f->longest = len;
  }
  if (ls__file_drained(&f->file))
    atomic_store(&f->drained, true);
}

static void ready(void *self, int64_t now_ns) {
  struct fixture *f = self;
  (void)now_ns;
  atomic_fetch_add(&f->readies, 1);
  if (!f->writing)
    take_all(f);
}

static void open_file(void *self, int64_t now_ns) {
  struct fixture *f = self;
  (void)now_ns;
  f->result = f->writing ? ls__file_write(&f->file, &t.loop, f->fd, f->owned, ready, f)
                         : ls__file_read(&f->file, &t.loop, f->fd, f->owned, f->chunk, ready, f);
}

static void close_file(void *self, int64_t now_ns) {
  (void)now_ns;
  ls__file_leave(&((struct fixture *)self)->file);
  ls__file_join(&((struct fixture *)self)->file);
}

static void resume(void *self, int64_t now_ns) {
  struct fixture *f = self;
  (void)now_ns;
  f->hold = false;
  take_all(f);
}

static void finish_file(void *self, int64_t now_ns) {
  (void)now_ns;
  ls__file_finish(&((struct fixture *)self)->file);
}

static struct fixture reading(int fd, bool owned, uint32_t chunk, size_t room) {
  return (struct fixture){
      .fd = fd, .owned = owned, .chunk = chunk, .bytes = malloc(room + 1), .room = room};
}

static void run_file(struct fixture *f) {
  ls__test_on_loop(&t, open_file, f);
  assert_int_equal(f->result, 0);
}

static void end_file(struct fixture *f) {
  ls__test_on_loop(&t, close_file, f);
  ls__test_on_loop(&t, close_file, f); /* twice does nothing */
  free(f->bytes);
}

static uint8_t byte_at(size_t i) {
  return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

/* A regular file without a name that holds `len` bytes. */
static int content(size_t len) {
  int fd = memfd_create("content", MFD_CLOEXEC);
  assert_true(fd >= 0);
  uint8_t *bytes = malloc(len + 1);
  for (size_t i = 0; i < len; i++)
    bytes[i] = byte_at(i);
  assert_int_equal(write(fd, bytes, len), len);
  assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
  free(bytes);
  return fd;
}

static void check_content(const struct fixture *f, size_t len) {
  assert_int_equal(f->taken, len);
  for (size_t i = 0; i < len; i++)
    if (f->bytes[i] != byte_at(i))
      fail_msg("byte %zu", i);
  assert_int_equal(f->shorter, 0);
  assert_int_equal(atomic_load(&f->file.bytes), len);
  assert_int_equal(atomic_load(&f->file.error), 0);
}

/* Whole records but the last, whatever the length; also more than the ring holds. */
static void test_read_lengths(void **state) {
  (void)state;
  static const uint32_t chunks[] = {188, 1316, LS__FILE_CHUNK};
  for (unsigned c = 0; c < 3; c++) {
    const size_t chunk = chunks[c];
    const size_t lengths[] = {0,         1,         chunk - 1,
                              chunk,     chunk + 1, 2 * LS__FILE_CHUNK,
                              7 * chunk, 1000003,   LS__FILE_RING + 3 * LS__FILE_CHUNK + 5};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      struct fixture f = reading(content(lengths[i]), true, chunks[c], lengths[i]);
      run_file(&f);
      assert_true(ls__test_until(atomic_load(&f.drained)));
      check_content(&f, lengths[i]);
      assert_int_equal(f.records, (lengths[i] + chunk - 1) / chunk);
      assert_true(f.longest <= chunks[c]);
      end_file(&f);
      assert_int_equal(fcntl(f.fd, F_GETFD), -1); /* owned: closed */
    }
  }
}

/* A pipe comes in pieces; the records are whole nevertheless, and the descriptor stays open. */
static void test_read_pipe(void **state) {
  (void)state;
  int ends[2];
  struct ls__prng prng;
  ls__prng_seed(&prng, 11);
  assert_int_equal(pipe(ends), 0);
  struct fixture f = reading(ends[0], false, 1316, 200000);
  run_file(&f);
  for (size_t sent = 0; sent < 200000;) {
    uint8_t bytes[4000];
    size_t len = 1 + ls__prng_below(&prng, sizeof bytes);
    if (len > 200000 - sent)
      len = 200000 - sent;
    for (size_t i = 0; i < len; i++)
      bytes[i] = byte_at(sent + i);
    assert_int_equal(write(ends[1], bytes, len), len);
    sent += len;
    if (ls__prng_below(&prng, 4) == 0)
      usleep(300);
  }
  close(ends[1]);
  assert_true(ls__test_until(atomic_load(&f.drained)));
  check_content(&f, 200000);
  end_file(&f);
  assert_int_not_equal(fcntl(ends[0], F_GETFD), -1);
  close(ends[0]);
}

/* What is read goes out at once: a slow source does not wait until a large buffer is full. */
static void test_read_passes_on_at_once(void **state) {
  (void)state;
  int ends[2];
  uint8_t bytes[188] = {0};
  assert_int_equal(pipe(ends), 0);
  struct fixture f = reading(ends[0], true, 188, 1880);
  run_file(&f);
  for (unsigned i = 1; i <= 10; i++) {
    assert_int_equal(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    assert_true(ls__test_until(atomic_load(&f.readies) >= i));
  }
  close(ends[1]);
  assert_true(ls__test_until(atomic_load(&f.drained)));
  assert_int_equal(f.records, 10);
  end_file(&f);
}

static void test_read_error(void **state) {
  (void)state;
  int directory = open("/", O_RDONLY | O_DIRECTORY);
  struct fixture f = reading(directory, true, 188, 0);
  run_file(&f);
  assert_true(ls__test_until(atomic_load(&f.drained)));
  assert_int_equal(atomic_load(&f.file.error), EISDIR);
  end_file(&f);
}

/* While nobody takes, the thread stops at a full ring; then it goes on, and nothing is lost. */
static void test_read_back_pressure(void **state) {
  (void)state;
  const size_t len = 3 * LS__FILE_RING;
  struct fixture f = reading(content(len), true, 1000, len);
  f.hold = true;
  run_file(&f);
  assert_true(ls__test_until(ls__ring_space(&f.file.ring) < 1004));
  assert_true(atomic_load(&f.file.bytes) <= LS__FILE_RING);
  ls__test_on_loop(&t, resume, &f);
  assert_true(ls__test_until(atomic_load(&f.drained)));
  check_content(&f, len);
  end_file(&f);
}

/* Reader and thread meet at the full ring again and again: no wake-up may be lost between them. */
static void take_few(void *self, int64_t now_ns) {
  struct fixture *f = self;
  uint8_t record[LS__FILE_CHUNK];
  (void)now_ns;
  for (int i = 0; i < 200; i++)
    f->taken += ls__file_take(&f->file, record);
}

static void test_read_full_ring_stress(void **state) {
  (void)state;
  int zero = open("/dev/zero", O_RDONLY);
  struct fixture f = reading(zero, true, 1316, 0);
  f.hold = true;
  run_file(&f);
  assert_true(ls__test_until(ls__ring_space(&f.file.ring) < 1320));
  size_t wanted = 100u << 20;
  int64_t give_up_ns = ls__clock_now() + LS__TEST_PATIENCE_MS * LS_MS;
  size_t before = 1;
  while (f.taken < wanted && ls__clock_now() < give_up_ns) {
    ls__test_on_loop(&t, take_few, &f);
    if (f.taken == before)
      assert_true(ls__test_until(!ls__ring_empty(&f.file.ring)));
    before = f.taken;
  }
  end_file(&f);
}

/* An end in every state: at once, waiting for data, waiting for room, at the end of the file. */
static void test_read_close_any_time(void **state) {
  (void)state;
  unsigned before = ls__test_descriptors();
  for (unsigned i = 0; i < 60; i++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int fd = i % 3 == 0 ? ends[0] : i % 3 == 1 ? open("/dev/zero", O_RDONLY) : content(5000);
    struct fixture f = reading(fd, true, 1316, 5000);
    f.hold = i % 3 == 1;
    run_file(&f);
    if (i % 2)
      usleep(i * 50);
    end_file(&f);
    if (i % 3 != 0)
      close(ends[0]);
    close(ends[1]);
  }
  assert_int_equal(ls__test_descriptors(), before);
}

static void test_close_unstarted(void **state) {
  (void)state;
  struct ls__file file = {.started = false};
  ls__file_leave(&file);
  ls__file_join(&file);
  assert_false(file.started);
}

/* Without descriptors nothing starts, and what was owned is closed. */
static void test_start_fails_clean(void **state) {
  (void)state;
  unsigned before = ls__test_descriptors();
  struct rlimit limit, tight;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  for (rlim_t more = 1; more < 3; more++) {
    struct fixture f = reading(content(10), true, 188, 10);
    tight = limit;
    tight.rlim_cur = (rlim_t)f.fd + more;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    ls__test_on_loop(&t, open_file, &f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(f.result, LS_ESYSTEM);
    end_file(&f);
    assert_int_equal(ls__test_descriptors(), before);
  }
}

/* Writing: puts `len` bytes in pieces; how many were accepted. */
struct put {
  struct fixture *f;
  size_t at, end;
  uint32_t piece;
  size_t refused;
};

static void put_bytes(void *self, int64_t now_ns) {
  struct put *put = self;
  uint8_t bytes[LS__FILE_CHUNK];
  (void)now_ns;
  while (put->at < put->end) {
    uint32_t len = put->end - put->at < put->piece ? (uint32_t)(put->end - put->at) : put->piece;
    for (uint32_t i = 0; i < len; i++)
      bytes[i] = byte_at(put->at + i);
    if (!ls__file_put(&put->f->file, bytes, len)) {
      put->refused++;
      return;
    }
    put->at += len;
  }
}

static struct fixture writing(int fd, bool owned) {
  return (struct fixture){.fd = fd, .owned = owned, .writing = true};
}

static void test_write_lengths(void **state) {
  (void)state;
  static const size_t lengths[] = {0, 1, 1316, 100000, LS__FILE_RING - 400000};
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    int fd = memfd_create("out", MFD_CLOEXEC);
    struct fixture f = writing(fd, false);
    run_file(&f);
    struct put put = {.f = &f, .end = lengths[i], .piece = 1316};
    ls__test_on_loop(&t, put_bytes, &put);
    assert_int_equal(put.refused, 0);
    ls__test_on_loop(&t, finish_file, &f);
    assert_true(ls__test_until(atomic_load(&f.readies) > 0));
    assert_true(atomic_load(&f.file.ended));
    assert_int_equal(atomic_load(&f.file.error), 0);
    assert_int_equal(atomic_load(&f.file.bytes), lengths[i]);
    end_file(&f);
    assert_int_equal(lseek(fd, 0, SEEK_END), lengths[i]);
    for (size_t at = 0; at < lengths[i]; at += 997) {
      uint8_t byte;
      assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
      assert_int_equal(byte, byte_at(at));
    }
    close(fd);
  }
}

/* A reader that sleeps fills pipe and ring: then a put is refused, whole, without waiting. What
 * was accepted arrives in order once the reader wakes. */
static void test_write_slow_reader(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  struct fixture f = writing(ends[1], true);
  run_file(&f);
  struct put put = {.f = &f, .end = 64u << 20, .piece = 1316};
  int64_t start_ns = ls__clock_now();
  ls__test_on_loop(&t, put_bytes, &put);
  assert_true(ls__clock_now() - start_ns < 2 * LS_S);
  assert_int_equal(put.refused, 1);
  assert_true(put.at > LS__FILE_RING / 2);
  ls__test_on_loop(&t, finish_file, &f);
  size_t got = 0;
  static uint8_t bytes[65536];
  while (got < put.at) {
    ssize_t len = read(ends[0], bytes, sizeof bytes);
    assert_true(len > 0);
    for (ssize_t i = 0; i < len; i++)
      if (bytes[i] != byte_at(got + (size_t)i))
        fail_msg("byte %zu", got + (size_t)i);
    got += (size_t)len;
  }
  assert_true(ls__test_until(atomic_load(&f.file.ended)));
  end_file(&f);
  assert_int_equal(read(ends[0], bytes, 1), 0);
  close(ends[0]);
}

/* The end does not wait for a reader that has stopped reading, of whatever kind the descriptor. */
static void test_write_close_while_stuck(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    int ends[2];
    assert_int_equal(kind == 0   ? pipe(ends)
                     : kind == 1 ? pipe2(ends, O_NONBLOCK)
                                 : socketpair(AF_UNIX, SOCK_STREAM, 0, ends),
                     0);
    struct fixture f = writing(ends[1], true);
    run_file(&f);
    struct put put = {.f = &f, .end = 16u << 20, .piece = 60000};
    ls__test_on_loop(&t, put_bytes, &put);
    usleep(50000); /* now the thread is in the middle of it */
    int64_t start_ns = ls__clock_now();
    end_file(&f);
    assert_true(ls__clock_now() - start_ns < LS_S);
    close(ends[0]);
  }
}

static void test_write_errors(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  const struct {
    int fd, error;
  } rows[] = {
      {ends[1], EPIPE}, {open("/dev/full", O_WRONLY), ENOSPC}, {open("/", O_RDONLY), EBADF}};
  for (unsigned i = 0; i < 3; i++) {
    struct fixture f = writing(rows[i].fd, true);
    run_file(&f);
    struct put put = {.f = &f, .end = 100000, .piece = 1316};
    ls__test_on_loop(&t, put_bytes, &put);
    assert_true(ls__test_until(atomic_load(&f.readies) > 0));
    assert_true(atomic_load(&f.file.ended));
    assert_int_equal(atomic_load(&f.file.error), rows[i].error);
    end_file(&f);
  }
}

static void test_write_close_any_time(void **state) {
  (void)state;
  unsigned before = ls__test_descriptors();
  for (unsigned i = 0; i < 60; i++) {
    struct fixture f = writing(memfd_create("out", MFD_CLOEXEC), true);
    run_file(&f);
    struct put put = {.f = &f, .end = i * 10000, .piece = 1316};
    ls__test_on_loop(&t, put_bytes, &put);
    if (i % 2)
      ls__test_on_loop(&t, finish_file, &f);
    if (i % 3)
      usleep(i * 20);
    end_file(&f);
  }
  assert_int_equal(ls__test_descriptors(), before);
}

static int set_up(void **state) {
  (void)state;
  ls__test_loop_start(&t);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  ls__test_loop_end(&t);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_lengths),           cmocka_unit_test(test_read_pipe),
      cmocka_unit_test(test_read_passes_on_at_once), cmocka_unit_test(test_read_error),
      cmocka_unit_test(test_read_back_pressure),     cmocka_unit_test(test_read_full_ring_stress),
      cmocka_unit_test(test_read_close_any_time),    cmocka_unit_test(test_close_unstarted),
      cmocka_unit_test(test_start_fails_clean),      cmocka_unit_test(test_write_lengths),
      cmocka_unit_test(test_write_slow_reader),      cmocka_unit_test(test_write_close_while_stuck),
      cmocka_unit_test(test_write_errors),           cmocka_unit_test(test_write_close_any_time),
  };
  return cmocka_run_group_tests_name("io/file", tests, set_up, tear_down);
}
