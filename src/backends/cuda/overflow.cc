#include "backends/cuda/overflow.h"

#include <algorithm>
#include <cmath>

#include "backends/cuda/import.h"
#include "backends/openvino/guard.h"
#include "engine/half.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/runtime/infer_request.hpp"

namespace proa::backends::cuda {
namespace {

constexpr float kLargest = engine::kLargestHalf * kHalfHeadroom;

bool is_float(const ov::element::Type& type) {
  return type == ov::element::f32 || type == ov::element::f16;
}

bool computes(const ov::Node& node) {
  return !ov::is_type<ov::op::v0::Parameter>(&node) && !ov::is_type<ov::op::v0::Result>(&node) &&
         !ov::is_type<ov::op::v0::Constant>(&node);
}

template <class Number>
bool fits(const ov::Tensor& tensor) {
  const auto* begin = tensor.data<const Number>();
  // Not a number is no overflow of FP16.
  return std::all_of(begin, begin + tensor.get_size(), [](Number number) {
    const float size = std::fabs(static_cast<float>(number));
    return !(size > kLargest);
  });
}

bool fits_half(const ov::Tensor& tensor) {
  return tensor.get_element_type() == ov::element::f16 ? fits<ov::float16>(tensor)
                                                       : fits<float>(tensor);
}

}  // namespace

Result<std::set<std::string, std::less<>>> find_overflows(openvino::Runtime& runtime,
                                                          const ov::Model& model,
                                                          std::span<const SampleRow> rows,
                                                          int processors) {
  using Names = std::set<std::string, std::less<>>;
  return openvino::guarded(
      ErrorCode::kInvalidArgument, "the model cannot be checked for FP16", [&]() -> Result<Names> {
        PROA_ASSIGN(const auto fixed, fixed_copy(model, 1));
        ov::ResultVector results;
        std::vector<ov::Output<ov::Node>> watched;
        for (const auto& node : fixed->get_ordered_ops()) {
          if (!computes(*node)) continue;
          for (const auto& output : node->outputs()) {
            if (!is_float(output.get_element_type())) continue;
            watched.push_back(output);
            results.push_back(std::make_shared<ov::op::v0::Result>(output));
          }
        }
        const auto whole = std::make_shared<ov::Model>(results, fixed->get_parameters());
        PROA_ASSIGN(ov::CompiledModel compiled, runtime.compile(whole, {.threads = processors}));
        ov::InferRequest request = compiled.create_infer_request();
        Names names;
        const auto add = [&](const ov::Output<ov::Node>& tensor) {
          names.insert(tensor.get_node()->get_friendly_name());
          for (const std::string& name : tensor.get_names()) names.insert(name);
        };
        for (const SampleRow& row : rows) {
          for (std::size_t port = 0; port < row.size(); ++port) {
            request.set_input_tensor(port, row[port]);
            const ov::Output<ov::Node> input = fixed->input(port);
            if (is_float(input.get_element_type()) && !fits_half(row[port])) add(input);
          }
          request.infer();
          for (std::size_t i = 0; i < watched.size(); ++i) {
            if (!fits_half(request.get_output_tensor(i))) add(watched[i]);
          }
        }
        return names;
      });
}

}  // namespace proa::backends::cuda
