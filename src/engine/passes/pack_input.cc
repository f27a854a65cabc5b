// The first convolution of a picture network: what stands between the graph's input and it becomes
// one Pack (layout, normalisation, padding of the channels), and its weights get zeros beside them.
#include <algorithm>

#include "engine/graph/infer.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

constexpr std::int64_t kPackedChannels =
    4;  // 8 bytes a pixel in FP16; the libraries' stems want it

// What lies above the convolution, walked upwards: picture = scale * source + shift.
struct Chain {
  ValueId source = kNoValue;
  Layout layout = Layout::kNhwc;
  std::vector<float> scale, shift;

  bool scales() const {
    return std::ranges::any_of(scale, [](float s) { return s != 1.0f; });
  }
  bool shifts() const {
    return std::ranges::any_of(shift, [](float s) { return s != 0.0f; });
  }
};

// Takes `binary` on top of what the chain has. False: it is not a scale or shift per channel.
bool absorb_binary(const Graph& graph, const Node& node, Chain& chain) {
  const auto& binary = std::get<Binary>(node.op);
  if (!is_identity(binary.act)) return false;
  const std::size_t side = graph.is_constant(node.inputs[1]) ? 0 : 1;
  const Shape& shape = graph.value(node.output()).shape;
  if (graph.value(node.inputs[side]).shape != shape) return false;
  const std::size_t axis = image_axes(chain.layout).c;
  const auto other = per_channel(graph, node.inputs[1 - side], shape.rank(), axis, shape[axis]);
  if (!other) return false;
  for (std::size_t c = 0; c < other->size(); ++c) {
    const float number = (*other)[c];
    switch (binary.kind) {
      case BinaryKind::kAdd:
        chain.shift[c] += chain.scale[c] * number;
        break;
      case BinaryKind::kMultiply:
        chain.scale[c] *= number;
        break;
      case BinaryKind::kSubtract:
        chain.shift[c] += (side == 0 ? -1.0f : 1.0f) * chain.scale[c] * number;
        if (side == 1) chain.scale[c] = -chain.scale[c];
        break;
      case BinaryKind::kDivide:
        if (side == 1) return false;
        chain.scale[c] /= number;
        break;
      default:
        return false;
    }
  }
  chain.source = node.inputs[side];
  return true;
}

// One step up. False: the node above is not part of the chain.
bool step_up(const Graph& graph, const Uses& uses, Chain& chain) {
  const int producer = uses.producer[static_cast<std::size_t>(chain.source)];
  if (producer < 0) return false;
  const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
  if (const auto* transpose = std::get_if<Transpose>(&node.op)) {
    if (chain.layout != Layout::kNhwc || transpose->order != Dims{0, 2, 3, 1}) return false;
    chain.layout = Layout::kNchw;
    chain.source = node.inputs[0];
    return true;
  }
  if (const auto* convert = std::get_if<Convert>(&node.op)) {
    // Other converts round.
    if (convert->type != DataType::kFp32) return false;
    chain.source = node.inputs[0];
    return true;
  }
  Chain next = chain;
  if (!std::holds_alternative<Binary>(node.op) || !absorb_binary(graph, node, next)) return false;
  chain = std::move(next);
  return true;
}

// Weights [K, R, S, C] with zeros for the added channels.
std::vector<float> widened(const Value& weight, std::int64_t channels) {
  const std::vector<float> numbers = constant_floats(weight);
  const auto from = static_cast<std::size_t>(weight.shape[3]);
  const auto to = static_cast<std::size_t>(channels);
  std::vector<float> wide(numbers.size() / from * to, 0.0f);
  for (std::size_t i = 0; i < numbers.size(); ++i) wide[i / from * to + i % from] = numbers[i];
  return wide;
}

bool is_stem(const Graph& graph, const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return conv != nullptr && conv->layout == Layout::kNhwc && conv->groups == 1 &&
         graph.value(node.inputs[0]).shape[3] < kPackedChannels &&
         graph.is_constant(node.inputs[1]) && graph.value(node.inputs[1]).type == DataType::kFp32;
}

