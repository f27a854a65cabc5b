#include "backends/index/index_backend.h"

#include <algorithm>
#include <cstring>

#include "backends/index/index_model.h"
#include "base/log.h"
#include "fmt/ranges.h"

namespace proa::backends::index {
namespace {

using config::ModelConfig;

constexpr std::string_view kParameterNames = "k, ef_search and metric";

config::Tensor tensor(std::string_view name, DataType type, std::int64_t extent) {
  config::Tensor made;
  made.name = name;
  made.type = type;
  made.dims = Shape{extent};
  return made;
}

// An output is known by its type: each of the three has its own.
constexpr std::pair<std::string_view, DataType> kOutputs[] = {
    {"ids", DataType::kInt64}, {"scores", DataType::kFp32}, {"payloads", DataType::kBytes}};

Status check_tensor(std::string_view kind, const config::Tensor& given, DataType type,
                    std::int64_t extent) {
  if (given.type != type) {
    return error::invalid_argument("{} '{}' has type {}, an index has {} there", kind, given.name,
                                   data_type_name(given.type), data_type_name(type));
  }
  if (given.dims.rank() != 1 || (given.dims[0] != extent && given.dims[0] != Shape::kAny)) {
    return error::invalid_argument("{} '{}' has dims {}, this index has [{}] there", kind,
                                   given.name, given.dims.to_string(), extent);
  }
  return {};
}

// Fills in what is open, and checks what is given.
Status complete(const VectorIndex& index, const IndexOptions& options, bool payloads,
                ModelConfig& config) {
  if (config.inputs.empty()) {
    config.inputs.push_back(tensor("vector", DataType::kFp32, index.dimension()));
  }
  if (config.outputs.empty()) {
    for (const auto& [name, type] : kOutputs) {
      if (payloads || type != DataType::kBytes) {
        config.outputs.push_back(tensor(name, type, options.k));
      }
    }
  }
  if (config.inputs.size() != 1) {
    return error::invalid_argument("{} inputs are configured; an index has one, the query vector",
                                   config.inputs.size());
  }
  PROA_TRY(check_tensor("input", config.inputs[0], DataType::kFp32, index.dimension()));
  for (const config::Tensor& output : config.outputs) {
    if (!is_output_type(output.type)) {
      return error::invalid_argument(
          "output '{}' has type {}; an index gives ids (INT64), scores (FP32) and payloads (BYTES)",
          output.name, data_type_name(output.type));
    }
    if (output.type == DataType::kBytes && !payloads) {
      return error::invalid_argument(
          "output '{}' asks for payloads, but the version's folder has no {}", output.name,
          kPayloadFile);
    }
    PROA_TRY(check_tensor("output", output, output.type, options.k));
  }
  return {};
}

class IndexBackend final : public core::Backend {
 public:
  explicit IndexBackend(const Clock* clock) : clock_(*clock) {}

  std::string_view name() const override { return "index"; }

  Status complete_config(const core::ModelFiles& files, bool max_batch_size_given,
                         ModelConfig& config) override {
    if (!max_batch_size_given) {
      config.max_batch_size = kDefaultBatch;
      if (!config.dynamic_batching) config.dynamic_batching.emplace();
    }
    if (!config.batches()) {
      return error::invalid_argument(
          "model '{}': max_batch_size is 0, but an index always takes [N, dimension]; give it 1 or "
          "more",
          config.name);
    }
    // Large files are read once, by load(), where the configuration says it all.
    if (!config.inputs.empty() && !config.outputs.empty()) return {};
    PROA_ASSIGN(const Contents contents, read_contents(files, config));
    return {};
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles& files,
                                                  const ModelConfig& config) override {
    ModelConfig checked = config;
    PROA_ASSIGN(Contents contents, read_contents(files, checked));
    return make_index_model(std::move(contents), checked, clock_);
  }

 private:
  static constexpr std::int32_t kDefaultBatch = 64;

  // What the version's folder holds; `config` is completed and checked against it.
  static Result<Contents> read_contents(const core::ModelFiles& files, ModelConfig& config) {
    const auto in_context = [&](const Error& failure) {
      return with_context(fmt::format("model '{}'", config.name), failure);
    };
    std::vector<std::string> unknown;
    const Result<IndexOptions> options = parse_index_options(config, unknown);
    if (!options) return in_context(options.error());
    if (!unknown.empty()) {
      log::warn("model '{}': parameters {} mean nothing to an index; it knows {}", config.name,
                fmt::join(unknown, ", "), kParameterNames);
    }
    Result<Contents> contents =
        Contents::read(files.version_folder / config.default_model_filename, *options);
    if (!contents) return in_context(contents.error());
    const Status fits = complete(contents->index, *options, contents->payloads.has_value(), config);
    if (!fits) return in_context(fits.error());
    return contents;
  }

  const Clock& clock_;
};

}  // namespace

std::unique_ptr<core::Backend> make_index_backend(const Clock* clock) {
  return std::make_unique<IndexBackend>(clock);
}

}  // namespace proa::backends::index
