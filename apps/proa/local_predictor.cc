#include <future>

#include "base/timer.h"
#include "core/model.h"
#include "core/reaper.h"
#include "core/request_builder.h"
#include "local_model.h"
#include "predictor.h"
#include "protocol/classification.h"

namespace proa {
namespace {

// Hands the one response of a request to the thread that waits for it.
class PromiseSink final : public core::ResponseSink {
 public:
  explicit PromiseSink(std::promise<core::Response> promise) : promise_(std::move(promise)) {}
  void send(core::Response response, bool final) override {
    if (final) promise_.set_value(std::move(response));
  }

 private:
  std::promise<core::Response> promise_;
};

// Owns all that a model needs around it.
class LocalPredictor final : public Predictor {
 public:
  LocalPredictor() : backends_({.timer = &timer_}) {}
  ~LocalPredictor() override {
    if (model_ != nullptr) model_->shut_down();
  }

  Status load(const std::filesystem::path& path) {
    PROA_ASSIGN(LocalModel local, open_local_model(path, backends_));
    // One request comes at a time: other batch sizes need no warm-up.
    if (local.config.backend == "openvino") local.config.parameters.emplace("warm_up_ms", "0");
    PROA_ASSIGN(auto loaded, local.backend->load(local.files, local.config));
    labels_ = std::move(local.labels);
    core::Model::Options options;
    options.timer = &timer_;
    options.reaper = &reaper_;
    PROA_ASSIGN(model_, core::Model::create(std::move(local.config), local.files.version,
                                            std::move(loaded), std::move(options)));
    describe(model_->config());
    return {};
  }

  const ModelSignature& signature() const override { return signature_; }

  Result<std::vector<NamedTensor>> predict(const std::vector<NamedTensor>& inputs,
                                           const std::vector<WantedOutput>& outputs) override {
    PROA_ASSIGN(auto request, build(inputs, outputs));
    std::promise<core::Response> promise;
    auto answer = promise.get_future();
    request->sink = std::make_unique<PromiseSink>(std::move(promise));
    model_->infer(std::move(request));
    core::Response response = answer.get();
    if (response.error) return *response.error;
    return name_outputs(std::move(response), outputs);
  }

 private:
  void describe(const config::ModelConfig& config) {
    signature_.model = config.name;
    signature_.batches = config.batches();
    for (const config::Tensor& tensor : config.inputs) {
      signature_.inputs.push_back({tensor.name, tensor.type, config.full_dims(tensor)});
    }
    for (const config::Tensor& tensor : config.outputs) {
      signature_.outputs.push_back({tensor.name, tensor.type, config.full_dims(tensor)});
    }
  }

  Result<std::unique_ptr<core::Request>> build(const std::vector<NamedTensor>& inputs,
                                               const std::vector<WantedOutput>& outputs) {
    std::vector<core::NamedInput> named;
    for (const auto& [name, tensor] : inputs) {
      named.push_back({name, tensor.type, tensor.shape, tensor.data});
    }
    std::vector<std::string_view> wanted;
    for (const WantedOutput& output : outputs) wanted.push_back(output.name);
    return core::build_request(model_, named, wanted, "");
  }

  Result<std::vector<NamedTensor>> name_outputs(core::Response response,
                                                const std::vector<WantedOutput>& wanted) {
    std::vector<NamedTensor> named;
    for (const WantedOutput& output : wanted) {
      const auto at = static_cast<std::size_t>(model_->config().find_output(output.name));
      Tensor tensor = std::move(response.outputs[at]);
      if (output.classes > 0) {
        PROA_ASSIGN(tensor,
                    protocol::classify(tensor, output.classes, labels_[at], signature_.batches));
      }
      named.push_back({output.name, std::move(tensor)});
    }
    return named;
  }

  TimerThread timer_;
  core::Reaper reaper_;
  backends::BackendList backends_;
  std::vector<std::vector<std::string>> labels_;
  std::shared_ptr<core::Model> model_;
  ModelSignature signature_;
};

}  // namespace

Result<std::unique_ptr<Predictor>> load_in_process(const std::filesystem::path& path) {
  auto predictor = std::make_unique<LocalPredictor>();
  PROA_TRY(predictor->load(path));
  return std::unique_ptr<Predictor>(std::move(predictor));
}

}  // namespace proa
