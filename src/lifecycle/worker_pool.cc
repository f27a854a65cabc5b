#include "lifecycle/worker_pool.h"

#include "base/thread.h"

namespace proa::lifecycle {

WorkerPool::WorkerPool(std::string name, int max_threads)
    : name_(std::move(name)), most_(max_threads) {
  MutexLock lock(mutex_);
  threads_.push_back(start_thread(name_, [this] { run(); }));
}

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    std::swap(threads, threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::post(Job job) {
  MutexLock lock(mutex_);
  jobs_.push_back(std::move(job));
  // A job that posts another while the pool ends runs it itself.
  const bool may_start = !stopping_ && static_cast<int>(threads_.size()) < most_;
  if (may_start && static_cast<int>(jobs_.size()) > idle_) {
    auto thread = try_start_thread(name_, [this] { run(); });
    if (thread) threads_.push_back(*std::move(thread));  // else those that there are do it
  }
  changed_.notify_one();
}

void WorkerPool::allow(int more) {
  MutexLock lock(mutex_);
  most_ += more;
  changed_.notify_all();
}

void WorkerPool::run() {
  MutexLock lock(mutex_);
  while (true) {
    while (jobs_.empty() || running_ >= most_) {
      if (stopping_ && jobs_.empty()) return;
      ++idle_;
      changed_.wait(mutex_);
      --idle_;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    --running_;
    changed_.notify_all();  // who waits to run the next, or for the end
  }
}

}  // namespace proa::lifecycle
