// NHWC: convolutions, pools and local normalisations are turned between transposes, which then move
// down the graph until they cancel.
#include <algorithm>

#include "engine/graph/infer.h"
#include "engine/host/reference.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

const Dims kToNhwc = {0, 2, 3, 1};
const Dims kToNchw = {0, 3, 1, 2};

Layout* image_layout(Op& op) {
  if (auto* conv = std::get_if<Conv>(&op)) return &conv->layout;
  if (auto* pool = std::get_if<Pool>(&op)) return &pool->layout;
  if (auto* lrn = std::get_if<Lrn>(&op)) return &lrn->layout;
  return nullptr;
}

// Puts nodes[at], an operator with a layout that is NCHW, between transposes; returns how many
// nodes it added in front.
Result<std::size_t> turn(Graph& graph, std::size_t at) {
  Node node = graph.nodes[at];
  *image_layout(node.op) = Layout::kNhwc;
  std::size_t added = 0;
  for (std::size_t i : {0u, 1u, 3u}) {  // picture, weights, residual; a bias has one dimension
    if (node.input(i) == kNoValue) continue;
    PROA_ASSIGN(node.inputs[i], graph.insert_node(at + added, Transpose{kToNhwc}, {node.inputs[i]},
                                                  graph.value(node.inputs[i]).name + ".nhwc"));
    ++added;
  }
  // The turned node gets a value of its own; a transpose gives the old value.
  const std::string name = graph.value(node.output()).name;
  const std::vector<ValueId> old_outputs = node.outputs;
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at + added));
  PROA_ASSIGN(const ValueId turned, graph.insert_node(at + added, node.op, node.inputs, name));
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at + added + 1),
                     Node{Transpose{kToNchw}, {turned}, old_outputs});
  return added;
}

// The rules below look at the node at one position and return true when they rewrote something.
struct Sinker {
  Graph& graph;
  Uses uses;

  const Transpose* transpose_of(ValueId id) const {
    if (id == kNoValue) return nullptr;
    const int producer = uses.producer[static_cast<std::size_t>(id)];
    return producer < 0
               ? nullptr
               : std::get_if<Transpose>(&graph.nodes[static_cast<std::size_t>(producer)].op);
  }
  ValueId source_of(ValueId transposed) const {
    return graph
        .nodes[static_cast<std::size_t>(uses.producer[static_cast<std::size_t>(transposed)])]
        .inputs[0];
  }

  // op(inputs) then a transpose by `order` into the old output, in the place of nodes[at].
  Result<bool> replace(std::size_t at, Op op, std::vector<ValueId> inputs, const Dims& order) {
    const Node old = graph.nodes[at];
    const std::string name = graph.value(old.output()).name;
    PROA_ASSIGN(const ValueId fresh, graph.insert_node(at, std::move(op), std::move(inputs), name));
    Node& last = graph.nodes[at + 1];
    if (is_identity_order(order)) {
      last = Node{Reshape{Dims(graph.value(fresh).shape.begin(), graph.value(fresh).shape.end())},
                  {fresh},
                  old.outputs};
    } else {
      last = Node{Transpose{order}, {fresh}, old.outputs};
    }
    return true;
  }

  // A transpose of a transpose is one; one that moves only extents of 1 is a reshape.
  Result<bool> merge(std::size_t at) {
    Node& node = graph.nodes[at];
    auto* outer = std::get_if<Transpose>(&node.op);
    if (outer == nullptr) return false;
    if (const Transpose* inner = transpose_of(node.inputs[0])) {
      const Dims order = compose(inner->order, outer->order);
      node.inputs[0] = source_of(node.inputs[0]);
      outer->order = order;
      if (is_identity_order(order) && !graph.is_output(node.output())) {
        graph.replace_uses(node.output(), node.inputs[0]);
      }
      return true;
    }
    const Shape& shape = graph.value(node.inputs[0]).shape;
    Dims moved = outer->order;
    std::erase_if(moved, [&](auto axis) { return shape[static_cast<std::size_t>(axis)] == 1; });
    if (!std::ranges::is_sorted(moved)) return false;
    const Shape& out = graph.value(node.output()).shape;
    node.op = Reshape{Dims(out.begin(), out.end())};
    return true;
  }

