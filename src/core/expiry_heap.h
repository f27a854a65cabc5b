#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace proa::core {

// Something that ends at a certain time; its place in an ExpiryHeap is kept inside it.
struct Expiring {
  static constexpr std::size_t kNotInHeap = SIZE_MAX;
  TimePoint expires = kNever;
  std::size_t heap_index = kNotInHeap;
};

// The Expiring that ends first, with removal of any: a binary heap of pointers. Items must stay
// where they are, and keep `expires`, while they are in it.
// Threading: needs its owner's mutex.
class ExpiryHeap {
 public:
  bool empty() const { return items_.empty(); }
  Expiring& first() const { return *items_.front(); }

  void insert(Expiring& item);
  // Nothing happens when it is not in the heap.
  void remove(Expiring& item);

 private:
  void place(std::size_t at, Expiring& item) {
    items_[at] = &item;
    item.heap_index = at;
  }
  void move_up(std::size_t at);
  void move_down(std::size_t at);

  std::vector<Expiring*> items_;
};

}  // namespace proa::core
