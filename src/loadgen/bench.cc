#include "loadgen/bench.h"

#include <chrono>

#include "fmt/format.h"
#include "loadgen/questions/range.h"
#include "loadgen/run/machine.h"

namespace proa::loadgen {
namespace {

constexpr Duration kTrialWindow = std::chrono::milliseconds(500);
constexpr int kTrialWindows = 40;

// What the passes' figures alone do not tell.
void add_warnings(RunResult& result) {
  std::uint64_t reconnects = 0;
  for (const Pass& pass : result.passes) reconnects += pass.health.reconnects;
  if (reconnects > 0) {
    result.warnings.push_back(
        fmt::format("the server ended {} connections, which were opened again", reconnects));
  }
}

class Bench {
 public:
  Bench(const BenchPlan& plan, StatisticsSource* statistics, const std::atomic<bool>& stop,
        const BenchHooks& hooks, RunResult& result)
      : plan_(plan),
        statistics_(statistics),
        stop_(stop),
        hooks_(hooks),
        result_(result),
        runner_(plan.pass, statistics, stop, hooks.progress) {}

  Status run() {
    const RunPass run_pass = [this](const Load& load, const PassVerdict& verdict) {
      return run_one(runner_, load, verdict);
    };
    if (plan_.find_max) return ask_find_max();
    if (plan_.binary_search) {
      const BinarySearchPlan& search = *plan_.binary_search;
      PROA_ASSIGN(result_.binary_search,
                  run_binary_search(search.shape, search.first, search.last, search.step,
                                    plan_.bound, run_pass, result_.passes));
      if (!result_.binary_search && !stop_.load()) {
        result_.unanswered = true;
        result_.warnings.emplace_back("binary search: no load of the range keeps the threshold");
      }
      return {};
    }
    PROA_TRY(run_range(plan_.loads, plan_.bound, run_pass, result_.passes));
    result_.knee = find_knee(result_.passes);
    if (plan_.bound.bound.count() > 0) result_.goodput = find_goodput(result_.passes, plan_.bound);
    return {};
  }

 private:
  Result<Pass> run_one(PassRunner& runner, const Load& load, const PassVerdict& verdict) {
    if (plan_.warmup_requests > 0) {
      Load warm_up = load;
      warm_up.requests = plan_.warmup_requests;
      PassRunner quiet(plan_.pass, nullptr, stop_, nullptr);
      PROA_TRY(quiet.run(warm_up));
    }
    PROA_ASSIGN(Pass pass, runner.run(load, verdict));
    if (hooks_.pass_ended) hooks_.pass_ended(pass);
    return pass;
  }

  // Many short passes: their windows are evidence, not figures to compare.
  Status ask_find_max() {
    PassOptions trials = plan_.pass;
    trials.interval = std::max<Duration>(kTrialWindow, 2 * plan_.bound.bound);
    trials.max_windows = kTrialWindows;
    trials.window_requests = 0;
    PassRunner runner(trials, statistics_, stop_, hooks_.progress);
    const RunPass run_pass = [&](const Load& load, const PassVerdict& verdict) {
      return run_one(runner, load, verdict);
    };
    PROA_ASSIGN(result_.find_max, find_max(*plan_.find_max, run_pass, result_.passes));
    result_.goodput = find_goodput(result_.passes, plan_.bound);
    std::erase_if(result_.goodput, [&](const Goodput& each) {
      return result_.passes[each.pass].load < 1.2 * result_.find_max->rate;
    });
    return {};
  }

  const BenchPlan& plan_;
  StatisticsSource* const statistics_;
  const std::atomic<bool>& stop_;
  const BenchHooks& hooks_;
  RunResult& result_;
  PassRunner runner_;
};

}  // namespace

Status run_bench(const BenchPlan& plan, StatisticsSource* statistics, const std::atomic<bool>& stop,
                 const BenchHooks& hooks, RunResult& result) {
  const TimePoint start = steady_clock().now();
  result.started_unix_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  result.machine = describe_machine();
  const Status status = Bench(plan, statistics, stop, hooks, result).run();
  result.duration = steady_clock().now() - start;
  result.interrupted = stop.load();
  add_warnings(result);
  return status;
}

}  // namespace proa::loadgen
