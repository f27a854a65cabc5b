#include "backends/openvino/signature.h"

#include <algorithm>
#include <tuple>

#include "backends/openvino/convert.h"
#include "backends/openvino/number_limits.h"
#include "fmt/format.h"
#include "openvino/core/model.hpp"
#include "openvino/op/parameter.hpp"

namespace proa::backends::openvino {
namespace {

// The ONNX front end calls the result of tensor "y" "y/sink_port_0".
std::string_view without_sink(std::string_view name) { return name.substr(0, name.find("/sink_")); }

// The name of the tensor that feeds a result, for files whose tensors have no names.
std::string name_by_source(const ov::Output<ov::Node>& source) {
  std::string name = source.get_node()->get_friendly_name();
  if (source.get_node()->get_output_size() > 1) name += fmt::format(".{}", source.get_index());
  return name;
}

// The names of a port, the best for clients first: the one that the file uses for the input or
// output itself; for an input that is an output too, another one than the input's.
std::vector<std::string> names_of(const ov::Output<const ov::Node>& port, bool is_output) {
  const ov::Node* node = port.get_node();
  const auto& set = port.get_names();
  std::vector<std::string> names(set.begin(), set.end());
  if (names.empty()) {
    names.push_back(is_output ? name_by_source(node->input_value(0)) : node->get_friendly_name());
  }
  const std::string_view own = is_output ? without_sink(node->get_friendly_name())
                                         : std::string_view(node->get_friendly_name());
  std::string inputs_name;
  if (is_output && ov::is_type<ov::op::v0::Parameter>(node->input_value(0).get_node())) {
    inputs_name = node->input_value(0).get_node()->get_friendly_name();
  }
  std::ranges::sort(names, {}, [&](const std::string& name) {
    return std::tuple(name != own, name == inputs_name, name);
  });
  return names;
}

TensorSignature describe(const ov::Output<const ov::Node>& port, bool is_output) {
  TensorSignature tensor;
  tensor.other_names = names_of(port, is_output);
  tensor.name = std::move(tensor.other_names.front());
  tensor.other_names.erase(tensor.other_names.begin());
  tensor.type = from_ov_type(port.get_element_type());
  tensor.native_type = port.get_element_type().get_type_name();
  tensor.shape = from_ov_shape(port.get_partial_shape());
  return tensor;
}

int index_of_input(const ov::Model& model, const ov::Node* node) {
  const auto& parameters = model.get_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].get() == node) return static_cast<int>(i);
  }
  return -1;
}

std::string_view without_port_zero(std::string_view name) {
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

template <class Same>
int find_if_named(std::span<const TensorSignature> tensors, Same same) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (same(tensors[i].name) || std::ranges::any_of(tensors[i].other_names, same)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace

std::string TensorSignature::to_string() const {
  return fmt::format("{} {}",
                     type == DataType::kInvalid ? native_type : std::string(data_type_name(type)),
                     shape ? shape->to_string() : "[...]");
}

Signature read_signature(const ov::Model& model) {
  Signature signature;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    signature.inputs.push_back(describe(model.input(i), false));
    signature.inputs.back().narrowed = is_narrowed(model, i);
  }
  for (const auto& port : model.outputs()) {
    signature.outputs.push_back(describe(port, true));
    signature.outputs.back().copy_of_input =
        index_of_input(model, port.get_node()->input_value(0).get_node());
  }
  return signature;
}

int find_tensor(std::span<const TensorSignature> tensors, std::string_view name) {
  const int exact = find_if_named(tensors, [&](std::string_view other) { return other == name; });
  if (exact >= 0) return exact;
  return find_if_named(tensors, [&](std::string_view other) {
    return without_port_zero(other) == without_port_zero(name);
  });
}

std::string list_names(std::span<const TensorSignature> tensors) {
  std::string names;
  for (const TensorSignature& tensor : tensors) {
    if (!names.empty()) names += ", ";
    names += tensor.name;
  }
  return names;
}

}  // namespace proa::backends::openvino
