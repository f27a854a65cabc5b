#include <future>

#include "core/model.h"
#include "core/request_builder.h"
#include "local_runtime.h"
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

class LocalPredictor final : public Predictor {
 public:
  Status load(const std::filesystem::path& path) {
    // One request comes at a time: other batch sizes need no warm-up.
    PROA_TRY(runtime_.load(path, false));
    describe(runtime_.model()->config());
    return {};
  }

  const ModelSignature& signature() const override { return signature_; }

  Result<std::vector<NamedTensor>> predict(const std::vector<NamedTensor>& inputs,
                                           const std::vector<WantedOutput>& outputs) override {
    PROA_ASSIGN(auto request, build(inputs, outputs));
    std::promise<core::Response> promise;
    auto answer = promise.get_future();
    request->sink = std::make_unique<PromiseSink>(std::move(promise));
    runtime_.model()->infer(std::move(request));
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
    return core::build_request(runtime_.model(), named, wanted, "");
  }

  Result<std::vector<NamedTensor>> name_outputs(core::Response response,
                                                const std::vector<WantedOutput>& wanted) {
    std::vector<NamedTensor> named;
    for (const WantedOutput& output : wanted) {
      const auto at = static_cast<std::size_t>(runtime_.model()->config().find_output(output.name));
      Tensor tensor = std::move(response.outputs[at]);
      if (output.classes > 0) {
        PROA_ASSIGN(tensor, protocol::classify(tensor, output.classes, runtime_.labels()[at],
                                               signature_.batches));
      }
      named.push_back({output.name, std::move(tensor)});
    }
    return named;
  }

  LocalRuntime runtime_;
  ModelSignature signature_;
};

}  // namespace

Result<std::unique_ptr<Predictor>> load_in_process(const std::filesystem::path& path) {
  auto predictor = std::make_unique<LocalPredictor>();
  PROA_TRY(predictor->load(path));
  return std::unique_ptr<Predictor>(std::move(predictor));
}

}  // namespace proa