Status pack_stem(Graph& graph, std::size_t at) {
  const Node node = graph.nodes[at];
  const auto channels = static_cast<std::size_t>(graph.value(node.inputs[0]).shape[3]);
  Chain chain{node.inputs[0], Layout::kNhwc, std::vector<float>(channels, 1.0f),
              std::vector<float>(channels, 0.0f)};
  const Uses uses(graph);
  while (step_up(graph, uses, chain)) {
  }
  const std::string name = graph.value(node.inputs[0]).name;
  std::vector<ValueId> inputs = {chain.source, kNoValue, kNoValue};
  const Shape vector{static_cast<std::int64_t>(channels)};
  if (chain.scales()) inputs[1] = graph.add_constant(name + ".scale", vector, chain.scale);
  if (chain.shifts()) inputs[2] = graph.add_constant(name + ".shift", vector, chain.shift);
  while (inputs.back() == kNoValue) inputs.pop_back();
  const Pack pack{chain.layout, kPackedChannels, DataType::kFp32};
  PROA_ASSIGN(const ValueId packed, graph.insert_node(at, pack, inputs, name + ".packed"));
  const Value weight = graph.value(node.inputs[1]);
  Shape wide = weight.shape;
  wide[3] = kPackedChannels;
  Node& stem = graph.nodes[at + 1];
  stem.inputs[0] = packed;
  stem.inputs[1] =
      graph.add_constant(weight.name + ".wide", wide, widened(weight, kPackedChannels));
  return {};
}

// A stem that the fused kernel knows: 7x7 by 2 over 4 packed channels to 64, then 3x3 by 2, FP16.
bool is_known_stem(const Graph& graph, const Conv& conv, const Pool& pool, ValueId weight) {
  const Stem known;
  const Activation& act = conv.act;
  return conv.strides == known.strides && conv.pads_begin == known.pads_begin &&
         conv.pads_end == known.pads_end && conv.dilations == Dims{1, 1} && conv.groups == 1 &&
         (is_identity(act) || act.function == Function::kRelu) && pool.kind == PoolKind::kMax &&
         pool.kernel == known.pool_kernel && pool.strides == known.pool_strides &&
         pool.pads_begin == known.pool_pads_begin && graph.is_constant(weight) &&
         graph.value(weight).type == DataType::kFp16 &&
         graph.value(weight).shape == Shape{64, 7, 7, kPackedChannels};
}

// The node that alone feeds `id` and is a T, or null.
template <class T>
const Node* sole_producer(const Graph& graph, const Uses& uses, ValueId id, std::size_t reader) {
  const int producer = uses.producer[static_cast<std::size_t>(id)];
  if (producer < 0 || uses.sole_reader(id) != static_cast<int>(reader)) return nullptr;
  const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
  return std::holds_alternative<T>(node.op) ? &node : nullptr;
}

}  // namespace

Result<std::size_t> fuse_stem(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  const Uses uses(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* pool = std::get_if<Pool>(&graph.nodes[i].op);
    if (pool == nullptr) continue;
    const Node* conv = sole_producer<Conv>(graph, uses, graph.nodes[i].inputs[0], i);
    if (conv == nullptr || has_residual(*conv) || !graph.is_constant(conv->input(2))) continue;
    const auto at = static_cast<std::size_t>(conv - graph.nodes.data());
    const Node* pack = sole_producer<Pack>(graph, uses, conv->inputs[0], at);
    const auto& conv_op = std::get<Conv>(conv->op);
    if (pack == nullptr || !is_known_stem(graph, conv_op, *pool, conv->inputs[1])) continue;
    Stem stem;
    stem.layout = std::get<Pack>(pack->op).layout;
    stem.act = conv_op.act;
    stem.pool_pads_end = pool->pads_end;
    std::vector<ValueId> inputs = {pack->inputs[0], conv->inputs[1], conv->inputs[2]};
    inputs.insert(inputs.end(), pack->inputs.begin() + 1, pack->inputs.end());
    graph.nodes[i] = Node{stem, std::move(inputs), graph.nodes[i].outputs};
    ++changes;
  }
  return changes;
}

Result<std::size_t> pack_input(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_stem(graph, graph.nodes[i])) continue;
    PROA_TRY(pack_stem(graph, i));
    ++i;
    ++changes;
  }
  return changes;
}

}  // namespace proa::engine::passes
