#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "loadgen/measure/stability.h"
#include "loadgen/run/server_statistics.h"
#include "loadgen/run/worker.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

struct PassOptions {
  WorkerOptions worker;  // of every worker; load and place are filled in
  int max_threads = 1;
  Duration interval = std::chrono::seconds(5);
  // > 0: a window ends with so many answers and failures, after a second at least and ten intervals
  // at most.
  std::uint64_t window_requests = 0;
  StabilityRule rule;
  int max_windows = 10;
};

class PassBuilder;

// Tells, after each window, whether a pass has seen enough; without it three windows must agree.
using PassVerdict = std::function<bool(const Pass& so_far)>;

// Runs passes: one load for as many windows as it takes.
// Threading: confined to one thread; `stop` may be set from anywhere, a signal handler included.
class PassRunner {
 public:
  // `statistics` may be null. All must outlive the runner.
  PassRunner(const PassOptions& options, StatisticsSource* statistics,
             const std::atomic<bool>& stop, std::function<void(const Progress&)> progress);

  // The pass, with whatever happened in it. Of a load with an end (stages, a number of requests)
  // all windows count. Errors: the process cannot make threads or event loops.
  Result<Pass> run(const Load& load, const PassVerdict& verdict = nullptr);

  const PassOptions& options() const { return options_; }

 private:
  std::optional<ServerSnapshot> take_snapshot();
  bool collect(const Load& load, const PassVerdict& verdict, SliceBoard& board,
               PassBuilder& builder, int threads);
  bool is_over(const Load& load, const PassBuilder& builder) const;
  void report_progress(const Load& load, const PassBuilder& builder) const;

  const PassOptions options_;
  StatisticsSource* const statistics_;
  const std::atomic<bool>& stop_;
  const std::function<void(const Progress&)> progress_;
};

}  // namespace proa::loadgen
