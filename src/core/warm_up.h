#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/backend.h"
#include "tensor/tensor.h"

namespace proa::core {

class Model;

// A request that a model answers before it serves, so that no client pays for what happens only
// once: compiling for a shape, first touches of memory.
struct WarmUpSample {
  struct Input {
    std::string name;
    Tensor tensor;  // with the batch dimension in front when the model batches
  };
  std::string name;
  int count = 1;  // how often it is sent to each instance
  std::vector<Input> inputs;
};

// Sends every sample to every instance, `count` times, up to max_in_flight() at once, and waits for
// the answers. Instances are warmed side by side. They belong to `model` and have not started to
// serve: its queue and its statistics know nothing of this.
// Errors: kInvalidArgument when a sample does not fit the model's signature, else what the instance
// answered; both with the sample's name in front.
Status warm_up(const std::shared_ptr<Model>& model,
               std::span<const std::unique_ptr<Instance>> instances,
               std::span<const WarmUpSample> samples);

}  // namespace proa::core
