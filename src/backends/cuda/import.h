#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/graph.h"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// Reads any model file that the openvino backend reads. Errors: of openvino/model_reader.h.
Result<std::shared_ptr<ov::Model>> read_model(const std::filesystem::path& path);

// An operator of a model that the engine has no counterpart for, and why.
struct Unsupported {
  std::string node;
  std::string type;  // "Loop"
  std::string reason;
};

// Translates `model`, with the first dimension of every input set to `batch` when it is open, into
// the engine's graph: constants folded, layout and precision as they came. The model itself is not
// changed. Constants share the bytes of the model's, which the graph keeps alive.
// Errors: kUnimplemented naming every unsupported operator once (also in `unsupported` when given),
// kInvalidArgument when shapes other than the batch are open.
Result<engine::Graph> import_model(const std::shared_ptr<const ov::Model>& model,
                                   std::int64_t batch,
                                   std::vector<Unsupported>* unsupported = nullptr);

}  // namespace proa::backends::cuda
