#include "base/heap.h"

#include "base/assert.h"
#include "lockstep.h"

static bool earlier(const struct ls__heap_node *a, const struct ls__heap_node *b) {
  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void place(struct ls__heap *heap, struct ls__heap_node *node, uint32_t index) {
  heap->nodes[index] = node;
  node->place = index + 1;
}

static void sift_up(struct ls__heap *heap, uint32_t index) {
  struct ls__heap_node *node = heap->nodes[index];
  while (index > 0) {
    uint32_t parent = (index - 1) / 2;
    if (!earlier(node, heap->nodes[parent]))
      break;
    place(heap, heap->nodes[parent], index);
    index = parent;
  }
  place(heap, node, index);
}

static void sift_down(struct ls__heap *heap, uint32_t index) {
  struct ls__heap_node *node = heap->nodes[index];
  for (;;) {
    uint32_t child = 2 * index + 1;
    if (child >= heap->count)
      break;
    if (child + 1 < heap->count && earlier(heap->nodes[child + 1], heap->nodes[child]))
      child++;
    if (!earlier(heap->nodes[child], node))
      break;
    place(heap, heap->nodes[child], index);
    index = child;
  }
  place(heap, node, index);
}

int ls__heap_init(struct ls__heap *heap, uint32_t capacity) {
  LS_ASSERT(capacity > 0);
  *heap = (struct ls__heap){.capacity = capacity};
  heap->nodes = calloc(capacity, sizeof *heap->nodes);
  return heap->nodes ? 0 : LS_ENOMEM;
}

void ls__heap_free(struct ls__heap *heap) {
  free(heap->nodes);
  *heap = (struct ls__heap){0};
}

bool ls__heap_set(struct ls__heap *heap, struct ls__heap_node *node, int64_t at_ns) {
  if (node->place && node->at_ns == at_ns)
    return true;
  if (!node->place && heap->count == heap->capacity)
    return false;
  node->at_ns = at_ns;
  node->order = heap->inserted++;
  if (!node->place)
    place(heap, node, heap->count++);
  LS_ASSERT(heap->nodes[node->place - 1] == node);
  sift_up(heap, node->place - 1);
  sift_down(heap, node->place - 1);
  return true;
}

bool ls__heap_restore(struct ls__heap *heap, struct ls__heap_node *node) {
  LS_ASSERT(!node->place);
  if (heap->count == heap->capacity)
    return false;
  place(heap, node, heap->count++);
  sift_up(heap, node->place - 1);
  return true;
}

void ls__heap_remove(struct ls__heap *heap, struct ls__heap_node *node) {
  if (!node->place)
    return;
  uint32_t index = node->place - 1;
  LS_ASSERT(index < heap->count && heap->nodes[index] == node);
  node->place = 0;
  struct ls__heap_node *last = heap->nodes[--heap->count];
  if (last == node)
    return;
  place(heap, last, index);
  sift_up(heap, index);
  sift_down(heap, last->place - 1);
}
