#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/cuda/device.h"
#include "engine/cuda/tuner.h"
#include "engine/plan/plan.h"

namespace proa::engine::cuda {

struct ModelOptions {
  int device = 0;
  std::vector<std::int64_t> buckets = {1};  // batch sizes that get graphs of their own, ascending
  std::filesystem::path tuning_cache;       // read before and written after; empty: neither
  TunerOptions tuner;
  std::function<void(const std::string& line)> progress;  // told of each bucket; may be empty
};

class ModelStream;

// A network on one GPU: a plan and its kernels for each batch bucket over one copy of the weights.
// Threading: immutable once loaded.
class CudaModel {
 public:
  // `graph` has been through the passes. A graph that does not batch gets exactly one bucket, its
  // own size. Errors: kUnavailable without a driver or device, kResourceExhausted naming what
  // needed how much memory, kUnimplemented naming a node that nothing can compute.
  static Result<std::unique_ptr<CudaModel>> load(const Graph& graph, const ModelOptions& options);

  // A stream with its own arena, workspace and `slots` sets of input and output buffers. The model
  // must outlive it.
  Result<std::unique_ptr<ModelStream>> create_stream(int slots) const;

  const DeviceInfo& device() const { return device_; }
  std::size_t constant_bytes() const { return constants_.bytes(); }
  // For people: the kernel chosen for each step of each bucket, with its time, and the memory.
  std::string report() const;

  struct Bucket {
    std::int64_t batch = 1;
    Plan plan;
    ChosenKernels kernels;
    std::vector<std::vector<const void*>> constants;  // by step and input; null: not a constant
  };
  std::span<const Bucket> buckets() const { return buckets_; }

 private:
  CudaModel() = default;
  Status add_bucket(const Graph& graph, std::int64_t batch, TuningCache& cache,
                    const TunerOptions& options);

  // One stream is made at a time: it launches and captures kernels, which streams share.
  mutable Mutex streams_;
  DeviceInfo device_;
  std::unique_ptr<Libraries> libraries_;
  ConstantStore constants_;
  std::vector<Bucket> buckets_;
};

// One stream of a model: an instance's GPU side. Work of different slots overlaps its copies with
// the computation of the others; computations follow one another.
// Threading: one thread at a time starts, one at a time waits; they may differ.
class ModelStream {
 public:
  static Result<std::unique_ptr<ModelStream>> create(const CudaModel& model, int slots);
  ~ModelStream();

  // Copies `batch` rows of each input to the device, runs the smallest bucket that holds them and
  // copies the outputs back; returns when all that is under way. Rows that fill up a bucket hold
  // old numbers and are thrown away. Host memory must stay until wait(); only page-locked memory is
  // copied without waiting. Errors: kInvalidArgument when sizes or batch do not fit.
  Status start(int slot, std::int64_t batch, std::span<const std::span<const std::byte>> inputs,
               std::span<const std::span<std::byte>> outputs);
  // Waits until what was started on the slot has its outputs. Errors: kUnavailable when the device
  // failed; it stays so.
  Status wait(int slot);

  // Only the computation, on what lies in the slot: for timing.
  Status launch(std::size_t bucket, int slot);
  cudaStream_t compute_stream() const { return compute_.get(); }
  // Device memory that this stream holds.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Slot {
    std::vector<DeviceMemory> inputs, outputs;  // sized for the largest bucket
    std::vector<CapturedGraph> graphs;          // by bucket
    Event inputs_ready, computed, done;
  };
  explicit ModelStream(const CudaModel& model) : model_(&model) {}
  Result<DeviceMemory> allocate(std::size_t bytes, std::string_view what);
  Status add_slot();
  Status enqueue(const CudaModel::Bucket& bucket, const Slot& slot, cudaStream_t stream);
  std::size_t bucket_for(std::int64_t batch) const;

  const CudaModel* model_;
  std::unique_ptr<Libraries> libraries_;
  Stream copy_in_, compute_, copy_out_;
  DeviceMemory arena_, workspace_;
  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
};

}  // namespace proa::engine::cuda
