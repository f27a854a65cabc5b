#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Lock annotations: clang's -Wthread-safety checks them (preset `analyze`), g++ ignores them.
// Source: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define PROA_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PROA_THREAD_ANNOTATION(x)
#endif
#define PROA_CAPABILITY(x) PROA_THREAD_ANNOTATION(capability(x))
#define PROA_SCOPED_CAPABILITY PROA_THREAD_ANNOTATION(scoped_lockable)
#define PROA_GUARDED_BY(x) PROA_THREAD_ANNOTATION(guarded_by(x))
#define PROA_PT_GUARDED_BY(x) PROA_THREAD_ANNOTATION(pt_guarded_by(x))
#define PROA_REQUIRES(...) PROA_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define PROA_EXCLUDES(...) PROA_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define PROA_ACQUIRE(...) PROA_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define PROA_RELEASE(...) PROA_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define PROA_NO_THREAD_SAFETY_ANALYSIS PROA_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace proa {

// The only mutex of the project. Never held over a callback, I/O or a model's execution.
class PROA_CAPABILITY("mutex") Mutex {
 public:
  void lock() PROA_ACQUIRE() { mutex_.lock(); }
  void unlock() PROA_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex for a scope. unlock() and lock() open a gap in it, for work that must not be done
// under the lock.
class PROA_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PROA_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() PROA_RELEASE() {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() PROA_RELEASE() {
    held_ = false;
    mutex_.unlock();
  }
  void lock() PROA_ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

// A condition variable for Mutex. Callers loop over their condition themselves.
class CondVar {
 public:
  void wait(Mutex& mutex) PROA_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // Returns at `when` at the latest.
  void wait_until(Mutex& mutex, std::chrono::steady_clock::time_point when) PROA_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait_until(lock, when);
    lock.release();
  }
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace proa
