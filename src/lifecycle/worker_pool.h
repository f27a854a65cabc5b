#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace proa::lifecycle {

// Threads that run jobs in the order they were given. Each thread starts with the first job that
// finds none idle. Jobs may block.
//
// The destructor runs what was given before it, to the end.
// Threading: thread-safe.
class WorkerPool {
 public:
  using Job = std::move_only_function<void()>;

  // `name` is what the operating system shows of a thread.
  WorkerPool(std::string name, int max_threads)
      : name_(std::move(name)), max_threads_(max_threads) {}
  ~WorkerPool();

  void post(Job job) PROA_EXCLUDES(mutex_);

 private:
  void run() PROA_EXCLUDES(mutex_);

  const std::string name_;
  const int max_threads_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ PROA_GUARDED_BY(mutex_);
  int idle_ PROA_GUARDED_BY(mutex_) = 0;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::lifecycle
