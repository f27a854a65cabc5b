#include "engine/graph/graph.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "engine/graph/infer.h"

namespace proa::engine {
namespace {

Error bad_node(const Graph& graph, const Node& node, std::string_view what) {
  const std::string name = node.outputs.empty() ? "?" : graph.value(node.output()).name;
  return error::internal("graph '{}', node '{}' ({}): {}", graph.name, name, op_name(node.op),
                         what);
}

Status verify_node(const Graph& graph, const Node& node, std::vector<bool>& known) {
  for (ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    if (id < 0 || static_cast<std::size_t>(id) >= graph.values.size()) {
      return bad_node(graph, node, "an input id is out of range");
    }
    if (!known[static_cast<std::size_t>(id)]) {
      return bad_node(graph, node,
                      fmt::format("reads '{}' before it is made", graph.value(id).name));
    }
  }
  auto types = infer(node.op, input_types(graph, node.inputs));
  if (!types) return bad_node(graph, node, types.error().message);
  if (types->size() != node.outputs.size()) return bad_node(graph, node, "wrong output count");
  for (std::size_t i = 0; i < types->size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    if (value.type != (*types)[i].type || value.shape != (*types)[i].shape) {
      return bad_node(graph, node,
                      fmt::format("is {}{} but computes {}{}", data_type_name(value.type),
                                  value.shape.to_string(), data_type_name((*types)[i].type),
                                  (*types)[i].shape.to_string()));
    }
    if (known[static_cast<std::size_t>(node.outputs[i])]) {
      return bad_node(graph, node, "its output has another producer");
    }
    known[static_cast<std::size_t>(node.outputs[i])] = true;
  }
  return {};
}

}  // namespace

std::vector<TensorType> input_types(const Graph& graph, std::span<const ValueId> inputs) {
  std::vector<TensorType> types;
  for (ValueId id : inputs) {
    if (id == kNoValue) {
      types.emplace_back();
    } else {
      types.push_back({graph.value(id).type, graph.value(id).shape});
    }
  }
  return types;
}

bool Graph::is_input(ValueId id) const { return std::ranges::find(inputs, id) != inputs.end(); }
bool Graph::is_output(ValueId id) const { return std::ranges::find(outputs, id) != outputs.end(); }

ValueId Graph::add_value(std::string value_name, DataType type, Shape shape) {
  values.push_back(Value{std::move(value_name), type, std::move(shape), std::nullopt});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_input(std::string value_name, DataType type, Shape shape) {
  inputs.push_back(add_value(std::move(value_name), type, std::move(shape)));
  return inputs.back();
}

ValueId Graph::add_constant(std::string value_name, DataType type, Shape shape, Buffer bytes) {
  const ValueId id = add_value(std::move(value_name), type, std::move(shape));
  PROA_CHECK(bytes.size() == value(id).bytes(), "constant bytes must be dense");
  value(id).constant = std::move(bytes);
  return id;
}

ValueId Graph::add_constant(std::string value_name, Shape shape, std::span<const float> numbers) {
  return add_constant(std::move(value_name), DataType::kFp32, std::move(shape),
                      pack_floats(DataType::kFp32, numbers));
}

Result<ValueId> Graph::add_node(Op op, std::vector<ValueId> node_inputs, std::string node_name) {
  return insert_node(nodes.size(), std::move(op), std::move(node_inputs), std::move(node_name));
}

Result<ValueId> Graph::insert_node(std::size_t at, Op op, std::vector<ValueId> node_inputs,
                                   std::string node_name) {
  auto types = infer(op, input_types(*this, node_inputs));
  if (!types) return with_context(node_name, std::move(types).error());
  Node node{std::move(op), std::move(node_inputs), {}};
  for (TensorType& type : *types) {
    node.outputs.push_back(add_value(node_name, type.type, std::move(type.shape)));
  }
  const ValueId first = node.output();
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(node));
  return first;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes) std::ranges::replace(node.inputs, from, to);
  std::ranges::replace(outputs, from, to);
}

std::size_t Graph::remove_dead() {
  std::vector<bool> wanted(values.size());
  for (ValueId id : outputs) wanted[static_cast<std::size_t>(id)] = true;
  std::vector<bool> keep(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    keep[i] = std::ranges::any_of(
        nodes[i].outputs, [&](ValueId id) { return bool{wanted[static_cast<std::size_t>(id)]}; });
    if (!keep[i]) continue;
    for (ValueId id : nodes[i].inputs) {
      if (id != kNoValue) wanted[static_cast<std::size_t>(id)] = true;
    }
  }
  std::size_t index = 0;
  return std::erase_if(nodes, [&](const Node&) { return !keep[index++]; });
}

Uses::Uses(const Graph& graph)
    : producer(graph.values.size(), -1),
      readers(graph.values.size()),
      is_output(graph.values.size()) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].outputs) {
      producer[static_cast<std::size_t>(id)] = static_cast<int>(i);
    }
    for (ValueId id : graph.nodes[i].inputs) {
      if (id != kNoValue) readers[static_cast<std::size_t>(id)].push_back(static_cast<int>(i));
    }
  }
  for (ValueId id : graph.outputs) is_output[static_cast<std::size_t>(id)] = true;
}

int Uses::sole_reader(ValueId id) const {
  const auto index = static_cast<std::size_t>(id);
  return readers[index].size() == 1 && !is_output[index] ? readers[index].front() : -1;
}

Status verify(const Graph& graph) {
  std::vector<bool> known(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    known[i] = graph.values[i].constant.has_value();
  }
  for (ValueId id : graph.inputs) known[static_cast<std::size_t>(id)] = true;
  for (const Node& node : graph.nodes) PROA_TRY(verify_node(graph, node, known));
  for (ValueId id : graph.outputs) {
    if (!known[static_cast<std::size_t>(id)]) {
      return error::internal("graph '{}': nothing makes output '{}'", graph.name,
                             graph.value(id).name);
    }
  }
  return {};
}

}  // namespace proa::engine
