/* An intrusive binary heap ordered by time, then by order of insertion: the nodes live in their
 * owners, the array of pointers is sized once. */
#ifndef LS__BASE_HEAP_H
#define LS__BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct ls__heap_node {
  int64_t at_ns;
  uint64_t order;
  uint32_t place; /* index in the array + 1; 0 = not in a heap */
};

struct ls__heap {
  struct ls__heap_node **nodes;
  uint32_t count, capacity;
  uint64_t inserted;
};

/** Allocates room for `capacity` nodes; 0 or LS_ENOMEM. */
int ls__heap_init(struct ls__heap *heap, uint32_t capacity);
void ls__heap_free(struct ls__heap *heap);

/** Puts a node in at its time, or moves it there. False when the heap is full. */
bool ls__heap_set(struct ls__heap *heap, struct ls__heap_node *node, int64_t at_ns);

/** Puts a node that was taken out back at the time and among equals at the place that it had.
 * False when the heap is full. */
bool ls__heap_restore(struct ls__heap *heap, struct ls__heap_node *node);

/** Takes a node out; nothing happens when it is not in. */
void ls__heap_remove(struct ls__heap *heap, struct ls__heap_node *node);

/** The earliest node, or NULL. */
static inline struct ls__heap_node *ls__heap_first(const struct ls__heap *heap) {
  return heap->count ? heap->nodes[0] : 0;
}

#endif
