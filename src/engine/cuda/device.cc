#include "engine/cuda/device.h"

#include <algorithm>
#include <tuple>

#include "base/mutex.h"
#include "engine/cuda/status.h"
#include "fmt/core.h"

namespace proa::engine::cuda {

// Counts changes of our own kernels that make them faster or their variants mean something else:
// results of another set are found anew.
constexpr int kKernelSet = 5;

Result<DeviceInfo> open_device(int index) {
  int count = 0;
  PROA_CUDA(cudaGetDeviceCount(&count));
  if (index < 0 || index >= count) {
    return error::not_found("GPU {} was asked for; this machine shows {} (CUDA_VISIBLE_DEVICES)",
                            index, count);
  }
  PROA_CUDA(cudaSetDevice(index));
  cudaDeviceProp properties;
  PROA_CUDA(cudaGetDeviceProperties(&properties, index));
  if (properties.major < 8) {
    return error::unimplemented(
        "GPU {} ({}) has compute capability {}.{}; the engine's kernels need 8.0 (A100, RTX 30) or "
        "later",
        index, properties.name, properties.major, properties.minor);
  }
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.compute_capability = properties.major * 10 + properties.minor;
  info.environment = fmt::format("{} cudnn {} cublaslt {} kernels {}", info.name, cudnnGetVersion(),
                                 cublasLtGetVersion(), kKernelSet);
  return info;
}

Result<DeviceLimits> device_limits() {
  int device = 0, multiprocessors = 0, shared_bytes = 0;
  PROA_CUDA(cudaGetDevice(&device));
  PROA_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PROA_CUDA(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return DeviceLimits{multiprocessors, static_cast<std::size_t>(shared_bytes)};
}

Result<DeviceMemory> DeviceMemory::allocate(std::size_t bytes, std::string_view what) {
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return out_of_memory_error(
        fmt::format("{} needs {:.1f} MiB", what, static_cast<double>(bytes) / (1 << 20)));
  }
  PROA_CUDA(code);
  DeviceMemory memory;
  memory.data_.reset(data);
  memory.size_ = bytes;
  return memory;
}

Result<Stream> make_stream() {
  cudaStream_t stream = nullptr;
  PROA_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Result<Event> make_event(bool timing) {
  cudaEvent_t event = nullptr;
  // Who waits for the end of a batch sleeps; spinning would take a core from the front end.
  const unsigned flags = timing ? cudaEventDefault : cudaEventDisableTiming | cudaEventBlockingSync;
  PROA_CUDA(cudaEventCreateWithFlags(&event, flags));
  return Event(event);
}

Result<CapturedGraph> CapturedGraph::capture(cudaStream_t stream,
                                             const std::function<Status(cudaStream_t)>& enqueue) {
  PROA_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const Status status = enqueue(stream);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  const std::unique_ptr<CUgraph_st, decltype([](cudaGraph_t g) { (void)cudaGraphDestroy(g); })>
      owner(graph);
  PROA_TRY(status);
  PROA_CUDA(ended);
  cudaGraphExec_t executable = nullptr;
  PROA_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CapturedGraph captured;
  captured.executable_.reset(executable);
  return captured;
}

Status CapturedGraph::launch(cudaStream_t stream) const {
  PROA_CUDA(cudaGraphLaunch(executable_.get(), stream));
  return {};
}

Result<std::unique_ptr<Libraries>> Libraries::create() {
  std::unique_ptr<Libraries> libraries(new Libraries);
  PROA_CUDNN(cudnnCreate(&libraries->cudnn_));
  PROA_CUBLAS(cublasLtCreate(&libraries->cublaslt_));
  return libraries;
}

Libraries::~Libraries() {
  if (cudnn_ != nullptr) (void)cudnnDestroy(cudnn_);
  if (cublaslt_ != nullptr) (void)cublasLtDestroy(cublaslt_);
}

namespace {

// What lies on the devices for all models of the process. Threading: thread-safe.
class SharedConstants {
 public:
  // A copy of `bytes` on the current device: one that is there already, or a new one.
  Result<std::shared_ptr<const DeviceMemory>> get(std::span<const std::byte> bytes)
      PROA_EXCLUDES(mutex_) {
    int device = 0;
    PROA_CUDA(cudaGetDevice(&device));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const Key key{device, bytes.size(), std::hash<std::string_view>()(text)};
    MutexLock lock(mutex_);
    std::erase_if(copies_, [](const auto& each) { return each.second.expired(); });
    for (auto [at, end] = copies_.equal_range(key); at != end; ++at) {
      std::shared_ptr<const DeviceMemory> known = at->second.lock();
      if (known == nullptr) continue;
      PROA_ASSIGN(const bool same, holds(*known, bytes));
      if (same) return known;
    }
    PROA_ASSIGN(DeviceMemory memory,
                DeviceMemory::allocate(bytes.size(), "a constant of the model"));
    PROA_CUDA(cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    // It may still be on its way, and streams of models do not wait for the default one.
    PROA_CUDA(cudaStreamSynchronize(nullptr));
    auto made = std::make_shared<const DeviceMemory>(std::move(memory));
    copies_.emplace(key, made);
    return made;
  }

 private:
  using Key = std::tuple<int, std::size_t, std::size_t>;  // device, bytes, hash

  static Result<bool> holds(const DeviceMemory& memory, std::span<const std::byte> bytes) {
    std::vector<std::byte> there(bytes.size());
    PROA_CUDA(cudaMemcpy(there.data(), memory.data(), there.size(), cudaMemcpyDeviceToHost));
    return std::ranges::equal(there, bytes);
  }

  Mutex mutex_;
  std::multimap<Key, std::weak_ptr<const DeviceMemory>> copies_ PROA_GUARDED_BY(mutex_);
};

SharedConstants& shared_constants() {
  static SharedConstants constants;
  return constants;
}

}  // namespace

Result<const void*> ConstantStore::get(const Value& value, DataType type) {
  const std::pair key(value.constant->data(), type);
  if (const auto found = copies_.find(key); found != copies_.end()) return found->second->data();
  const Buffer bytes =
      value.type == type ? *value.constant : pack_floats(type, constant_floats(value));
  PROA_ASSIGN(auto memory, shared_constants().get(bytes.bytes()));
  bytes_ += bytes.size();
  return copies_.emplace(key, std::move(memory)).first->second->data();
}

}  // namespace proa::engine::cuda
