#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/partition.h"
#include "backends/openvino/runtime.h"
#include "base/result.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// What the configuration says about where operators run.
struct PlacementOptions {
  int min_cluster_ops = 4;
  std::set<std::string, std::less<>> cpu_operators;  // by type: "Softmax"
  std::set<std::string, std::less<>> cpu_nodes;      // by name
  bool by_cost = true;    // only what is worth its copies runs on the GPU
  std::int64_t rows = 1;  // of the batches that are expected
  int processors = 1;     // that the CPU's side may use
};

// An operator that runs on the CPU, and why.
struct Fallback {
  std::string node;
  std::string type;
  std::string reason;
  int part = 0;  // that it runs in
};

// A tensor between segments, or an input or output of the model. kAny in front = the batch.
struct EdgeTensor {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape shape;

  // Of `rows` rows.
  std::size_t bytes(std::int64_t rows) const;
};

// A segment as a model of its own. Inputs and outputs are indices of `SplitModel::tensors`, in the
// order of the model's.
struct Part {
  Side side = Side::kGpu;
  std::shared_ptr<ov::Model> model;
  std::vector<int> inputs, outputs;
  int operators = 0;
  std::optional<double> row_us;  // CPU: measured for one row, in microseconds
};

// In front of a tensor's name where another part reads it as its input.
inline constexpr std::string_view kFromOtherPart = "from:";

// A model cut into parts that run one after the other.
struct SplitModel {
  std::vector<EdgeTensor> tensors;
  std::vector<int> inputs, outputs;  // of the whole model, by port
  std::vector<Part> parts;
  std::vector<Fallback> fallbacks;

  bool on_gpu_alone() const { return parts.size() == 1 && parts[0].side == Side::kGpu; }
};

// Finds out what the engine can run of `model` and cuts it there. `model` is not changed; its
// shapes are those that will be served (the first extent may be open). Errors: kInvalidArgument for
// open extents other than the batch of inputs, kUnimplemented when a tensor that has to cross has
// no fixed shape for each row, or nothing can run on the GPU.
Result<SplitModel> split_model(const std::shared_ptr<const ov::Model>& model,
                               const PlacementOptions& options);

// Compiles the parts of the CPU, by part (empty ones for the GPU), and measures them for one row
// (median of a few runs over random numbers): fills in Part::row_us. Errors: those of the CPU.
Result<std::vector<ov::CompiledModel>> compile_cpu_parts(SplitModel& split,
                                                         openvino::Runtime& runtime,
                                                         const openvino::Runtime::Options& options);

// For people, and for programs (one JSON object): what runs where, each fallback with its reason,
// what is copied between the sides for one row, and how long the CPU takes for it.
std::string report_text(const SplitModel& split);
std::string report_json(const SplitModel& split);

}  // namespace proa::backends::cuda
