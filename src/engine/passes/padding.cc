// Padding that the operator behind it can do by itself.
#include "engine/graph/infer.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

bool never_negative(const Activation& act) {
  switch (act.function) {
    case Function::kRelu:
    case Function::kSigmoid:
    case Function::kExp:
    case Function::kSqrt:
    case Function::kAbs:
      return true;
    case Function::kClamp:
      return act.low >= 0;
    default:
      return false;
  }
}

bool never_negative(const Graph& graph, const Uses& uses, ValueId id) {
  const int producer = uses.producer[static_cast<std::size_t>(id)];
  if (producer < 0) return false;
  const Op& op = graph.nodes[static_cast<std::size_t>(producer)].op;
  if (const auto* unary = std::get_if<Unary>(&op)) return never_negative(unary->act);
  if (const auto* conv = std::get_if<Conv>(&op)) return never_negative(conv->act);
  return false;
}

// Zeros around the pixels, nothing around the batch and the channels.
bool pads_pixels_with_zeros(const Pad& pad, const ImageAxes& axes) {
  return pad.value == 0 && pad.begin.size() == 4 && pad.begin[axes.n] == 0 &&
         pad.end[axes.n] == 0 && pad.begin[axes.c] == 0 && pad.end[axes.c] == 0;
}

void widen(const Pad& pad, const ImageAxes& axes, Dims& begin, Dims& end) {
  for (std::size_t d : {0u, 1u}) {
    begin[d] += pad.begin[axes.h + d];
    end[d] += pad.end[axes.h + d];
  }
}

// `op` reading what `pad` reads, or false when that would compute something else.
bool absorb(const Graph& graph, const Uses& uses, const Node& pad_node, Op& op) {
  const auto& pad = std::get<Pad>(pad_node.op);
  if (auto* conv = std::get_if<Conv>(&op)) {
    const ImageAxes axes = image_axes(conv->layout);
    if (!pads_pixels_with_zeros(pad, axes)) return false;
    widen(pad, axes, conv->pads_begin, conv->pads_end);
    return true;
  }
  auto* pool = std::get_if<Pool>(&op);
  if (pool == nullptr) return false;
  const ImageAxes axes = image_axes(pool->layout);
  const bool unpadded = pool->pads_begin == Dims{0, 0} && pool->pads_end == Dims{0, 0};
  if (!unpadded || !pads_pixels_with_zeros(pad, axes)) return false;
  for (std::size_t d : {0u, 1u}) {  // a window of nothing but padding
    const std::int64_t most = pool->kernel[d] - 1;
    if (pad.begin[axes.h + d] > most || pad.end[axes.h + d] > most) return false;
  }
  // A pool leaves its own padding out of a maximum: zeros do not matter where nothing is below.
  if (pool->kind == PoolKind::kMax && !never_negative(graph, uses, pad_node.inputs[0])) {
    return false;
  }
  pool->count_padding = pool->kind == PoolKind::kAverage;
  widen(pad, axes, pool->pads_begin, pool->pads_end);
  return true;
}

}  // namespace

Result<std::size_t> absorb_padding(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  const Uses uses(graph);
  for (Node& node : graph.nodes) {
    const ValueId x = node.input(0);
    const int producer = x == kNoValue ? -1 : uses.producer[static_cast<std::size_t>(x)];
    if (producer < 0) continue;
    const Node& above = graph.nodes[static_cast<std::size_t>(producer)];
    if (!std::holds_alternative<Pad>(above.op) || !absorb(graph, uses, above, node.op)) continue;
    node.inputs[0] = above.inputs[0];
    ++changes;
  }
  return changes;
}

}  // namespace proa::engine::passes
