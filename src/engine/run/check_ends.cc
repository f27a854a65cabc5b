#include "engine/run/check_ends.h"

namespace proa::engine {

Status check_ends(const Graph& graph, std::int64_t bucket, std::int64_t batch,
                  std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs) {
  if (inputs.size() != graph.inputs.size() || outputs.size() != graph.outputs.size()) {
    return error::invalid_argument("the model has {} inputs and {} outputs; {} and {} came",
                                   graph.inputs.size(), graph.outputs.size(), inputs.size(),
                                   outputs.size());
  }
  const auto wanted = [&](ValueId id) {
    const std::size_t full = graph.value(id).bytes();
    if (batch == bucket) return full;
    return full / static_cast<std::size_t>(bucket) * static_cast<std::size_t>(batch);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() == wanted(graph.inputs[i])) continue;
    return error::invalid_argument("input '{}': {} bytes wanted for {} rows, {} came",
                                   graph.value(graph.inputs[i]).name, wanted(graph.inputs[i]),
                                   batch, inputs[i].size());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].size() == wanted(graph.outputs[i])) continue;
    return error::invalid_argument("output '{}': room for {} bytes wanted, {} came",
                                   graph.value(graph.outputs[i]).name, wanted(graph.outputs[i]),
                                   outputs[i].size());
  }
  return {};
}

}  // namespace proa::engine
