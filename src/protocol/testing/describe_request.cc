#include "protocol/testing/describe_request.h"

#include <algorithm>
#include <bit>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "protocol/testing/message_bytes.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

using inference::InferParameter;
using inference::ModelInferRequest;

std::string describe(const Parameter::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return fmt::format("double {:x}", std::bit_cast<std::uint64_t>(*real));
  }
  return std::visit([&](const auto& v) { return fmt::format("{} {}", value.index(), v); }, value);
}

Parameter::Value value_of(const InferParameter& parameter) {
  switch (parameter.parameter_choice_case()) {
    case InferParameter::kBoolParam:
      return parameter.bool_param();
    case InferParameter::kInt64Param:
      return parameter.int64_param();
    case InferParameter::kStringParam:
      return parameter.string_param();
    case InferParameter::kDoubleParam:
      return parameter.double_param();
    default:
      return parameter.uint64_param();
  }
}

std::uint64_t number_of(const ParameterMap& map, const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) return 0;
  return found->second.has_bool_param()    ? static_cast<std::uint64_t>(found->second.bool_param())
         : found->second.has_int64_param() ? static_cast<std::uint64_t>(found->second.int64_param())
                                           : found->second.uint64_param();
}

template <class Element, class Repeated>
std::string elements_of(const Repeated& values) {
  std::string bytes;
  for (const auto value : values) {
    const auto element = static_cast<Element>(value);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return bytes;
}

std::string contents_of(const ModelInferRequest::InferInputTensor& input) {
  const auto& contents = input.contents();
  const std::string& type = input.datatype();
  if (type == "BOOL") return elements_of<bool>(contents.bool_contents());
  if (type == "INT8") return elements_of<std::int8_t>(contents.int_contents());
  if (type == "INT16") return elements_of<std::int16_t>(contents.int_contents());
  if (type == "INT32") return elements_of<std::int32_t>(contents.int_contents());
  if (type == "INT64") return elements_of<std::int64_t>(contents.int64_contents());
  if (type == "UINT8") return elements_of<std::uint8_t>(contents.uint_contents());
  if (type == "UINT16") return elements_of<std::uint16_t>(contents.uint_contents());
  if (type == "UINT32") return elements_of<std::uint32_t>(contents.uint_contents());
  if (type == "UINT64") return elements_of<std::uint64_t>(contents.uint64_contents());
  if (type == "FP32") return elements_of<float>(contents.fp32_contents());
  if (type == "FP64") return elements_of<double>(contents.fp64_contents());
  std::string bytes;
  for (const std::string& element : contents.bytes_contents()) append_bytes_element(bytes, element);
  return bytes;
}

std::string sequence_id_of(const ParameterMap& map) {
  const auto found = map.find("sequence_id");
  if (found != map.end() && found->second.has_string_param()) return found->second.string_param();
  return fmt::format("{}", number_of(map, "sequence_id"));
}

}  // namespace

std::string describe(const Parameters& parameters) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : parameters) lines.push_back(name + '=' + describe(value));
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ","));
}

Parameters parameters_of(const ParameterMap& map, const std::vector<std::string_view>& without) {
  Parameters parameters;
  for (const auto& [name, parameter] : map) {
    if (std::ranges::find(without, name) == without.end()) {
      parameters.push_back({name, value_of(parameter)});
    }
  }
  return parameters;
}

std::string describe(const InferRequest& request) {
  std::string text = fmt::format("{} {} {} [{}]", request.model_name, request.model_version,
                                 request.id, describe(request.parameters));
  text += fmt::format(
      " seq {} {} {} prio {} timeout {} final {}",
      std::visit([](const auto& id) { return fmt::format("{}", id); }, request.sequence_id),
      request.sequence_start, request.sequence_end, request.priority, request.timeout_us,
      request.enable_empty_final_response);
  for (const InferInput& input : request.inputs) {
    text += fmt::format("\nin {} {} {} [{}] {}", input.name, input.datatype,
                        input.shape.to_string(), describe(input.parameters), text_of(input.data));
  }
  for (const InferRequestedOutput& output : request.outputs) {
    text += fmt::format("\nout {} {} [{}]", output.name, output.classification,
                        describe(output.parameters));
  }
  return text;
}

std::string describe(const ModelInferRequest& request) {
  const auto& map = request.parameters();
  std::string text =
      fmt::format("{} {} {} [{}]", request.model_name(), request.model_version(), request.id(),
                  describe(parameters_of(
                      map, {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout",
                            "triton_enable_empty_final_response", "binary_data_output"})));
  text += fmt::format(" seq {} {} {} prio {} timeout {} final {}", sequence_id_of(map),
                      number_of(map, "sequence_start") != 0, number_of(map, "sequence_end") != 0,
                      number_of(map, "priority"), number_of(map, "timeout"),
                      number_of(map, "triton_enable_empty_final_response") != 0);
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto& input = request.inputs(i);
    const Shape shape(std::span(input.shape().data(), input.shape().size()));
    text += fmt::format(
        "\nin {} {} {} [{}] {}", input.name(), input.datatype(), shape.to_string(),
        describe(parameters_of(input.parameters())),
        request.raw_input_contents_size() > 0 ? request.raw_input_contents(i) : contents_of(input));
  }
  for (const auto& output : request.outputs()) {
    text += fmt::format(
        "\nout {} {} [{}]", output.name(), number_of(output.parameters(), "classification"),
        describe(parameters_of(output.parameters(), {"classification", "binary_data"})));
  }
  return text;
}

}  // namespace proa::protocol
