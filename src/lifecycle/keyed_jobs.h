#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/mutex.h"
#include "lifecycle/worker_pool.h"

namespace proa::lifecycle {

// Jobs with a key: those of one key run one after the other, in the order they were given; those of
// different keys side by side, on the threads of a pool. Jobs may block.
//
// The destructor runs what was given before it, to the end.
// Threading: thread-safe.
class KeyedJobs {
 public:
  using Job = WorkerPool::Job;

  // `name` and `max_threads`: see WorkerPool.
  KeyedJobs(std::string name, int max_threads) : pool_(std::move(name), max_threads) {}

  // `afterwards`, unless null, runs on the same thread when the job no longer counts: what it
  // tells others to post comes right after the jobs that are there.
  void post(const std::string& key, Job job, Job afterwards = nullptr) PROA_EXCLUDES(mutex_);
  // Runs a short job on the caller's thread when no other of its key is there; else as post().
  void run_or_post(const std::string& key, Job job) PROA_EXCLUDES(mutex_);

 private:
  struct Entry {
    Job job;
    Job afterwards;
  };

  // Runs jobs of the key until there are none.
  void drain(const std::string& key) PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  // An entry: somebody runs jobs of that key; those that wait for him.
  std::map<std::string, std::deque<Entry>> waiting_ PROA_GUARDED_BY(mutex_);
  WorkerPool pool_;  // last: its jobs use everything above
};

}  // namespace proa::lifecycle
