// What libproa_cuda.so shows: the engine behind run/device_engine.h.
#include "base/mutex.h"
#include "engine/cuda/model.h"
#include "engine/cuda/status.h"
#include "engine/run/load_library.h"

namespace proa::engine::cuda {
namespace {

class CudaStreamAdapter final : public DeviceStream {
 public:
  explicit CudaStreamAdapter(std::unique_ptr<ModelStream> stream) : stream_(std::move(stream)) {}
  Status start(int slot, std::int64_t batch, std::span<const std::span<const std::byte>> inputs,
               std::span<const std::span<std::byte>> outputs) override {
    return stream_->start(slot, batch, inputs, outputs);
  }
  Status wait(int slot) override { return stream_->wait(slot); }
  std::size_t bytes() const override { return stream_->bytes(); }

 private:
  std::unique_ptr<ModelStream> stream_;
};

class CudaModelAdapter final : public DeviceModel {
 public:
  explicit CudaModelAdapter(std::unique_ptr<CudaModel> model) : model_(std::move(model)) {}
  Result<std::unique_ptr<DeviceStream>> make_stream(int slots) const override {
    PROA_ASSIGN(auto stream, model_->create_stream(slots));
    return std::make_unique<CudaStreamAdapter>(std::move(stream));
  }
  std::size_t constant_bytes() const override { return model_->constant_bytes(); }
  std::string report() const override { return model_->report(); }

 private:
  std::unique_ptr<CudaModel> model_;
};

class CudaEngine final : public DeviceEngine {
 public:
  Result<int> device_count() override {
    int count = 0;
    PROA_CUDA(cudaGetDeviceCount(&count));
    return count;
  }
  Result<std::unique_ptr<DeviceModel>> load(const Graph& graph,
                                            const DeviceModelOptions& options) override {
    ModelOptions mine;
    mine.device = options.device;
    mine.buckets = options.buckets;
    mine.tuning_cache = options.tuning_cache;
    mine.tuner.time_candidates = options.time_candidates;
    mine.tuner.threads = options.build_threads;
    mine.progress = options.progress;
    // Nothing is timed and kept: plans of new shapes do not wait for others' minutes of tuning.
    if (!options.time_candidates) return load_now(graph, mine);
    // One after the other: timings must not disturb each other, and all share one tuning cache.
    const MutexLock turn(load_turn_);
    return load_now(graph, mine);
  }
  Result<DeviceMemoryUse> memory(int device) override {
    PROA_TRY(open_device(device));
    std::size_t free = 0, total = 0;
    PROA_CUDA(cudaMemGetInfo(&free, &total));
    return DeviceMemoryUse{total - free, total};
  }
  Result<Buffer> allocate_pinned(int device, std::size_t bytes) override {
    PROA_CUDA(cudaSetDevice(device));
    void* data = nullptr;
    PROA_CUDA(cudaHostAlloc(&data, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable));
    return Buffer::wrap(
        static_cast<std::byte*>(data), bytes, [data] { (void)cudaFreeHost(data); },
        MemoryKind::kHostPinned);
  }

 private:
  static Result<std::unique_ptr<DeviceModel>> load_now(const Graph& graph,
                                                       const ModelOptions& options) {
    PROA_ASSIGN(auto model, CudaModel::load(graph, options));
    return std::make_unique<CudaModelAdapter>(std::move(model));
  }

  Mutex load_turn_;
};

}  // namespace
}  // namespace proa::engine::cuda

extern "C" __attribute__((visibility("default"))) proa::engine::DeviceEngine* proa_device_engine(
    int interface) {
  static proa::engine::cuda::CudaEngine engine;
  return interface == proa::engine::kEngineInterface ? &engine : nullptr;
}
