#include "lifecycle/worker_pool.h"

#include "base/thread.h"

namespace proa::lifecycle {

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
  const bool may_start = !stopping_ && static_cast<int>(threads_.size()) < max_threads_;
  if (may_start && static_cast<int>(jobs_.size()) > idle_) {
    threads_.push_back(start_thread(name_, [this] { run(); }));
  } else {
    changed_.notify_one();
  }
}

void WorkerPool::run() {
  MutexLock lock(mutex_);
  while (true) {
    while (jobs_.empty()) {
      if (stopping_) return;
      ++idle_;
      changed_.wait(mutex_);
      --idle_;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace proa::lifecycle
