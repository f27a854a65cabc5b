#pragma once

#include <cstdint>
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

  // See WorkerPool::allow.
  void allow(int more) { pool_.allow(more); }

  // `afterwards`, unless null, runs on the same thread when the job no longer counts: what it
  // tells others to post comes right after the jobs that are there.
  void post(const std::string& key, Job job, Job afterwards = nullptr) PROA_EXCLUDES(mutex_);
  // For a job of post(), while it runs: it keeps its place and is run again after resume(). Those
  // behind it wait until then; no thread does. What is never resumed goes with the destructor.
  void hold(const std::string& key) PROA_EXCLUDES(mutex_);
  // Once for each hold(), as soon as that has returned.
  void resume(const std::string& key) PROA_EXCLUDES(mutex_);
  // Runs a short job on the caller's thread when no other of its key is there; else as post().
  void run_or_post(const std::string& key, Job job) PROA_EXCLUDES(mutex_);
  // Runs a short job whose turn does not matter: on the caller's thread when none of its key runs,
  // whatever waits; else right after the one that does.
  void run_between(const std::string& key, Job job) PROA_EXCLUDES(mutex_);

 private:
  struct Entry {
    Job job;
    Job afterwards;
  };
  enum class Hold : std::uint8_t {
    kNone,
    kAsked,    // somebody runs a job of the key still
    kHeld,     // nobody does: the first entry holds its place, or waits for a thread
    kResumed,  // while somebody ran one
  };
  struct Line {
    std::deque<Entry> entries;
    std::deque<Job> between;
    Hold hold = Hold::kNone;
  };

  // Runs the line's jobs, or leaves that to him who runs one between them just now.
  void begin(const std::string& key) PROA_EXCLUDES(mutex_);
  // Runs jobs of the key until there are none.
  void drain(const std::string& key) PROA_EXCLUDES(mutex_);
  Entry take(const std::string& key) PROA_EXCLUDES(mutex_);
  // Puts the job back that has run, if it asked for that.
  bool put_back(const std::string& key, Entry& entry) PROA_EXCLUDES(mutex_);
  // For him whose job has ended: runs those between; then whether there is a next one, for him
  // (kNone) or for a thread that is to come (kHeld).
  bool go_on(const std::string& key, Hold next) PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  // A line: somebody runs jobs of that key, or one is held; those that wait for it.
  std::map<std::string, Line> waiting_ PROA_GUARDED_BY(mutex_);
  WorkerPool pool_;  // last: its jobs use everything above
};

}  // namespace proa::lifecycle
