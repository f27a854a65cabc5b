#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "loadgen/clients/client.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// How much processor a thread has used, and how long it was ready to run but did not get one.
struct ThreadUsage {
  Duration used{0};
  Duration waited{0};

  // Of the calling thread.
  static ThreadUsage now();
};

// What one worker saw within one stretch of the pass. Slices of all workers have the same borders.
// Threading: a plain value.
struct Slice {
  Slice(std::size_t models, std::uint32_t number) : index(number), models(models) {}

  std::uint32_t index = 0;  // 0, 1, ... since the pass's start
  std::vector<ModelPass> models;
  LatencyHistogram lateness;
  std::map<std::string, ErrorGroup> errors;
  std::vector<RequestRecord> requests;
  std::uint64_t in_flight = 0;  // at its end
  ThreadUsage usage;            // within it
  Duration last_done{0};        // since the pass's start; 0: nothing was done
  Duration busiest{0};          // what the busiest thread used within it

  Counts counts() const;
  // An exchange has ended; `inferences` is how many it stood for.
  void record_done(const Exchange& exchange, std::uint64_t inferences, Duration late_bound);
  void add_errors(const ErrorGroup& group);
  // Adds what another worker saw at the same time.
  void merge(const Slice& other);
  // Adds what the same workers saw next.
  void append(const Slice& later);
};

// Where workers leave their finished slices and the run collects them: one lock a slice and worker,
// none on the path of requests.
// Threading: thread-safe.
class SliceBoard {
 public:
  explicit SliceBoard(int workers) : workers_(workers) {}

  void put(Slice slice) PROA_EXCLUDES(mutex_);
  // No further slice comes from one worker.
  void close() PROA_EXCLUDES(mutex_);

  // Waits until every worker has left slice `index`, or all are closed, or `until` has come. The
  // sum of what was left; nothing when no worker, or not every one that is open, has.
  std::optional<Slice> take(std::uint32_t index, TimePoint until) PROA_EXCLUDES(mutex_);
  // Whatever is still there, oldest first; nothing when that is all.
  std::optional<Slice> take_any() PROA_EXCLUDES(mutex_);

 private:
  struct Sum {
    Slice slice;
    int parts = 0;
  };

  const int workers_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::uint32_t, Sum> sums_ PROA_GUARDED_BY(mutex_);
  int closed_ PROA_GUARDED_BY(mutex_) = 0;
};

}  // namespace proa::loadgen
