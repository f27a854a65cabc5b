#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/op.h"
#include "tensor/buffer.h"
#include "tensor/shape.h"

namespace proa::engine {

struct TensorType;
using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

// A tensor of a graph: a graph input, a constant, or the output of one node.
struct Value {
  std::string name;
  DataType type = DataType::kFp32;
  Shape shape;
  std::optional<Buffer> constant;  // dense bytes of `type` and `shape`, shared and never written

  std::int64_t elements() const { return shape.element_count().value_or(0); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * element_size(type); }
};

// One operation. Absent optional inputs are kNoValue; trailing ones may be left out.
struct Node {
  Op op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId output() const { return outputs.front(); }
  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
};

// A network: values, and nodes in an order in which they can run. The engine's own form between
// the importer and the plan; passes rewrite it, text.h prints and reads it.
//
// Passes may edit `nodes` and `values` freely as long as verify() holds at the end. Values without
// a producer and a use are harmless; remove_dead() drops nodes whose outputs nobody reads.
// Threading: a plain value (constants are shared by reference).
struct Graph {
  std::string name = "graph";
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  const Value& value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<std::size_t>(id)]; }
  bool is_constant(ValueId id) const { return id != kNoValue && value(id).constant.has_value(); }
  bool is_input(ValueId id) const;
  bool is_output(ValueId id) const;

  ValueId add_value(std::string name, DataType type, Shape shape);
  ValueId add_input(std::string name, DataType type, Shape shape);
  // `bytes` must be dense for the type and shape.
  ValueId add_constant(std::string name, DataType type, Shape shape, Buffer bytes);
  // An FP32 constant.
  ValueId add_constant(std::string name, Shape shape, std::span<const float> numbers);

  // Appends (or inserts in front of nodes[at]) a node with one output called `name`, whose type
  // and shape are inferred. Errors: what infer() says.
  Result<ValueId> add_node(Op op, std::vector<ValueId> inputs, std::string name);
  Result<ValueId> insert_node(std::size_t at, Op op, std::vector<ValueId> inputs, std::string name);

  // Makes every reader of `from` (graph outputs too) read `to`.
  void replace_uses(ValueId from, ValueId to);
  // Drops nodes whose outputs nobody reads; returns how many.
  std::size_t remove_dead();
};

// Who makes and who reads each value, as of the moment it was built.
struct Uses {
  explicit Uses(const Graph& graph);
  std::vector<int> producer;              // node index by value, -1: input or constant
  std::vector<std::vector<int>> readers;  // node indices by value, once per reading input
  std::vector<bool> is_output;            // by value
  // The only node that reads `id`, or -1 (nobody, several, or the graph's outputs too).
  int sole_reader(ValueId id) const;
};

// What infer() wants to know of a node's inputs.
std::vector<TensorType> input_types(const Graph& graph, std::span<const ValueId> inputs);

// Checks the invariants: ids in range, producers before readers, one producer a value, types and
// shapes as infer() says. Errors: kInternal naming the node.
Status verify(const Graph& graph);

// The bytes of a constant as floats (FP32, FP16 and the integer types).
std::vector<float> constant_floats(const Value& value);

// Dense bytes of `type` for `numbers`, rounded to nearest; integers are clamped to their range.
Buffer pack_floats(DataType type, std::span<const float> numbers);
// The opposite; `count` elements of `type` at `bytes`.
std::vector<float> unpack_floats(DataType type, std::span<const std::byte> bytes,
                                 std::size_t count);

}  // namespace proa::engine
