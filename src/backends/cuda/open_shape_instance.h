#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/cuda_loaded_model.h"
#include "base/mutex.h"

namespace proa::backends::cuda {

// An instance of a model with open extents: an instance of each shape that it keeps. Batches of a
// known shape are started at once; for a new one its builder thread makes the plans first.
// Threading: as core::Instance.
class OpenShapeInstance final : public core::Instance {
 public:
  struct Options {
    core::InstancePlacement placement;
    bool batches = false;
    std::size_t most_shapes = 1;
    std::shared_ptr<DeviceHealth> health;  // of its device
    std::function<Result<std::shared_ptr<CudaLoadedModel>>(const std::vector<Shape>&)> model_for;
  };
  // Errors: kResourceExhausted when the machine gives no thread.
  static Result<std::unique_ptr<OpenShapeInstance>> create(Options options);
  ~OpenShapeInstance() override;

  void start(std::unique_ptr<core::Batch> batch, Done done) override PROA_EXCLUDES(mutex_);
  int max_in_flight() const override { return CudaInstance::kSlots; }
  bool usable() const override { return !options_.health->failed(); }

 private:
  // A shape with its plans.
  struct Shaped {
    std::shared_ptr<CudaLoadedModel> model;
    std::unique_ptr<core::Instance> instance;
    int in_flight = 0;
    std::uint64_t last_use = 0;
  };
  // A batch of a shape that is not there yet.
  struct Waiting {
    std::unique_ptr<core::Batch> batch;
    Done done;
  };

  explicit OpenShapeInstance(Options options) : options_(std::move(options)) {}
  std::vector<Shape> shapes_of(const core::Batch& batch) const;
  // Starts the batch when its shape is there; gives it back otherwise.
  bool start_known(std::unique_ptr<core::Batch>& batch, Done& done) PROA_EXCLUDES(mutex_);
  void build() PROA_EXCLUDES(mutex_);
  Status add(const std::vector<Shape>& shapes) PROA_EXCLUDES(mutex_);
  Result<std::unique_ptr<Shaped>> make(const std::vector<Shape>& shapes);
  // Drops shapes that nobody uses, the oldest first, until `most` are left. False: more are in use.
  bool drop_idle(std::size_t most) PROA_EXCLUDES(mutex_);

  const Options options_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::unique_ptr<Shaped>> shaped_ PROA_GUARDED_BY(mutex_);
  std::uint64_t uses_ PROA_GUARDED_BY(mutex_) = 0;
  std::deque<Waiting> waiting_ PROA_GUARDED_BY(mutex_);
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  // Shapes that did not fit with all others gone: trying again costs no other its plans. Confined
  // to the builder's thread.
  static constexpr std::size_t kMostTooLarge = 256;
  std::set<std::string> too_large_;
  std::thread builder_;
};

// "[3,64,64] [10]": what shapes are kept and logged by.
std::string shapes_text(const std::vector<Shape>& shapes);

}  // namespace proa::backends::cuda
