#include "core/expiry_heap.h"

namespace proa::core {

void ExpiryHeap::insert(Expiring& item) {
  items_.push_back(&item);
  item.heap_index = items_.size() - 1;
  move_up(item.heap_index);
}

void ExpiryHeap::remove(Expiring& item) {
  const std::size_t at = item.heap_index;
  if (at == Expiring::kNotInHeap) return;
  item.heap_index = Expiring::kNotInHeap;
  Expiring& last = *items_.back();
  items_.pop_back();
  if (&last == &item) return;
  place(at, last);
  move_up(at);
  move_down(last.heap_index);
}

void ExpiryHeap::move_up(std::size_t at) {
  Expiring& item = *items_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (items_[parent]->expires <= item.expires) break;
    place(at, *items_[parent]);
    at = parent;
  }
  place(at, item);
}

void ExpiryHeap::move_down(std::size_t at) {
  Expiring& item = *items_[at];
  while (true) {
    std::size_t child = 2 * at + 1;
    if (child >= items_.size()) break;
    if (child + 1 < items_.size() && items_[child + 1]->expires < items_[child]->expires) ++child;
    if (item.expires <= items_[child]->expires) break;
    place(at, *items_[child]);
    at = child;
  }
  place(at, item);
}

}  // namespace proa::core
