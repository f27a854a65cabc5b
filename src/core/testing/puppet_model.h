#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "core/backend.h"

namespace proa::core {

// Gives output i the bytes, type and shape of input i.
inline void echo_inputs(Batch& batch) {
  const std::size_t inputs = batch.requests()[0]->inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) {
    if (!batch.has_input(i)) continue;
    if (const Tensor* single = batch.single_input(i)) {
      batch.set_output(i, *single);
      continue;
    }
    Buffer gathered = Buffer::allocate(batch.input_bytes(i));
    batch.gather(i, gathered.bytes());
    batch.set_output(i, Tensor{batch.requests()[0]->inputs[i].type, batch.input_shape(i),
                               BufferView(std::move(gathered))});
  }
}

// Holds the batches that PuppetInstances were given until the test says how they end.
// Threading: thread-safe.
class Puppet {
 public:
  std::size_t running() const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return held_.size();
  }

  // The requests' ids of the n-th running batch, oldest first: "a b".
  std::string ids(std::size_t n) const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::string text;
    if (n >= held_.size()) return "(no such batch)";
    for (const auto& request : held_[n].batch->requests()) {
      text += (text.empty() ? "" : " ") + request->id;
    }
    return text;
  }

  CloseReason close_reason(std::size_t n) const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return held_.at(n).batch->close_reason;
  }

  // Ends the n-th running batch: its outputs are its inputs.
  void finish(std::size_t n = 0) {
    Held held = take(n);
    echo_inputs(*held.batch);
    held.done(std::move(held.batch));
  }
  void fail(std::size_t n, Error error) {
    Held held = take(n);
    held.batch->fail(std::move(error));
    held.done(std::move(held.batch));
  }

  void hold(std::unique_ptr<Batch> batch, Instance::Done done) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_.push_back({std::move(batch), std::move(done)});
    came_.notify_all();
  }

  // Blocks until that many batches are running.
  void wait_for(std::size_t count) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (held_.size() < count) came_.wait(mutex_);
  }

 private:
  struct Held {
    std::unique_ptr<Batch> batch;
    Instance::Done done;
  };

  Held take(std::size_t n) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    PROA_CHECK(n < held_.size(), "the test ends a batch that runs");
    Held held = std::move(held_[n]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(n));
    return held;
  }

  mutable Mutex mutex_;
  CondVar came_;
  std::deque<Held> held_ PROA_GUARDED_BY(mutex_);
};

// An instance that does nothing by itself: its puppet decides when a batch ends, on the test's
// thread. The puppet must outlive it.
class PuppetInstance final : public Instance {
 public:
  explicit PuppetInstance(Puppet& puppet, int max_in_flight = 1)
      : puppet_(puppet), max_in_flight_(max_in_flight) {}
  void start(std::unique_ptr<Batch> batch, Done done) override {
    ++started_;
    puppet_.hold(std::move(batch), std::move(done));
  }
  int max_in_flight() const override { return max_in_flight_; }
  bool usable() const override { return usable_; }
  void lose() { usable_ = false; }
  int started() const { return started_; }

 private:
  Puppet& puppet_;
  std::atomic<bool> usable_ = true;
  std::atomic<int> started_ = 0;
  const int max_in_flight_;
};

// An instance that echoes its inputs before start() returns.
class EchoInstance final : public Instance {
 public:
  void start(std::unique_ptr<Batch> batch, Done done) override {
    echo_inputs(*batch);
    done(std::move(batch));
  }
};

// A loaded model whose instances echo.
class EchoModel final : public LoadedModel {
 public:
  explicit EchoModel(Execution execution) : execution_(execution) {}
  Execution execution() const override { return execution_; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<EchoInstance>();
  }

 private:
  const Execution execution_;
};

}  // namespace proa::core
