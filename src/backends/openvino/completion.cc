#include "backends/openvino/completion.h"

#include <algorithm>
#include <string_view>

#include "config/complete.h"

namespace proa::backends::openvino {
namespace {

bool has_open_first_extent(const TensorSignature& tensor) {
  return tensor.shape && !tensor.shape->empty() && (*tensor.shape)[0] == Shape::kAny;
}

// True when dims were configured for the whole shape: then the model is not meant to batch.
bool has_full_dims(std::span<const config::Tensor> given, std::span<const TensorSignature> known) {
  return std::ranges::any_of(given, [&](const config::Tensor& tensor) {
    const int at = find_tensor(known, tensor.name);
    const Shape& dims = tensor.reshape ? *tensor.reshape : tensor.dims;
    return at >= 0 && known[at].shape && !tensor.dims.empty() &&
           dims.rank() == known[at].shape->rank();
  });
}

void complete_batching(const Signature& signature, config::ModelConfig& config) {
  const bool batches = std::ranges::all_of(signature.inputs, has_open_first_extent) &&
                       std::ranges::all_of(signature.outputs, has_open_first_extent) &&
                       !has_full_dims(config.inputs, signature.inputs) &&
                       !has_full_dims(config.outputs, signature.outputs);
  config.max_batch_size = batches ? config::kDefaultMaxBatchSize : 0;
  if (batches && !config.dynamic_batching) config.dynamic_batching.emplace();
}

Status complete_tensor(std::string_view kind, const TensorSignature& known, bool batches,
                       config::Tensor& tensor) {
  if (tensor.type == DataType::kInvalid) tensor.type = known.type;
  if (tensor.type == DataType::kInvalid) {
    return error::unimplemented(
        "{} '{}' has element type {}, which this backend does not serve (strings and types of less "
        "than 8 bits never enter OpenVINO)",
        kind, known.name, known.native_type);
  }
  if (!tensor.dims.empty()) return {};
  if (!known.shape) {
    return error::invalid_argument(
        "the model leaves even the rank of {} '{}' open: give its dims in the configuration", kind,
        known.name);
  }
  tensor.dims = batches && !known.shape->empty() ? known.shape->without_first() : *known.shape;
  if (tensor.dims.empty()) {
    tensor.dims = Shape{1};
    tensor.reshape = Shape{};
  }
  return {};
}

// Completes the listed tensors, then adds the rest when `add_missing`.
Status complete_tensors(std::string_view kind, std::span<const TensorSignature> known, bool batches,
                        bool add_missing, std::vector<config::Tensor>& tensors) {
  std::vector<bool> listed(known.size(), false);
  for (config::Tensor& tensor : tensors) {
    const int at = find_tensor(known, tensor.name);
    if (at < 0) {
      return error::invalid_argument("the configuration has {} '{}', but the model's {}s are: {}",
                                     kind, tensor.name, kind, list_names(known));
    }
    listed[at] = true;
    PROA_TRY(complete_tensor(kind, known[at], batches, tensor));
  }
  for (std::size_t i = 0; add_missing && i < known.size(); ++i) {
    if (listed[i]) continue;
    config::Tensor tensor;
    tensor.name = known[i].name;
    PROA_TRY(complete_tensor(kind, known[i], batches, tensor));
    tensors.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace

Status complete_from_signature(const Signature& signature, bool max_batch_size_given,
                               config::ModelConfig& config) {
  if (!max_batch_size_given) complete_batching(signature, config);
  const bool batches = config.batches();
  PROA_TRY(complete_tensors("input", signature.inputs, batches, true, config.inputs));
  PROA_TRY(complete_tensors("output", signature.outputs, batches, config.outputs.empty(),
                            config.outputs));
  return {};
}

}  // namespace proa::backends::openvino
