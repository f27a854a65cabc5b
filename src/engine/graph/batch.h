#pragma once

#include <optional>
#include <string>

#include "engine/graph/graph.h"

namespace proa::engine {

// Whether the rows of a batch can be computed side by side: every graph input has the batch as its
// first dimension, and no operator mixes rows. Only then may requests be put together and padded.

// Why not, naming the node; nothing when they can.
std::optional<std::string> batch_obstacle(const Graph& graph);

// The graph for another batch size; constants are shared. Errors: kInvalidArgument with the
// obstacle, or when `batch` < 1.
Result<Graph> with_batch(const Graph& graph, std::int64_t batch);

// The graph as it is when its inputs have `batch` rows already, else with_batch(): what a bucket
// wants, also of graphs that do not batch.
Result<Graph> sized_for(const Graph& graph, std::int64_t batch);

}  // namespace proa::engine
