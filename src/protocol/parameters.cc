#include "protocol/parameters.h"

#include <algorithm>
#include <array>

namespace proa::protocol {
namespace {

constexpr std::string_view kSharedMemoryPrefix = "shared_memory_";
constexpr std::string_view kEmptyFinalResponse = "triton_enable_empty_final_response";

Error wrong_type(std::string_view name, std::string_view wanted, const Parameter::Value& value) {
  constexpr auto kKinds = std::to_array<std::string_view>(
      {"a boolean", "an integer", "an integer", "a floating-point number", "a string"});
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return error::invalid_argument("parameter '{}' must be {}, got {}", name, wanted, *number);
  }
  return error::invalid_argument("parameter '{}' must be {}, got {}", name, wanted,
                                 kKinds[value.index()]);
}

Status set_bool(std::string_view name, const Parameter::Value& value, bool& out) {
  if (const bool* flag = std::get_if<bool>(&value)) {
    out = *flag;
    return {};
  }
  return wrong_type(name, "a boolean", value);
}

Status set_unsigned(std::string_view name, const Parameter::Value& value, std::uint64_t& out) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    out = *number;
    return {};
  }
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && *number >= 0) {
    out = static_cast<std::uint64_t>(*number);
    return {};
  }
  return wrong_type(name, "an integer, not negative", value);
}

Status set_sequence_id(Parameter::Value value, InferRequest& request) {
  if (auto* text = std::get_if<std::string>(&value)) {
    request.sequence_id = std::move(*text);
    return {};
  }
  std::uint64_t number = 0;
  if (!set_unsigned("sequence_id", value, number)) {
    return wrong_type("sequence_id", "an integer, not negative, or a string", value);
  }
  request.sequence_id = number;
  return {};
}

}  // namespace

void set_parameter(Parameters& parameters, std::string_view name, Parameter::Value value) {
  for (Parameter& parameter : parameters) {
    if (parameter.name == name) {
      parameter.value = std::move(value);
      return;
    }
  }
  parameters.push_back({std::string(name), std::move(value)});
}

Error reserved_name(std::string_view name) {
  return error::invalid_argument(
      "parameter '{}' is refused: names that start with '{}' are reserved, rename it", name,
      kReservedPrefix);
}

bool is_reserved_parameter(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"sequence_id", "sequence_start", "sequence_end", "priority",
                                       "timeout", "binary_data_output"});
  return name.starts_with(kReservedPrefix) || std::ranges::find(kNames, name) != kNames.end();
}

Status set_request_parameter(InferRequest& request, std::string_view name, Parameter::Value value) {
  if (name == "sequence_id") return set_sequence_id(std::move(value), request);
  if (name == "sequence_start") return set_bool(name, value, request.sequence_start);
  if (name == "sequence_end") return set_bool(name, value, request.sequence_end);
  if (name == "priority") return set_unsigned(name, value, request.priority);
  if (name == "timeout") return set_unsigned(name, value, request.timeout_us);
  if (name == "binary_data_output") return set_bool(name, value, request.binary_data_output);
  if (name == kEmptyFinalResponse)
    return set_bool(name, value, request.enable_empty_final_response);
  if (name.starts_with(kReservedPrefix)) return reserved_name(name);
  set_parameter(request.parameters, name, std::move(value));
  return {};
}

Status set_input_parameter(InferInput& input, std::string_view name, Parameter::Value value) {
  if (name.starts_with(kSharedMemoryPrefix)) {
    return error::unimplemented(
        "shared memory is not built into this server: send the tensor in the request");
  }
  set_parameter(input.parameters, name, std::move(value));
  return {};
}

Status set_output_parameter(InferRequestedOutput& output, std::string_view name,
                            Parameter::Value value) {
  if (name.starts_with(kSharedMemoryPrefix)) {
    return error::unimplemented(
        "output '{}': shared memory is not built into this server: take the tensor from the "
        "response",
        output.name);
  }
  if (name == "classification") {
    std::uint64_t count = 0;
    PROA_TRY(set_unsigned(name, value, count));
    if (count > UINT32_MAX) {
      return error::invalid_argument("output '{}': classification of {} classes is too many",
                                     output.name, count);
    }
    output.classification = static_cast<std::uint32_t>(count);
    return {};
  }
  if (name == "binary_data") {
    bool binary = false;
    PROA_TRY(set_bool(name, value, binary));
    output.binary = binary;
    return {};
  }
  set_parameter(output.parameters, name, std::move(value));
  return {};
}

Error too_many_tensors() {
  return error::invalid_argument("a request may have {} inputs and {} outputs at most", kMaxTensors,
                                 kMaxTensors);
}

Error too_many_parameters() {
  return error::invalid_argument("a request and its tensors may have {} parameters at most",
                                 kMaxParameters);
}

}  // namespace proa::protocol
