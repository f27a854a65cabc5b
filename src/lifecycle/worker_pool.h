#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace proa::lifecycle {

// Threads that run jobs in the order they were given. The first starts with the pool; each other
// one with the first job that finds none idle, where the machine gives one. Jobs may block.
//
// The destructor runs what was given before it, to the end.
// Threading: thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  // `name` is what the operating system shows of a thread.
  WorkerPool(std::string name, int max_threads);
  ~WorkerPool();

  void post(Job job) PROA_EXCLUDES(mutex_);
  // That many jobs more (fewer, when negative) run side by side from now on: for as long as one of
  // them waits for another.
  void allow(int more) PROA_EXCLUDES(mutex_);

 private:
  void run() PROA_EXCLUDES(mutex_);

  const std::string name_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ PROA_GUARDED_BY(mutex_);
  int most_ PROA_GUARDED_BY(mutex_);  // jobs that run side by side
  int running_ PROA_GUARDED_BY(mutex_) = 0;
  int idle_ PROA_GUARDED_BY(mutex_) = 0;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::lifecycle
