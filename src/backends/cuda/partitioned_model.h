#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/cuda/split.h"
#include "engine/run/device_engine.h"
#include "openvino/runtime/compiled_model.hpp"

namespace proa::backends::cuda {

// The parts of a split model, ready to run, for one device. Parts of the GPU have `device`, those
// of the CPU `cpu`, which all devices share.
struct LoadedPart {
  std::unique_ptr<engine::DeviceModel> device;
  ov::CompiledModel cpu;
  std::int64_t rows = 1;  // GPU: always, where the model does not batch
};

// A model that runs in parts: on one GPU by the engine, in between on the CPU by OpenVINO. Tensors
// that cross lie in page-locked memory, a set for each slot. start() goes as far as the first part
// on the GPU, wait() does the rest on its caller's thread; the CPU computes exactly the rows that
// came, also where the GPU fills up a bucket.
// Threading: as engine::DeviceModel.
class PartitionedModel final : public engine::DeviceModel {
 public:
  // `split` outlives it. `largest`: rows that a slot holds; `batches`: rows may vary.
  PartitionedModel(const SplitModel& split, std::vector<LoadedPart> parts,
                   engine::DeviceEngine& engine, int device, std::int64_t largest, bool batches)
      : split_(split),
        parts_(std::move(parts)),
        engine_(engine),
        device_(device),
        largest_(largest),
        batches_(batches) {}

  Result<std::unique_ptr<engine::DeviceStream>> make_stream(int slots) const override;
  std::size_t constant_bytes() const override;
  std::string report() const override;

 private:
  const SplitModel& split_;
  const std::vector<LoadedPart> parts_;
  engine::DeviceEngine& engine_;
  const int device_;
  const std::int64_t largest_;
  const bool batches_;
};

}  // namespace proa::backends::cuda
