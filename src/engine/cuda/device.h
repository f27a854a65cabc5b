#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cuda/kernels/kernels.h"
#include "engine/graph/graph.h"

namespace proa::engine::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;  // "NVIDIA H200"
  int compute_capability = 0;
  // Everything that tuning results depend on: GPU and library versions.
  std::string environment;
};

// Selects the device for the calling thread and describes it. Errors: kUnavailable when there is
// no driver or device, kNotFound when the index is too large; both say what to do.
Result<DeviceInfo> open_device(int index);

// Of the calling thread's device.
Result<DeviceLimits> device_limits();

// A block of device memory.
class DeviceMemory {
 public:
  // Errors: kResourceExhausted naming `what` needed how much and what is free.
  static Result<DeviceMemory> allocate(std::size_t bytes, std::string_view what);

  DeviceMemory() = default;
  void* data() const { return data_.get(); }
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data_.get()) + offset; }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* data) const { (void)cudaFree(data); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t size_ = 0;
};

struct StreamDeleter {
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<CUstream_st, StreamDeleter>;
Result<Stream> make_stream();

struct EventDeleter {
  void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
};
using Event = std::unique_ptr<CUevent_st, EventDeleter>;
Result<Event> make_event(bool timing);

// Launches recorded once and replayed as one.
class CapturedGraph {
 public:
  // Records what `enqueue` puts on `stream`. It must not wait or allocate.
  static Result<CapturedGraph> capture(cudaStream_t stream,
                                       const std::function<Status(cudaStream_t)>& enqueue);
  Status launch(cudaStream_t stream) const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
  };
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

// The libraries' handles. Threading: confined to one thread at a time.
class Libraries {
 public:
  static Result<std::unique_ptr<Libraries>> create();
  ~Libraries();
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

  cudnnHandle_t cudnn() const { return cudnn_; }
  cublasLtHandle_t cublaslt() const { return cublaslt_; }

 private:
  Libraries() = default;
  cudnnHandle_t cudnn_ = nullptr;
  cublasLtHandle_t cublaslt_ = nullptr;
};

// The constants of a model on one device: each once for every type that kernels want of it, shared
// by all batch sizes and streams, and with other models of the process that hold the same bytes
// (other versions, other shapes of one network). Threading: confined to the thread that loads the
// model; the device pointers it gave out are good on every thread, as long as it lives.
class ConstantStore {
 public:
  // The device copy of a constant as `type`. Errors: those of DeviceMemory.
  Result<const void*> get(const Value& value, DataType type);
  std::size_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<const std::byte*, DataType>, std::shared_ptr<const DeviceMemory>> copies_;
  std::size_t bytes_ = 0;
};

}  // namespace proa::engine::cuda
