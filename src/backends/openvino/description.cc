#include "backends/openvino/description.h"

#include <memory>

#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "backends/openvino/model_reader.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convolution.hpp"
#include "openvino/op/group_conv.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace proa::backends::openvino {
namespace {

// Numbers that training made: no indexes, shapes or flags.
bool is_weight(const ov::op::v0::Constant& constant) {
  const ov::element::Type type = constant.get_element_type();
  return type.is_real() || type.bitwidth() <= 8;
}

void count_operations(const ov::Model& model, ModelDescription& description) {
  for (const auto& node : model.get_ordered_ops()) {
    if (const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node)) {
      if (!is_weight(*constant)) continue;
      description.parameters += static_cast<std::int64_t>(ov::shape_size(constant->get_shape()));
      description.weight_bytes += static_cast<std::int64_t>(constant->get_byte_size());
    } else if (!ov::is_type<ov::op::v0::Parameter>(node) &&
               !ov::is_type<ov::op::v0::Result>(node)) {
      ++description.operations[node->get_type_name()];
    }
  }
}

// How many products make one element of the node's output; 0 for nodes that multiply nothing much.
std::optional<std::int64_t> products_per_element(const ov::Node& node) {
  if (ov::is_type<ov::op::v0::MatMul>(&node)) {
    const auto& product = static_cast<const ov::op::v0::MatMul&>(node);
    const auto shape = node.get_input_partial_shape(0);
    if (shape.rank().is_dynamic()) return std::nullopt;
    const std::int64_t rank = shape.rank().get_length();
    const auto inner = shape[rank < 2 ? rank - 1 : rank - (product.get_transpose_a() ? 2 : 1)];
    if (inner.is_dynamic()) return std::nullopt;
    return inner.get_length();
  }
  const bool grouped = ov::is_type<ov::op::v1::GroupConvolution>(&node);
  if (!grouped && !ov::is_type<ov::op::v1::Convolution>(&node)) return 0;
  // Weights [out, in, kernel...], or [groups, out, in, kernel...].
  const auto weights = node.get_input_partial_shape(1);
  if (weights.is_dynamic()) return std::nullopt;
  const ov::Shape shape = weights.to_shape();
  std::int64_t products = 1;
  for (std::size_t i = grouped ? 2 : 1; i < shape.size(); ++i) {
    products *= static_cast<std::int64_t>(shape[i]);
  }
  return products;
}

std::optional<std::int64_t> count_multiply_adds(const ov::Model& model) {
  std::int64_t sum = 0;
  for (const auto& node : model.get_ordered_ops()) {
    const auto products = products_per_element(*node);
    if (!products) return std::nullopt;
    if (*products == 0) continue;
    if (node->get_output_partial_shape(0).is_dynamic()) return std::nullopt;
    sum += *products * static_cast<std::int64_t>(ov::shape_size(node->get_output_shape(0)));
  }
  return sum;
}

// Sets an open first extent of every input to 1.
void set_batch_of_one(ov::Model& model) {
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const auto& input : model.inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_static() && shape.rank().get_length() > 0 && shape[0].is_dynamic()) {
      shape[0] = 1;
    }
    shapes.emplace(input, shape);
  }
  model.reshape(shapes);
}

}  // namespace

Result<ModelDescription> describe_model(const std::filesystem::path& path) {
  PROA_ASSIGN(const ModelFile file, find_model_file(path));
  PROA_ASSIGN(const auto model, read_model(file));
  ModelDescription description;
  description.format = model_format_name(file.format);
  description.signature = read_signature(*model);
  count_operations(*model, description);
  // A model whose shapes cannot be worked out is still worth describing.
  (void)guarded(ErrorCode::kInternal, "shapes", [&] {
    set_batch_of_one(*model);
    description.multiply_adds = count_multiply_adds(*model);
  });
  return description;
}

}  // namespace proa::backends::openvino
