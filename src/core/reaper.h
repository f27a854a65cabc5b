#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace proa::core {

// Destroys models on a thread of its own ("proa-reaper"). The last reference to a model may be
// dropped anywhere: on an event loop, which must not wait, or inside a completion on the model's
// own instance thread, which cannot wait for itself.
//
// Must outlive the models that use it. The destructor finishes what it was given.
// Threading: thread-safe.
class Reaper {
 public:
  using Job = std::move_only_function<void()>;

  Reaper();
  ~Reaper();

  // Runs `job` soon, after the ones given before.
  void post(Job job) PROA_EXCLUDES(mutex_);

 private:
  void run() PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ PROA_GUARDED_BY(mutex_);
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace proa::core
