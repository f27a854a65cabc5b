#include "backends/python/messages.h"

#include <utility>

#include "core/reshape.h"

namespace proa::backends::python {
namespace {

std::uint32_t flags_of(const core::Request& request, bool text) {
  std::uint32_t flags = text ? kCorrelationText : 0U;
  if (request.sequence_start) flags |= kSequenceStart;
  if (request.sequence_end) flags |= kSequenceEnd;
  if (!request.parameters.empty()) flags |= kHasParameters;
  return flags;
}

std::uint16_t count_inputs(const core::Request& request) {
  std::uint16_t count = 0;
  for (const Tensor& input : request.inputs) count += input.type != DataType::kInvalid ? 1 : 0;
  return count;
}

// What model.py has to give for that output: with -1 for the batch dimension.
Shape wanted_shape(const config::ModelConfig& config, const config::Tensor& output) {
  const Shape& dims = output.reshape ? *output.reshape : output.dims;
  return config.batches() ? dims.with_first(Shape::kAny) : dims;
}

Status check_output(const config::ModelConfig& config, const config::Tensor& output,
                    const Tensor& tensor) {
  if (tensor.type != output.type) {
    return error::internal(
        "model '{}': output '{}' of model.py is {}, but the configuration says {}: convert it, or "
        "change data_type",
        config.name, output.name, data_type_name(tensor.type), data_type_name(output.type));
  }
  const Shape wanted = wanted_shape(config, output);
  if (tensor.shape.matches(wanted)) return {};
  return error::internal(
      "model '{}': output '{}' of model.py has shape {}, but the configuration says {}: reshape "
      "it, or change dims",
      config.name, output.name, tensor.shape.to_string(), wanted.to_string());
}

// Puts the output where the front ends look for it. Errors: kInternal, one of the request.
Status place_output(const config::ModelConfig& config, std::size_t index, Tensor tensor,
                    core::Response& response) {
  const config::Tensor& output = config.outputs[index];
  PROA_TRY(check_output(config, output, tensor));
  if (output.reshape) {
    tensor.shape =
        core::reshaped(tensor.shape, config.batches() ? 1 : 0, *output.reshape, output.dims);
  }
  response.outputs.resize(config.outputs.size());
  response.outputs[index] = std::move(tensor);
  return {};
}

}  // namespace

Status put_request(const core::Request& request, std::uint64_t number, std::uint32_t slot,
                   Draft& draft, Lending& lending) {
  const auto* text = std::get_if<std::string>(&request.correlation_id);
  const auto* id = std::get_if<std::uint64_t>(&request.correlation_id);
  WireWriter& body = draft.body;
  body.put(number);
  body.put(id != nullptr ? *id : std::uint64_t{0});
  body.put(static_cast<std::uint64_t>(request.timeout.count()));
  body.put(flags_of(request, text != nullptr));
  body.put(slot);
  body.put(static_cast<std::uint32_t>(request.id.size()));
  body.put(static_cast<std::uint32_t>(text != nullptr ? text->size() : 0));
  body.put(count_inputs(request));
  body.put(static_cast<std::uint16_t>(request.requested_outputs.size()));
  body.put(static_cast<std::uint32_t>(request.priority));
  body.put_bytes(std::as_bytes(std::span(request.id)));
  if (text != nullptr) body.put_bytes(std::as_bytes(std::span(*text)));
  if (!request.parameters.empty()) body.put_parameters(request.parameters);
  for (const std::uint16_t output : request.requested_outputs) body.put(output);
  body.align(sizeof(std::uint64_t));
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].type == DataType::kInvalid) continue;
    PROA_TRY(lending.put_tensor(draft, static_cast<std::uint16_t>(i), {}, request.inputs[i]));
  }
  ++draft.items;
  return {};
}

Result<WorkerResponse> read_response(const config::ModelConfig& config, Incoming& message) {
  WireReader& reader = message.reader;
  WorkerResponse result;
  result.number = reader.get<std::uint64_t>();
  const auto flags = reader.get<std::uint32_t>();
  const auto code = reader.get<std::uint32_t>();
  const auto outputs = reader.get<std::uint32_t>();
  reader.get<std::uint32_t>();
  core::Response response;
  if ((flags & kHasError) != 0) {
    response.error = Error{error_code(code), std::string(reader.get_string())};
  }
  if ((flags & kHasParameters) != 0) response.parameters = reader.get_parameters();
  reader.align(sizeof(std::uint64_t));
  for (std::uint32_t i = 0; i < outputs; ++i) {
    PROA_ASSIGN(Lending::Named named, Lending::read_tensor(message));
    if (named.index >= config.outputs.size()) {
      return error::internal("the worker process sent output {} of {}", named.index,
                             config.outputs.size());
    }
    if (response.error) continue;
    Status placed = place_output(config, named.index, std::move(named.tensor), response);
    if (!placed) response.error = std::move(placed).error();
  }
  if (!reader.ok()) return error::internal("the worker process sent half a response");
  result.final = (flags & kFinal) != 0;
  if (response.error) response.outputs.clear();
  if ((flags & kNoContent) == 0) result.content = std::move(response);
  return result;
}

ErrorCode error_code(std::uint32_t triton) {
  switch (triton) {
    case 0:
      return ErrorCode::kUnknown;
    case 2:
      return ErrorCode::kNotFound;
    case 3:
      return ErrorCode::kInvalidArgument;
    case 4:
      return ErrorCode::kUnavailable;
    case 5:
      return ErrorCode::kUnimplemented;
    case 6:
      return ErrorCode::kAlreadyExists;
    case 7:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kInternal;
  }
}

std::uint32_t triton_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnknown:
      return 0;
    case ErrorCode::kNotFound:
      return 2;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kFailedPrecondition:
      return 3;
    case ErrorCode::kUnavailable:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kDeadlineExceeded:
      return 4;
    case ErrorCode::kUnimplemented:
      return 5;
    case ErrorCode::kAlreadyExists:
      return 6;
    case ErrorCode::kCancelled:
      return 7;
    default:
      return 1;
  }
}

}  // namespace proa::backends::python
