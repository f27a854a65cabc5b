#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace proa::engine {

// A buffer that is needed from the step that writes it to the last step that reads it, both
// included.
struct MemoryRequest {
  std::size_t bytes = 0;
  int first_step = 0;
  int last_step = 0;
};

struct MemoryLayout {
  std::vector<std::size_t> offsets;  // one for each request
  std::size_t arena_bytes = 0;
};

inline constexpr std::size_t kArenaAlignment = 256;

// Places buffers in one arena so that those needed at the same time never overlap. Largest first,
// each in the tightest gap that its lifetime leaves free. Offsets are multiples of kArenaAlignment.
// Source: "greedy by size", Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020.
MemoryLayout plan_memory(std::span<const MemoryRequest> requests);

// What no layout can go below: the largest sum of buffers needed at one step.
std::size_t least_arena_bytes(std::span<const MemoryRequest> requests);

}  // namespace proa::engine
