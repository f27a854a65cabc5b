#pragma once

#include <array>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "backends/cuda/device_health.h"
#include "backends/cuda/pinned_pool.h"
#include "backends/openvino/binding.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "core/backend.h"
#include "engine/run/device_engine.h"

namespace proa::backends::cuda {

// The graph's ends as an instance needs them; sizes are those of the largest bucket.
struct GraphEnds {
  openvino::Binding binding;             // which of the graph's inputs and outputs clients see
  std::int64_t largest = 1;              // rows
  std::vector<std::size_t> input_bytes;  // by port
  std::vector<std::size_t> output_bytes;
  std::vector<Shape> output_shapes;  // kAny in front = the batch
};

// One stream of a GPU with two slots: the inputs of one batch are gathered and copied while the
// other computes. start() queues; the feeder thread gathers into page-locked memory and launches;
// the completion thread waits for the oldest batch (those of one stream end in their order) and
// calls `done`. A batch that a single request in page-locked memory fills is not gathered.
// Threading: as core::Instance.
class CudaInstance final : public core::Instance {
 public:
  static constexpr int kSlots = 2;

  struct Options {
    std::string name;
    int device = 0;
    engine::DeviceEngine* engine = nullptr;          // outlives it
    const GraphEnds* ends = nullptr;                 // outlives it
    std::shared_ptr<DeviceHealth> health;            // of its device
    std::vector<std::shared_ptr<PinnedPool>> pools;  // of its device, for outputs, by port
    const Clock* clock = &steady_clock();
  };

  // Errors: kResourceExhausted when page-locked memory or threads run out.
  static Result<std::unique_ptr<CudaInstance>> create(std::unique_ptr<engine::DeviceStream> stream,
                                                      const Options& options);
  ~CudaInstance() override;

  void start(std::unique_ptr<core::Batch> batch, Done done) override;
  int max_in_flight() const override { return kSlots; }
  bool usable() const override { return !options_.health->failed(); }

 private:
  struct Work {
    std::unique_ptr<core::Batch> batch;
    Done done;
    std::vector<Buffer> inputs;   // own page-locked memory, by port
    std::vector<Buffer> outputs;  // of this batch, by port
    std::vector<Buffer> held;     // requests' buffers that the device reads in place
  };

  CudaInstance(std::unique_ptr<engine::DeviceStream> stream, const Options& options)
      : options_(options), stream_(std::move(stream)) {}
  Status allocate();
  void feed() PROA_EXCLUDES(mutex_);
  void complete() PROA_EXCLUDES(mutex_);
  // Gathers and launches the slot's batch.
  Status launch(int slot);
  std::span<const std::byte> input_of(Work& work, std::size_t input);
  void take_outputs(Work& work);
  void finish(int slot, Status status) PROA_EXCLUDES(mutex_);

  const Options options_;
  const std::unique_ptr<engine::DeviceStream> stream_;
  // A slot is used by `start`, the feeder, then the completion thread, one after the other.
  std::array<Work, kSlots> slots_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<int> free_ PROA_GUARDED_BY(mutex_);
  std::deque<int> queued_ PROA_GUARDED_BY(mutex_);    // for the feeder
  std::deque<int> launched_ PROA_GUARDED_BY(mutex_);  // for the completion thread
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::thread feeder_, completer_;
};

}  // namespace proa::backends::cuda
