#pragma once

#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// Figures of this process and its machine from /proc and the cgroup: memory, processor time, open
// files, threads, processor utilisation since the last call, throttled time.
// Threading: thread-safe.
class ProcessMeter {
 public:
  std::vector<prometheus::MetricFamily> collect() PROA_EXCLUDES(mutex_);

 private:
  // The machine's busy share (0..1) since the last call.
  double cpu_utilization() PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  double busy_ticks_ PROA_GUARDED_BY(mutex_) = 0;
  double all_ticks_ PROA_GUARDED_BY(mutex_) = 0;
};

}  // namespace proa::observe
