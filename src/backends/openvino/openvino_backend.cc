#include "backends/openvino/openvino_backend.h"

#include "backends/openvino/completion.h"
#include "backends/openvino/openvino_model.h"
#include "backends/openvino/read_ahead.h"
#include "backends/openvino/runtime.h"
#include "base/cpu.h"

namespace proa::backends::openvino {
namespace {

class OpenVinoBackend final : public core::Backend {
 public:
  explicit OpenVinoBackend(const BackendOptions& options)
      : processors_(options.processors > 0 ? options.processors : available_cpus()),
        clock_(options.clock) {}

  std::string_view name() const override { return "openvino"; }

  Status complete_config(const core::ModelFiles& files, bool max_batch_size_given,
                         config::ModelConfig& config) override {
    PROA_ASSIGN(const ModelFile file,
                find_model_file(files.version_folder / config.default_model_filename));
    PROA_ASSIGN(const auto model, read_ahead_.peek(file));
    const Signature signature = read_signature(*model);
    Status completed = complete_from_signature(signature, max_batch_size_given, config);
    if (completed) {
      // A configuration that cannot be bound is refused here, where the file is at hand.
      if (const auto bound = bind(signature, config); !bound) completed = bound.error();
    }
    if (!completed) return with_context(file.path.string(), std::move(completed).error());
    return {};
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles& files,
                                                  const config::ModelConfig& config) override {
    PROA_ASSIGN(const ModelFile file,
                find_model_file(files.version_folder / config.default_model_filename));
    PROA_ASSIGN(auto model, read_ahead_.take(file));
    auto loaded = OpenVinoModel::create(runtime_, std::move(model), config,
                                        {.processors = processors_, .clock = clock_});
    if (!loaded) return with_context(file.path.string(), std::move(loaded).error());
    return std::unique_ptr<core::LoadedModel>(std::move(*loaded));
  }

 private:
  const int processors_;
  const Clock* clock_;
  Runtime runtime_;
  ReadAhead read_ahead_;
};

}  // namespace

std::unique_ptr<core::Backend> create_openvino_backend(const BackendOptions& options) {
  return std::make_unique<OpenVinoBackend>(options);
}

}  // namespace proa::backends::openvino