  // One input, same shape out.
  Result<bool> through_unary(std::size_t at) {
    const Node node = graph.nodes[at];
    const Transpose* inner = transpose_of(node.input(0));
    if (inner == nullptr) return false;
    const Dims order = inner->order;
    const ValueId source = source_of(node.inputs[0]);
    if (std::holds_alternative<Unary>(node.op) || std::holds_alternative<Convert>(node.op)) {
      return replace(at, node.op, {source}, order);
    }
    if (const auto* softmax = std::get_if<Softmax>(&node.op);
        softmax != nullptr && softmax->axis >= 0) {
      return replace(at, Softmax{order[static_cast<std::size_t>(softmax->axis)]}, {source}, order);
    }
    if (const auto* pad = std::get_if<Pad>(&node.op)) {
      Pad moved = *pad;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto axis = static_cast<std::size_t>(order[i]);
        moved.begin[axis] = pad->begin[i];
        moved.end[axis] = pad->end[i];
      }
      return replace(at, std::move(moved), {source}, order);
    }
    if (const auto* reduce = std::get_if<Reduce>(&node.op)) {
      return through_reduce(at, *reduce, source, order);
    }
    return false;
  }

  Result<bool> through_reduce(std::size_t at, Reduce reduce, ValueId source, const Dims& order) {
    Dims kept;  // the axes of the source that stay, in the order of the result
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      if (std::ranges::find(reduce.axes, axis) == reduce.axes.end()) kept.push_back(order[i]);
    }
    for (std::int64_t& axis : reduce.axes) axis = order[static_cast<std::size_t>(axis)];
    std::ranges::sort(reduce.axes);
    if (reduce.keep_dims) return replace(at, reduce, {source}, order);
    Dims sorted = kept;
    std::ranges::sort(sorted);
    for (std::int64_t& axis : kept) axis = std::ranges::find(sorted, axis) - sorted.begin();
    return replace(at, reduce, {source}, kept);
  }

  Result<bool> through_binary(std::size_t at) {
    const Node node = graph.nodes[at];
    if (!std::holds_alternative<Binary>(node.op)) return false;
    const Transpose* left = transpose_of(node.inputs[0]);
    const Transpose* right = transpose_of(node.inputs[1]);
    if (left != nullptr && right != nullptr) {
      if (left->order != right->order ||
          graph.value(node.inputs[0]).shape.rank() != graph.value(node.inputs[1]).shape.rank()) {
        return false;
      }
      const Dims order = left->order;
      return replace(at, node.op, {source_of(node.inputs[0]), source_of(node.inputs[1])}, order);
    }
    const Transpose* one = left != nullptr ? left : right;
    const std::size_t side = left != nullptr ? 0 : 1;
    if (one == nullptr || !graph.is_constant(node.inputs[1 - side])) return false;
    const Dims order = one->order;
    if (graph.value(node.inputs[1 - side]).shape.rank() > order.size()) return false;
    std::vector<ValueId> inputs(2);
    inputs[side] = source_of(node.inputs[side]);
    inputs[1 - side] = turned_constant(node.inputs[1 - side], order);
    return replace(at, node.op, std::move(inputs), order);
  }

  // The constant as it must stand before a transpose by `order`.
  ValueId turned_constant(ValueId id, const Dims& order) {
    const Value value = graph.value(id);
    HostTensor tensor{value.shape, constant_floats(value)};
    while (tensor.shape.rank() < order.size()) tensor.shape = tensor.shape.with_first(1);
    const HostTensor turned = host::transpose(inverse(order), tensor);
    return graph.add_constant(value.name + ".turned", value.type, turned.shape,
                              pack_floats(value.type, turned.data));
  }

  Result<bool> through_concat(std::size_t at) {
    const Node node = graph.nodes[at];
    const auto* concat = std::get_if<Concat>(&node.op);
    const Transpose* first = concat == nullptr ? nullptr : transpose_of(node.inputs[0]);
    if (first == nullptr) return false;
    std::vector<ValueId> sources;
    for (ValueId id : node.inputs) {
      const Transpose* each = transpose_of(id);
      if (each == nullptr || each->order != first->order) return false;
      sources.push_back(source_of(id));
    }
    const Dims order = first->order;
    return replace(at, Concat{order[static_cast<std::size_t>(concat->axis)]}, sources, order);
  }
};

Result<bool> sink_one(Graph& graph, std::size_t at) {
  using Rule = Result<bool> (Sinker::*)(std::size_t);
  constexpr Rule kRules[] = {&Sinker::merge, &Sinker::through_unary, &Sinker::through_binary,
                             &Sinker::through_concat};
  Sinker sinker{graph, Uses(graph)};
  for (Rule rule : kRules) {
    PROA_ASSIGN(const bool changed, (sinker.*rule)(at));
    if (changed) return true;
  }
  return false;
}

}  // namespace

Result<std::size_t> channels_last(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Layout* layout = image_layout(graph.nodes[i].op);
    if (layout == nullptr || *layout == Layout::kNhwc) continue;
    PROA_ASSIGN(const std::size_t added, turn(graph, i));
    i += added;
    ++changes;
  }
  return changes;
}

Result<std::size_t> sink_transposes(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  // Top to bottom: a rewrite leaves its transpose one place lower, where the next node meets it.
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    PROA_ASSIGN(const bool changed, sink_one(graph, i));
    if (!changed) continue;
    ++changes;
    --i;  // the same place may match again
  }
  return changes;
}

}  // namespace proa::engine::passes
