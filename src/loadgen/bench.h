#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "loadgen/questions/find_max.h"
#include "loadgen/questions/question.h"
#include "loadgen/run/pass_runner.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// Loads of one shape from first to last; the largest that keeps the bound is searched.
struct BinarySearchPlan {
  Load shape;
  double first = 1;
  double last = 1;
  double step = 1;
};

// A whole run: exactly one of `loads`, `binary_search` and `find_max` is given.
struct BenchPlan {
  PassOptions pass;
  std::vector<Load> loads;
  std::optional<BinarySearchPlan> binary_search;
  std::optional<FindMaxOptions> find_max;
  LatencyBound bound;                 // of the question; 0: none
  std::uint64_t warmup_requests = 0;  // before each pass, not measured
};

struct BenchHooks {
  std::function<void(const Progress&)> progress;  // several times a second; may be null
  std::function<void(const Pass&)> pass_ended;    // may be null
};

// Runs the plan: fills in passes, conclusions, warnings, times and `interrupted` of `result`; what
// is under load is the caller's to fill in. When `stop` is set it ends soon, with what it has.
// `statistics` may be null.
// Errors: the process cannot make threads or event loops; `result` then holds the passes so far.
Status run_bench(const BenchPlan& plan, StatisticsSource* statistics, const std::atomic<bool>& stop,
                 const BenchHooks& hooks, RunResult& result);

}  // namespace proa::loadgen
