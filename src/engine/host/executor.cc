#include "engine/host/executor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "engine/passes/match.h"

namespace proa::engine {
namespace {

Status check_sizes(const Graph& graph, const std::vector<ValueId>& ids, auto spans,
                   std::string_view what) {
  if (spans.size() != ids.size()) {
    return error::invalid_argument("graph '{}' has {} {}s; {} came", graph.name, ids.size(), what,
                                   spans.size());
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Value& value = graph.value(ids[i]);
    if (spans[i].size() != value.bytes()) {
      return error::invalid_argument("{} '{}' is {}{}, {} bytes; {} bytes came", what, value.name,
                                     data_type_name(value.type), value.shape.to_string(),
                                     value.bytes(), spans[i].size());
    }
  }
  return {};
}

}  // namespace

HostExecutor::HostExecutor(const Plan& plan)
    : plan_(plan), arena_(plan.arena_bytes), constants_(plan.graph.values.size()) {
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const Value& value = plan.graph.values[i];
    if (value.constant) constants_[i] = {value.shape, constant_floats(value)};
  }
}

std::span<std::byte> HostExecutor::bytes_of(ValueId id,
                                            std::span<const std::span<std::byte>> outputs) {
  const Storage& storage = plan_.storage_of(id);
  if (storage.place == Storage::Place::kOutput) return outputs[storage.index];
  PROA_CHECK(storage.place == Storage::Place::kArena, "only arena and outputs are written");
  return std::span(arena_).subspan(storage.offset, plan_.graph.value(id).bytes());
}

std::span<const std::byte> HostExecutor::read_bytes(
    ValueId id, std::span<const std::span<const std::byte>> inputs,
    std::span<const std::span<std::byte>> outputs) {
  const Storage& storage = plan_.storage_of(id);
  if (storage.place == Storage::Place::kConstant) {
    return plan_.graph.values[storage.index].constant->bytes();
  }
  if (storage.place == Storage::Place::kInput) return inputs[storage.index];
  return bytes_of(id, outputs);
}

HostTensor HostExecutor::read(ValueId id, std::span<const std::span<const std::byte>> inputs,
                              std::span<const std::span<std::byte>> outputs) {
  const Value& value = plan_.graph.value(id);
  const Storage& storage = plan_.storage_of(id);
  const auto count = static_cast<std::size_t>(value.elements());
  if (storage.place == Storage::Place::kConstant) {
    // A reshape of a constant shares its numbers under its own shape.
    return {value.shape, constants_[storage.index].data};
  }
  return {value.shape, unpack_floats(value.type, read_bytes(id, inputs, outputs), count)};
}

Status HostExecutor::run(std::span<const std::span<const std::byte>> inputs,
                         std::span<const std::span<std::byte>> outputs) {
  PROA_TRY(check_sizes(plan_.graph, plan_.graph.inputs, inputs, "input"));
  PROA_TRY(check_sizes(plan_.graph, plan_.graph.outputs, outputs, "output"));
  std::ranges::fill(arena_, std::byte{0xff});  // NaN: what nobody wrote shows in the answer
  for (const Step& step : plan_.steps) {
    if (is_copy(plan_.graph, step.node)) {
      std::ranges::copy(read_bytes(step.node.input(0), inputs, outputs),
                        bytes_of(step.node.output(), outputs).begin());
      continue;
    }
    std::vector<HostTensor> tensors(step.node.inputs.size());
    std::vector<const HostTensor*> pointers(step.node.inputs.size(), nullptr);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (step.node.inputs[i] == kNoValue) continue;
      tensors[i] = read(step.node.inputs[i], inputs, outputs);
      pointers[i] = &tensors[i];
    }
    const ValueId output = step.node.output();
    const Value& value = plan_.graph.value(output);
    const HostTensor result = run_reference(step.node.op, pointers, value.shape);
    const Buffer packed = pack_floats(value.type, result.data);
    std::memcpy(bytes_of(output, outputs).data(), packed.data(), packed.size());
  }
  return {};
}

}  // namespace proa::engine
