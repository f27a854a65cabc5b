#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/openvino/binding.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/model_config.h"
#include "openvino/runtime/compiled_model.hpp"
#include "openvino/runtime/infer_request.hpp"
#include "tensor/buffer.h"

namespace proa::backends::openvino {

// Runs a compiled model on zeros, once per batch size, so that no request pays for what OpenVINO
// prepares at the first use of a size (12-37 ms each for ResNet-50, 6-11 ms for
// EfficientNet-Lite0).
//
// Threading: confined to one thread at a time.
class WarmUp {
 public:
  WarmUp(ov::CompiledModel model, const Binding& binding, int streams);

  // False when inner extents of an input are open: then nobody knows what to run.
  bool possible() const { return possible_; }

  // Whether inputs and outputs of that batch size stay within kMostWarmBytes (outputs whose shape
  // is open count nothing).
  bool fits(std::int64_t batch_size) const;

  // Runs that batch size on every stream; 1 for models that do not batch.
  // Errors: kInvalidArgument with OpenVINO's reason.
  Status run(std::int64_t batch_size);

 private:
  struct Input {
    std::string name;
    std::size_t port;
    ov::element::Type type;
    Shape row;  // the model's shape; the first extent is replaced by the batch size
    Buffer zeros;
  };
  Status prepare(std::int64_t batch_size);

  bool batches_;
  bool possible_ = true;
  std::vector<Input> inputs_;
  std::vector<BoundTensor> outputs_;
  std::vector<ov::InferRequest> requests_;  // one per stream
};

// The batch sizes worth warming, the most useful first: 1, the largest, the preferred ones, powers
// of two, then the rest; none above kLargestWarmSize: what OpenVINO prepares for a size stays in
// memory.
std::vector<std::int64_t> warm_up_order(const config::ModelConfig& config);
inline constexpr std::int64_t kLargestWarmSize = 64;
inline constexpr std::size_t kMostWarmBytes = std::size_t{64} << 20;

// Warms sizes of `order` for about `budget`: the first one always, others when the time per row
// seen so far says that they fit. Returns the sizes that are left.
Result<std::vector<std::int64_t>> warm_within(WarmUp& warm_up, std::vector<std::int64_t> order,
                                              Duration budget, const Clock& clock);

}  // namespace proa::backends::openvino
