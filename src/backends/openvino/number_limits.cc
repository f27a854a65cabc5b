#include "backends/openvino/number_limits.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "fmt/format.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/non_zero.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/shape_of.hpp"
#include "openvino/op/squeeze.hpp"
#include "openvino/op/transpose.hpp"
#include "openvino/op/unsqueeze.hpp"
#include "openvino/op/util/topk_base.hpp"

namespace proa::backends::openvino {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int32_t>::max();
constexpr double kHighestFloat = std::numeric_limits<float>::max();
constexpr std::int64_t kToTheEnd = std::int64_t{1} << 62;

bool fits(std::int64_t value) { return value >= kLowest && value <= kHighest; }
bool fits(std::uint64_t value) { return value <= static_cast<std::uint64_t>(kHighest); }
bool fits(std::uint32_t value) { return value <= static_cast<std::uint32_t>(kHighest); }
bool fits(double value) { return std::isnan(value) || std::abs(value) <= kHighestFloat; }

// What is left of `value` when it fits is 0: bits that a loop can collect without a branch.
std::uint64_t excess(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) + (std::uint64_t{1} << 31)) >> 32;
}
std::uint64_t excess(std::uint64_t value) { return value >> 31; }
std::uint64_t excess(std::uint32_t value) { return value >> 31; }
std::uint64_t excess(double value) { return std::abs(value) > kHighestFloat ? 1 : 0; }

template <class Value>
Status check_values(std::span<const std::byte> bytes, std::string_view as) {
  const std::size_t count = bytes.size() / sizeof(Value);
  const auto at = [&](std::size_t i) {
    Value value;  // bytes from the wire may lie at any address
    std::memcpy(&value, bytes.data() + i * sizeof(Value), sizeof(Value));
    return value;
  };
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < count; ++i) any |= excess(at(i));
  if (any == 0) return {};
  std::size_t first = 0;
  while (fits(at(first))) ++first;
  return error::invalid_argument(
      "value {} (element {}) does not fit {}, in which OpenVINO computes it", at(first), first, as);
}

bool is_wide_integer(const ov::element::Type& type) {
  return type == ov::element::i64 || type == ov::element::u64 || type == ov::element::u32;
}

// An example of a number in `constant` that does not fit; empty when all do.
std::string unfit_number(const ov::op::v0::Constant& constant) {
  const std::size_t count = ov::shape_size(constant.get_shape());
  const auto find = [&](const auto* values) -> std::string {
    for (std::size_t i = 0; i < count; ++i) {
      if (fits(values[i])) continue;
      if constexpr (std::is_same_v<decltype(values), const std::int64_t*>) {
        if (values[i] >= kToTheEnd || values[i] <= -kToTheEnd) continue;
      }
      return fmt::format("{}", values[i]);
    }
    return {};
  };
  const ov::element::Type type = constant.get_element_type();
  if (type == ov::element::i64) return find(constant.get_data_ptr<std::int64_t>());
  if (type == ov::element::u64) return find(constant.get_data_ptr<std::uint64_t>());
  if (type == ov::element::f64) return find(constant.get_data_ptr<double>());
  return {};
}

// The node that makes the numbers of `output`: past what only changes shapes and integer types.
const ov::Node* maker_of(const ov::Node* node) {
  namespace op = ov::op;
  while (ov::is_type<op::v0::Result>(node) || ov::is_type<op::v0::Squeeze>(node) ||
         ov::is_type<op::v0::Unsqueeze>(node) || ov::is_type<op::v1::Reshape>(node) ||
         ov::is_type<op::v1::Transpose>(node) ||
         (ov::is_type<op::v0::Convert>(node) && node->get_input_element_type(0).is_integral())) {
    node = node->get_input_node_ptr(0);
  }
  return node;
}

// Indexes, extents and inputs (which are checked) are never too large.
bool is_known_to_fit(const ov::Node* maker) {
  return ov::is_type<ov::op::util::TopKBase>(maker) || ov::is_type<ov::op::v3::NonZero>(maker) ||
         ov::is_type<ov::op::util::ShapeOfBase>(maker) ||
         ov::is_type<ov::op::v0::Parameter>(maker) || ov::is_type<ov::op::v0::Constant>(maker) ||
         maker->get_output_element_type(0) == ov::element::boolean ||
         (maker->get_output_element_type(0).is_integral() &&
          !is_wide_integer(maker->get_output_element_type(0)));
}

std::string name_of(const ov::Output<const ov::Node>& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

}  // namespace

Status check_numbers_fit(DataType type, std::span<const std::byte> bytes) {
  constexpr std::string_view kInt32 = "INT32 (-2147483648 to 2147483647)";
  switch (type) {
    case DataType::kInt64:
      return check_values<std::int64_t>(bytes, kInt32);
    case DataType::kUint64:
      return check_values<std::uint64_t>(bytes, kInt32);
    case DataType::kUint32:
      return check_values<std::uint32_t>(bytes, kInt32);
    case DataType::kFp64:
      return check_values<double>(bytes, "FP32 (finite, up to 3.4028235e38)");
    default:
      return {};
  }
}

bool is_narrowed(const ov::Model& model, std::size_t port) {
  const ov::Output<const ov::Node> input = model.input(port);
  if (input.get_element_type() == ov::element::f64) return true;
  if (!is_wide_integer(input.get_element_type())) return false;
  for (const auto& to : input.get_target_inputs()) {
    const ov::Node* node = to.get_node();
    const bool kept = ov::is_type<ov::op::v0::Result>(node) ||
                      (ov::is_type<ov::op::v0::Convert>(node) &&
                       node->get_output_element_type(0) == ov::element::f32);
    if (!kept) return true;
  }
  return false;
}

std::vector<std::string> narrowing_warnings(const ov::Model& model) {
  std::string constants, integers, doubles;
  for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
    const auto* constant = ov::as_type<const ov::op::v0::Constant>(node.get());
    if (constant == nullptr) continue;
    const std::string number = unfit_number(*constant);
    if (!number.empty())
      append(constants, fmt::format("{} ({})", node->get_friendly_name(), number));
  }
  for (const ov::Output<const ov::Node>& output : model.outputs()) {
    if (output.get_element_type() == ov::element::f64) append(doubles, name_of(output));
    if (is_wide_integer(output.get_element_type()) &&
        !is_known_to_fit(maker_of(output.get_node()))) {
      append(integers, name_of(output));
    }
  }
  for (const ov::Output<const ov::Node>& input : model.inputs()) {
    if (input.get_element_type() == ov::element::f64) append(doubles, name_of(input));
  }
  std::vector<std::string> warnings;
  if (!constants.empty()) {
    warnings.push_back(
        "constants hold numbers that do not fit 32 bits, in which OpenVINO computes "
        "them; results that depend on them are wrong: " +
        constants);
  }
  if (!integers.empty()) {
    warnings.push_back(
        "OpenVINO computes these 64-bit (or UINT32) outputs as INT32; larger results "
        "come out wrong: " +
        integers);
  }
  if (!doubles.empty()) {
    warnings.push_back("OpenVINO computes FP64 as FP32, about 7 digits: " + doubles);
  }
  return warnings;
}

}  // namespace proa::backends::openvino
