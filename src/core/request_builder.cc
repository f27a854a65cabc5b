#include "core/request_builder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/reshape.h"
#include "fmt/ranges.h"
#include "tensor/bytes_tensor.h"

namespace proa::core {
namespace {

using config::ModelConfig;

// "[request id: 7] " in front of every message.
template <class... Args>
Error refuse(std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("[request id: {}] {}", id.empty() ? "<id_unknown>" : id,
                           fmt::format(format, std::forward<Args>(args)...))};
}

// "'A','B'"
template <class Range>
std::string quoted(const Range& names) {
  std::vector<std::string> parts;
  for (const auto& name : names) parts.push_back(fmt::format("'{}'", name));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string tensor_names(const std::vector<config::Tensor>& tensors) {
  std::vector<std::string_view> names;
  for (const config::Tensor& tensor : tensors) names.push_back(tensor.name);
  return quoted(names);
}

Error missing_inputs(std::string_view id, const ModelConfig& config,
                     std::span<const NamedInput> given) {
  std::vector<std::string_view> names, missing;
  std::size_t required = 0;
  for (const NamedInput& input : given) names.push_back(input.name);
  for (const config::Tensor& input : config.inputs) {
    if (input.optional) continue;
    ++required;
    if (std::find(names.begin(), names.end(), input.name) == names.end()) {
      missing.push_back(input.name);
    }
  }
  const std::string expected = required == config.inputs.size()
                                   ? fmt::format("expected {} inputs", required)
                                   : fmt::format("expected number of inputs between {} and {}",
                                                 required, config.inputs.size());
  return refuse(id,
                "{} but got {} inputs for model '{}'. Got input(s) [{}], but missing required "
                "input(s) [{}]. Please provide all required input(s).",
                expected, given.size(), config.name, quoted(names), quoted(missing));
}

Error wrong_shape(std::string_view id, const ModelConfig& config, const config::Tensor& wanted,
                  const Shape& got) {
  const bool forgot_batch = config.batches() && got.rank() == wanted.dims.rank();
  return refuse(id, "unexpected shape for input '{}' for model '{}'. Expected {}, got {}.{}",
                wanted.name, config.name, config.full_dims(wanted).to_string(), got.to_string(),
                forgot_batch ? fmt::format(" The model batches (max_batch_size {}): put the number "
                                           "of rows in front of the shape, 1 for a single one.",
                                           config.max_batch_size)
                             : "");
}

// `dims` fit behind the batch dimension, if there is one.
bool shape_fits(const ModelConfig& config, const config::Tensor& wanted, const Shape& got) {
  const std::size_t lead = config.batches() ? 1 : 0;
  if (got.rank() != wanted.dims.rank() + lead) return false;
  for (std::size_t i = 0; i < wanted.dims.rank(); ++i) {
    if (wanted.dims[i] != Shape::kAny && wanted.dims[i] != got[i + lead]) return false;
  }
  return true;
}

Status check_data(std::string_view id, const ModelConfig& config, const NamedInput& input) {
  const auto elements = input.shape.element_count();
  if (!elements) {
    return refuse(id, "shape {} of input '{}' for model '{}' is negative or too large.",
                  input.shape.to_string(), input.name, config.name);
  }
  if (input.type == DataType::kBytes) {
    const Status checked = check_bytes_elements(input.data.bytes(), *elements);
    if (checked) return {};
    return refuse(id, "input '{}' for model '{}': {}", input.name, config.name,
                  checked.error().message);
  }
  const auto bytes = dense_byte_size(input.type, input.shape);
  if (!bytes) return bytes.error();
  if (*bytes == input.data.size) return {};
  return refuse(id,
                "input byte size mismatch for input '{}' for model '{}'. Expected {}, got {}: "
                "shape {} of {} needs exactly that many bytes.",
                input.name, config.name, *bytes, input.data.size, input.shape.to_string(),
                data_type_name(input.type));
}

// The type, shape and bytes of one input.
Status check_input(std::string_view id, const ModelConfig& config, const config::Tensor& wanted,
                   const NamedInput& input) {
  if (input.type != wanted.type) {
    return refuse(id, "inference input '{}' data-type is '{}', but model '{}' expects '{}'",
                  input.name, data_type_name(input.type), config.name, data_type_name(wanted.type));
  }
  if (!shape_fits(config, wanted, input.shape)) return wrong_shape(id, config, wanted, input.shape);
  return check_data(id, config, input);
}

// Sets the request's batch size from the inputs' first extent.
Status check_batch_size(std::string_view id, const ModelConfig& config, const NamedInput& input,
                        bool first, Request& request) {
  if (!config.batches()) return {};
  const std::int64_t rows = input.shape[0];
  if (rows > config.max_batch_size) {
    return refuse(
        id,
        "inference request batch-size must be <= {} for '{}', got {}. Send it in parts, or "
        "raise max_batch_size in the model's configuration.",
        config.max_batch_size, config.name, rows);
  }
  if (rows < 1) {
    return refuse(id, "inference request batch-size must be >= 1 for '{}', got {}", config.name,
                  rows);
  }
  if (!first && rows != request.batch_size) {
    return refuse(id, "input '{}' batch size does not match other inputs for '{}': {} and {}",
                  input.name, config.name, rows, request.batch_size);
  }
  request.batch_size = rows;
  return {};
}

Status add_inputs(std::string_view id, const ModelConfig& config,
                  std::span<const NamedInput> inputs, Request& request) {
  request.inputs.resize(config.inputs.size());
  bool first = true;
  for (const NamedInput& input : inputs) {
    const int index = config.find_input(input.name);
    if (index < 0) {
      return refuse(id,
                    "unexpected inference input '{}' for model '{}'. The model's inputs are {}.",
                    input.name, config.name, tensor_names(config.inputs));
    }
    Tensor& place = request.inputs[static_cast<std::size_t>(index)];
    if (place.type != DataType::kInvalid) {
      return refuse(id, "input '{}' for model '{}' was given more than once", input.name,
                    config.name);
    }
    const config::Tensor& wanted = config.inputs[static_cast<std::size_t>(index)];
    PROA_TRY(check_input(id, config, wanted, input));
    PROA_TRY(check_batch_size(id, config, input, first, request));
    first = false;
    place = Tensor{input.type, input.shape, input.data};
    if (wanted.reshape) {
      place.shape = reshaped(input.shape, config.batches() ? 1 : 0, wanted.dims, *wanted.reshape);
    }
  }
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    if (request.inputs[i].type == DataType::kInvalid && !config.inputs[i].optional) {
      return missing_inputs(id, config, inputs);
    }
  }
  return {};
}

Status add_outputs(std::string_view id, const ModelConfig& config,
                   std::span<const std::string_view> names, Request& request) {
  for (const std::string_view name : names) {
    const int index = config.find_output(name);
    if (index < 0) {
      return refuse(id,
                    "unexpected inference output '{}' for model '{}'. The model's outputs are {}.",
                    name, config.name, tensor_names(config.outputs));
    }
    if (!request.requested_outputs.empty() &&
        request.wants_output(static_cast<std::size_t>(index))) {
      return refuse(id, "output '{}' of model '{}' was requested more than once", name,
                    config.name);
    }
    request.requested_outputs.push_back(static_cast<std::uint16_t>(index));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Request>> build_request(std::shared_ptr<Model> model,
                                               std::span<const NamedInput> inputs,
                                               std::span<const std::string_view> requested_outputs,
                                               std::string_view request_id) {
  auto request = std::make_unique<Request>();
  const ModelConfig& config = model->config();
  PROA_TRY(add_inputs(request_id, config, inputs, *request));
  PROA_TRY(add_outputs(request_id, config, requested_outputs, *request));
  request->id = request_id;
  request->model = std::move(model);
  return request;
}

std::chrono::microseconds queue_timeout(std::uint64_t timeout_us) {
  constexpr auto kLongest =
      std::chrono::duration_cast<std::chrono::microseconds>(Duration::max() / 2);
  return std::chrono::microseconds(
      std::min(timeout_us, static_cast<std::uint64_t>(kLongest.count())));
}

}  // namespace proa::core
