#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/parse.h"

namespace proa::config {

// Completion fills what a configuration leaves open and never changes what it states. In order:
// complete_from_folder(), the backend's own part (inputs, outputs, whether the model batches),
// complete_rest().

// Of models that batch and say nothing else, as in Triton.
inline constexpr std::int32_t kDefaultMaxBatchSize = 4;

struct CompletionOptions {
  bool enabled = true;  // false: name, backend, inputs and outputs must be stated
  // For models whose first dimension is open when the configuration says nothing; 0 = do not batch.
  std::int32_t default_max_batch_size = kDefaultMaxBatchSize;
  bool gpu_models_on_cpu = false;  // KIND_GPU means the CPU, with a warning
};

// Name, backend and default_model_filename, from the model's folder name and the names in a
// version's folder. What backend openvino would serve goes to backend cuda when an instance_group
// is of KIND_GPU.
// Errors: kInvalidArgument when the stated name is not the folder's, or nothing tells the backend;
// kUnimplemented for the files of backends that are not served.
Status complete_from_folder(std::string_view folder_name, std::span<const std::string> files,
                            const CompletionOptions& options, ParsedConfig& parsed);

// Whether max_batch_size is not for the backend to find out: it is stated, or models do not batch
// unless it is.
bool max_batch_size_decided(const CompletionOptions& options, const ParsedConfig& parsed);

// After the backend has set max_batch_size > 0 for a model that can batch: default batch size and
// dynamic batching where nothing is stated, instance groups, order of preferred sizes. Then checks
// the whole configuration. Errors: as parse_config().
Status complete_rest(const CompletionOptions& options, ParsedConfig& parsed);

}  // namespace proa::config
