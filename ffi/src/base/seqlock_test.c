#include "base/seqlock.h"

#include "base/testing.h"

#include <pthread.h>

enum { WORDS = 40, ROUNDS = 200000 };

struct block {
  struct ls__seqlock lock;
  _Atomic uint64_t shared[WORDS];
  _Atomic int ready;
};

/* Block n holds n, n + 1, ...: a mixture of two blocks shows. */
static void fill(uint64_t *words, uint64_t number) {
  for (uint64_t i = 0; i < WORDS; i++)
    words[i] = number * 1000 + i;
}

static void test_copy(void **state) {
  (void)state;
  static struct block block;
  uint64_t words[WORDS], copy[WORDS];
  fill(words, 7);
  ls__seqlock_write(&block.lock, block.shared, words, WORDS);
  ls__seqlock_read(&block.lock, block.shared, copy, WORDS);
  assert_memory_equal(copy, words, sizeof words);
  assert_int_equal(atomic_load(&block.lock.version), 2);
}

/* The version may wrap: it only says even or odd, and changed or not. */
static void test_version_wraps(void **state) {
  (void)state;
  static struct block block;
  uint64_t words[WORDS], copy[WORDS];
  atomic_store(&block.lock.version, UINT32_MAX - 1);
  fill(words, 8);
  ls__seqlock_write(&block.lock, block.shared, words, WORDS);
  assert_int_equal(atomic_load(&block.lock.version), 0);
  ls__seqlock_read(&block.lock, block.shared, copy, WORDS);
  assert_memory_equal(copy, words, sizeof words);
}

static void *publish(void *argument) {
  struct block *block = argument;
  uint64_t words[WORDS];
  while (atomic_load(&block->ready) < 2)
    ;
  for (uint64_t number = 1; number <= ROUNDS; number++) {
    fill(words, number);
    ls__seqlock_write(&block->lock, block->shared, words, WORDS);
  }
  return NULL;
}

/* Reads until the last block is seen; NULL if every copy was whole and none older than the one
 * before. */
static void *follow(void *argument) {
  struct block *block = argument;
  uint64_t copy[WORDS], expected[WORDS], newest = 0;
  atomic_fetch_add(&block->ready, 1);
  while (newest < ROUNDS) {
    ls__seqlock_read(&block->lock, block->shared, copy, WORDS);
    uint64_t number = copy[0] / 1000;
    fill(expected, number);
    for (int i = 0; i < WORDS; i++)
      if (copy[i] != expected[i] || number < newest)
        return "torn";
    newest = number;
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  static struct block block;
  uint64_t words[WORDS];
  fill(words, 0);
  ls__seqlock_write(&block.lock, block.shared, words, WORDS);
  pthread_t writer, readers[2];
  assert_int_equal(pthread_create(&writer, NULL, publish, &block), 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&readers[i], NULL, follow, &block), 0);
  assert_int_equal(pthread_join(writer, NULL), 0);
  for (int i = 0; i < 2; i++) {
    void *fault;
    assert_int_equal(pthread_join(readers[i], &fault), 0);
    assert_null(fault);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_copy),
      cmocka_unit_test(test_version_wraps),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
