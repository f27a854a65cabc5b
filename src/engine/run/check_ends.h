#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "engine/graph/graph.h"

namespace proa::engine {

// Whether memory is as large as `batch` rows of the graph's inputs and outputs, whose first extents
// are `bucket`. A graph that does not batch is always full: batch == bucket.
// Errors: kInvalidArgument with what was wanted.
Status check_ends(const Graph& graph, std::int64_t bucket, std::int64_t batch,
                  std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs);

}  // namespace proa::engine
