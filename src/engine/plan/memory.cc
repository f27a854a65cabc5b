#include "engine/plan/memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace proa::engine {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool together(const MemoryRequest& a, const MemoryRequest& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

struct Placed {
  std::size_t begin, end;
  std::size_t request;
};

// The tightest gap between the buffers that live at the same time; `placed` is sorted by begin.
std::size_t find_offset(std::span<const MemoryRequest> requests, const std::vector<Placed>& placed,
                        const MemoryRequest& request) {
  const std::size_t bytes = aligned(request.bytes);
  std::size_t free_from = 0;
  std::size_t best = 0;
  std::size_t best_gap = std::numeric_limits<std::size_t>::max();
  for (const Placed& other : placed) {
    if (!together(requests[other.request], request)) continue;
    if (other.begin > free_from) {
      const std::size_t gap = other.begin - free_from;
      if (gap >= bytes && gap < best_gap) {
        best = free_from;
        best_gap = gap;
      }
    }
    free_from = std::max(free_from, other.end);
  }
  return best_gap == std::numeric_limits<std::size_t>::max() ? free_from : best;
}

}  // namespace

MemoryLayout plan_memory(std::span<const MemoryRequest> requests) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::size_t i) { return requests[i].bytes; });
  MemoryLayout layout{std::vector<std::size_t>(requests.size()), 0};
  std::vector<Placed> placed;
  for (std::size_t i : order) {
    const std::size_t offset = find_offset(requests, placed, requests[i]);
    const Placed block{offset, offset + aligned(requests[i].bytes), i};
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Placed::begin), block);
    layout.offsets[i] = offset;
    layout.arena_bytes = std::max(layout.arena_bytes, block.end);
  }
  return layout;
}

std::size_t least_arena_bytes(std::span<const MemoryRequest> requests) {
  std::size_t most = 0;
  for (const MemoryRequest& at : requests) {  // a maximum is reached where some buffer begins
    std::size_t sum = 0;
    for (const MemoryRequest& other : requests) {
      const bool live = other.first_step <= at.first_step && at.first_step <= other.last_step;
      if (live) sum += aligned(other.bytes);
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace proa::engine
