#pragma once

#include <functional>
#include <map>

#include "base/mutex.h"
#include "engine/run/host_engine.h"

namespace proa::backends::cuda::testing {

// The host's engine with hands on it: tests say when work ends and what fails.
// Threading: thread-safe.
class PuppetEngine final : public engine::DeviceEngine {
 public:
  explicit PuppetEngine(int devices = 1) : host_(engine::make_host_engine(devices)) {}

  Status count_error;                  // what device_count() answers, if anything
  Status load_error;                   // what load() answers, if anything
  Status stream_error;                 // what make_stream() answers, if anything
  std::function<void()> on_load;       // called by load(), if set
  engine::DeviceMemoryUse memory_use;  // what memory() answers
  std::size_t pinned_left = 1 << 30;   // bytes until allocate_pinned() fails
  std::vector<engine::DeviceModelOptions> loads;

  // From now on the work of that device fails in wait().
  void break_device(int device, Error error) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    broken_[device] = std::move(error);
  }
  // wait() blocks until release().
  void hold() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_ = true;
  }
  void release() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  // Blocks until that many batches have been started in all.
  void wait_for_starts(int count) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (starts_ < count) changed_.wait(mutex_);
  }

  Result<int> device_count() override {
    if (!count_error) return count_error.error();
    return host_->device_count();
  }
  Result<std::unique_ptr<engine::DeviceModel>> load(
      const engine::Graph& graph, const engine::DeviceModelOptions& options) override {
    loads.push_back(options);
    if (on_load) on_load();
    if (!load_error) return load_error.error();
    PROA_ASSIGN(auto model, host_->load(graph, options));
    return std::make_unique<Model>(*this, options.device, std::move(model));
  }
  Result<engine::DeviceMemoryUse> memory(int) override { return memory_use; }
  Result<Buffer> allocate_pinned(int, std::size_t bytes) override {
    if (bytes > pinned_left) return error::resource_exhausted("no page-locked memory is left");
    pinned_left -= bytes;
    auto* data = new std::byte[bytes];
    return Buffer::wrap(data, bytes, [data] { delete[] data; }, MemoryKind::kHostPinned);
  }

 private:
  class Stream final : public engine::DeviceStream {
   public:
    Stream(PuppetEngine& puppet, int device, std::unique_ptr<engine::DeviceStream> host)
        : puppet_(puppet), device_(device), host_(std::move(host)) {}
    Status start(int slot, std::int64_t batch, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs) override {
      Status status = host_->start(slot, batch, inputs, outputs);
      puppet_.started();
      return status;
    }
    Status wait(int) override { return puppet_.wait_for(device_); }
    std::size_t bytes() const override { return host_->bytes(); }

   private:
    PuppetEngine& puppet_;
    const int device_;
    std::unique_ptr<engine::DeviceStream> host_;
  };
  class Model final : public engine::DeviceModel {
   public:
    Model(PuppetEngine& puppet, int device, std::unique_ptr<engine::DeviceModel> host)
        : puppet_(puppet), device_(device), host_(std::move(host)) {}
    Result<std::unique_ptr<engine::DeviceStream>> make_stream(int slots) const override {
      if (!puppet_.stream_error) return puppet_.stream_error.error();
      PROA_ASSIGN(auto stream, host_->make_stream(slots));
      return std::make_unique<Stream>(puppet_, device_, std::move(stream));
    }
    std::size_t constant_bytes() const override { return host_->constant_bytes(); }
    std::string report() const override { return host_->report(); }

   private:
    PuppetEngine& puppet_;
    const int device_;
    std::unique_ptr<engine::DeviceModel> host_;
  };

  void started() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++starts_;
    changed_.notify_all();
  }
  Status wait_for(int device) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (held_) changed_.wait(mutex_);
    const auto broken = broken_.find(device);
    if (broken != broken_.end()) return broken->second;
    return {};
  }

  std::unique_ptr<engine::DeviceEngine> host_;
  Mutex mutex_;
  CondVar changed_;
  bool held_ PROA_GUARDED_BY(mutex_) = false;
  int starts_ PROA_GUARDED_BY(mutex_) = 0;
  std::map<int, Error> broken_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::cuda::testing
