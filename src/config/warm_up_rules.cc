#include "config/warm_up_rules.h"

#include "base/log.h"
#include "config/path_rules.h"

namespace proa::config {
namespace {

void check_input(const WarmUp::Input& input, const std::string& field, Problems& problems) {
  if (input.type == DataType::kInvalid) {
    problems.add(field + ".data_type",
                 "the data type is missing or unknown: write one, for example TYPE_FP32");
  }
  for (std::size_t i = 0; i < input.dims.rank(); ++i) {
    if (input.dims[i] >= 0) continue;
    problems.add(
        fmt::format("{}.dims[{}]", field, i),
        fmt::format("{} is no extent of a request; write the one to warm up with", input.dims[i]));
  }
  if (input.data == WarmUp::Data::kFile) {
    if (input.file.empty()) {
      problems.add(field + ".input_data_file", "it is empty: write the name of a file in warmup/");
    }
    check_stays_inside(input.file, "the folder warmup/ of the model", field + ".input_data_file",
                       problems);
  }
}

// Whether a request of `dims` may go where `declared` is wanted.
bool fits(const Shape& dims, const Shape& declared) {
  if (dims.rank() != declared.rank()) return false;
  for (std::size_t i = 0; i < dims.rank(); ++i) {
    if (declared[i] != Shape::kAny && declared[i] != dims[i]) return false;
  }
  return true;
}

std::string input_names(const ModelConfig& config) {
  std::string names;
  for (const Tensor& tensor : config.inputs) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", log::printable(tensor.name));
  }
  return names;
}

void check_input_fits(const ModelConfig& config, const std::string& name,
                      const WarmUp::Input& input, const std::string& field, Problems& problems) {
  const int index = config.find_input(name);
  if (index < 0) {
    problems.add(field, fmt::format("the model has no input '{}'; its inputs are: {}",
                                    log::printable(name), input_names(config)));
    return;
  }
  const Tensor& tensor = config.inputs[static_cast<std::size_t>(index)];
  if (input.type != tensor.type) {
    problems.add(
        field + ".data_type",
        fmt::format("{} is not the input's type: write TYPE_{}", data_type_name(input.type),
                    tensor.type == DataType::kBytes ? "STRING" : data_type_name(tensor.type)));
  }
  if (!fits(input.dims, tensor.dims)) {
    problems.add(field + ".dims",
                 fmt::format("{} does not fit the input's dims, {}: write extents that do{}",
                             input.dims.to_string(), tensor.dims.to_string(),
                             config.batches() ? ", without the batch dimension" : ""));
  }
}

}  // namespace

void check_warm_ups(const ModelConfig& config, Problems& problems) {
  for (std::size_t i = 0; i < config.warm_ups.size(); ++i) {
    for (const auto& [name, input] : config.warm_ups[i].inputs) {
      check_input(input, fmt::format("model_warmup[{}].inputs[{}]", i, log::printable(name)),
                  problems);
    }
  }
}

void check_warm_ups_fit(const ModelConfig& config, Problems& problems) {
  for (std::size_t i = 0; i < config.warm_ups.size(); ++i) {
    const WarmUp& warm_up = config.warm_ups[i];
    if (warm_up.batch_size == 0) continue;  // never sent
    const std::string field = fmt::format("model_warmup[{}]", i);
    for (const auto& [name, input] : warm_up.inputs) {
      check_input_fits(config, name, input,
                       fmt::format("{}.inputs[{}]", field, log::printable(name)), problems);
    }
    for (const Tensor& tensor : config.inputs) {
      if (tensor.optional || warm_up.inputs.contains(tensor.name)) continue;
      problems.add(field + ".inputs",
                   fmt::format("input '{}' is missing: add it", log::printable(tensor.name)));
    }
  }
}

}  // namespace proa::config
