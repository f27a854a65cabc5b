#pragma once

#include <filesystem>
#include <map>
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

// Gives inputs, by name, these shapes, which may leave out a first extent that stays as it is.
// Errors: kInvalidArgument for names that the model does not have and shapes that it cannot take.
Status set_input_shapes(ov::Model& model, const std::map<std::string, Shape>& shapes);

// A private copy of `model` whose shapes are all known (a first extent that is open becomes
// `batch`) and whose constants are folded. Errors: kInvalidArgument when other extents of inputs
// are open. Throws what OpenVINO throws.
Result<std::shared_ptr<ov::Model>> fixed_copy(const ov::Model& model, std::int64_t batch);

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

// What is known of a model's operators, by their names, before anything is built.
struct Survey {
  // Why the engine cannot run it; "" where it can. Operators that are folded away once the batch is
  // known are not in it.
  std::map<std::string, std::string> reasons;
  // The shapes of its outputs, kAny in front where that is the batch; no entry for those that
  // depend on data or on the batch in another way.
  std::map<std::pair<std::string, std::size_t>, Shape> shapes;
};

// Errors: as import_model, but not of operators.
Result<Survey> survey_model(const std::shared_ptr<const ov::Model>& model);

}  // namespace proa::backends::cuda
