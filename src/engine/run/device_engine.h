#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/graph.h"
#include "tensor/buffer.h"

namespace proa::engine {

// The border between a server and whatever computes plans: the GPU (libproa_cuda.so, see
// load_library.h) or plain loops on the host (host_engine.h). Both run the same graphs under the
// same contract, so what sits above is tested without a GPU.

struct DeviceModelOptions {
  int device = 0;
  std::vector<std::int64_t> buckets = {1};  // batch sizes that get plans of their own
  std::filesystem::path tuning_cache;       // read before and written after; empty: neither
  // Steps that the cache does not know: true times every candidate, false takes the first that
  // builds and runs, and keeps no result.
  bool time_candidates = true;
  int build_threads = 4;
  // Told about each bucket that is ready, on the loading thread; may be empty.
  std::function<void(const std::string& line)> progress;
};

// An instance's share of a model: its activations and `slots` sets of inputs and outputs. What was
// started on different slots runs in the order of the starts, copies beside computation.
// Threading: start() is called by one thread at a time, wait() too; the two may differ.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;  // nothing is under way

  // Begins with `batch` rows (1 to the largest bucket) of each graph input; outputs are written
  // until wait() returns, host memory must stay until then. Rows that fill up a bucket hold old
  // numbers and are thrown away. Errors: kInvalidArgument when sizes or batch do not fit,
  // kUnavailable when the device failed, for good.
  virtual Status start(int slot, std::int64_t batch,
                       std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs) = 0;
  // Waits until what was started on the slot has its outputs. Errors: kUnavailable when the device
  // failed, for good.
  virtual Status wait(int slot) = 0;
  // Device memory that it holds.
  virtual std::size_t bytes() const = 0;
};

// A network on one device: a plan for each bucket over one copy of the weights.
// Threading: immutable.
class DeviceModel {
 public:
  virtual ~DeviceModel() = default;  // its streams are gone
  // Errors: kResourceExhausted naming what needed how much memory.
  virtual Result<std::unique_ptr<DeviceStream>> make_stream(int slots) const = 0;
  virtual std::size_t constant_bytes() const = 0;
  // For people: the kernel chosen for each step of each bucket, and the memory.
  virtual std::string report() const = 0;
};

// Of a whole device, whoever holds it.
struct DeviceMemoryUse {
  std::size_t used = 0;
  std::size_t total = 0;
};

// All devices of one kind. Threading: thread-safe; loads may run side by side.
class DeviceEngine {
 public:
  virtual ~DeviceEngine() = default;
  // How many devices there are, at least one. Errors: kUnavailable saying what to install.
  virtual Result<int> device_count() = 0;
  // `graph` has been through the passes. A graph whose rows depend on each other gets exactly one
  // bucket, its own size. Errors: kUnavailable, kResourceExhausted and kUnimplemented with what was
  // needed; kNotFound for a device that is not there.
  virtual Result<std::unique_ptr<DeviceModel>> load(const Graph& graph,
                                                    const DeviceModelOptions& options) = 0;
  // Errors: kNotFound for a device that is not there.
  virtual Result<DeviceMemoryUse> memory(int device) = 0;
  // Host memory that all devices copy from and to without staging it, allocated by way of one that
  // is in use. Errors: kResourceExhausted.
  virtual Result<Buffer> allocate_pinned(int device, std::size_t bytes) = 0;
};

}  // namespace proa::engine
