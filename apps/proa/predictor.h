#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace proa {

// An input or output of a model as its clients see it.
struct TensorDescription {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape shape;  // whole, kAny = any extent
};

struct ModelSignature {
  std::string model;
  bool batches = false;  // the first extent of every shape is the batch
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> outputs;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct WantedOutput {
  std::string name;
  // > 0: the largest elements as "value:index:label", with the labels that the model has.
  std::uint32_t classes = 0;
};

// A model that answers one request after the other, wherever it runs.
// Threading: confined to one thread; methods block.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual const ModelSignature& signature() const = 0;
  // Errors: the model's, or why it could not be reached.
  virtual Result<std::vector<NamedTensor>> predict(const std::vector<NamedTensor>& inputs,
                                                   const std::vector<WantedOutput>& outputs) = 0;
};

struct ConnectOptions {
  // For each answer, and for a model that is being loaded.
  std::chrono::milliseconds timeout{60'000};
  // For a server on this machine that does not listen yet.
  std::chrono::milliseconds refused_wait{3'000};
  std::chrono::milliseconds poll{100};
  // Is told once what is waited for.
  std::function<void(std::string_view)> notice;
};

// A model on a KServe v2 server. `url`: "http://host:port" or "host:port". `version` "" = latest.
// Errors: the server's, or why it cannot be asked and what to do about it.
Result<std::unique_ptr<Predictor>> connect_to_server(const std::string& url,
                                                     const std::string& model,
                                                     const std::string& version,
                                                     const ConnectOptions& options);

// A model file or model folder, loaded into this process. The first call must come while the
// process has one thread (backends/list.h).
Result<std::unique_ptr<Predictor>> load_in_process(const std::filesystem::path& path);

}  // namespace proa
