#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace proa::core {

// Destroys models on a thread of its own ("proa-reaper"). The last reference to a model may be
// dropped anywhere: on an event loop, which must not wait, or inside a completion on the model's
// own instance thread, which cannot wait for itself.
//
// The destructor waits until every model that uses the reaper is gone, wherever its last reference
// is. Threading: thread-safe.
class Reaper {
 public:
  using Job = std::move_only_function<void()>;

  // `afterwards`, unless null, is called on the reaper's thread when models were destroyed and no
  // other waits for it: the moment to give their memory back to the system.
  explicit Reaper(std::function<void()> afterwards = nullptr);
  ~Reaper();

  // Announces a destroy() to come.
  void expect() PROA_EXCLUDES(mutex_);
  // Runs `job` soon, after the ones given before. One for each expect().
  void destroy(Job job) PROA_EXCLUDES(mutex_);

 private:
  void run() PROA_EXCLUDES(mutex_);

  const std::function<void()> afterwards_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ PROA_GUARDED_BY(mutex_);
  std::size_t expected_ PROA_GUARDED_BY(mutex_) = 0;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace proa::core
