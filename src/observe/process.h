#pragma once

#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// Figures of the machine, of this process and of its container, from /proc and the control groups.
// Threading: thread-safe.
class ProcessMeter {
 public:
  // The machine's utilisation is measured over at least `interval`: looks that are closer together
  // give the same figure, so that several scrapers do not disturb each other. `clock` outlives it.
  ProcessMeter(Duration interval, const Clock& clock);

  // Triton's nv_cpu_*.
  std::vector<prometheus::MetricFamily> machine() PROA_EXCLUDES(mutex_);
  // process_* under the names that Prometheus' client libraries use, the container's limits, and
  // Triton's nv_pinned_memory_pool_*.
  std::vector<prometheus::MetricFamily> process() const;

 private:
  // Processor time of the machine since its start, in ticks.
  struct Ticks {
    double busy = 0;
    double all = 0;
  };
  static Ticks read_ticks();

  // The machine's busy share (0..1) over the last interval.
  double cpu_utilization() PROA_EXCLUDES(mutex_);

  const Duration interval_;
  const Clock& clock_;
  Mutex mutex_;
  Ticks ticks_ PROA_GUARDED_BY(mutex_);             // at the begin of the interval
  TimePoint began_ PROA_GUARDED_BY(mutex_);         // when that was
  double utilization_ PROA_GUARDED_BY(mutex_) = 0;  // of the interval before
  bool measured_ PROA_GUARDED_BY(mutex_) = false;   // whether there was one
};

}  // namespace proa::observe
