#include "loadgen/run/pass_runner.h"

#include <algorithm>
#include <thread>

#include "base/thread.h"
#include "fmt/format.h"
#include "loadgen/run/machine.h"
#include "loadgen/run/pass_builder.h"

namespace proa::loadgen {
namespace {

constexpr Duration kPrepareLimit = std::chrono::seconds(2);
constexpr Duration kStopCheck = std::chrono::milliseconds(100);
constexpr Duration kLongestSlice = std::chrono::milliseconds(100);
constexpr Duration kShortestSlice = std::chrono::milliseconds(10);
constexpr std::int64_t kSlicesInWindow = 20;

// Windows are whole slices.
Duration slice_length_for(Duration interval) {
  const Duration wanted = std::clamp(interval / kSlicesInWindow, kShortestSlice, kLongestSlice);
  const std::int64_t slices = std::max<std::int64_t>(interval / wanted, 1);
  return interval / slices;
}

// The threads of one pass. Ended at the latest by the destructor.
class Crew {
 public:
  Crew() = default;
  ~Crew() { stop_and_join(); }

  Status start(const PassOptions& options, const Load& load, Duration slice_length) {
    const int workers = load.shape == LoadShape::kConcurrency
                            ? std::min(options.max_threads, static_cast<int>(load.value))
                            : options.max_threads;
    board_ = std::make_unique<SliceBoard>(workers);
    for (int i = 0; i < workers; ++i) {
      WorkerOptions worker = options.worker;
      worker.load = load;
      worker.slice_length = slice_length;
      worker.picker.worker = i;
      worker.picker.workers = workers;
      PROA_ASSIGN(auto created, Worker::create(worker, gate_, *board_));
      workers_.push_back(std::move(created));
    }
    for (int i = 0; i < workers; ++i) {
      PROA_ASSIGN(auto thread,
                  try_start_thread(
                      fmt::format("proa-bench-{}", i),
                      [worker = workers_[static_cast<std::size_t>(i)].get()] { worker->run(); }));
      threads_.push_back(std::move(thread));
    }
    gate_.wait_for(workers, steady_clock().now() + kPrepareLimit);
    return {};
  }

  void open_gate() { gate_.open(steady_clock().now()); }

  void stop_and_join() {
    for (const auto& worker : workers_) worker->stop();
    if (!threads_.empty()) gate_.open(steady_clock().now());
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  SliceBoard& board() { return *board_; }
  int size() const { return static_cast<int>(workers_.size()); }
  Client::Statistics statistics() const {
    Client::Statistics sum;
    for (const auto& worker : workers_) {
      sum.connections += worker->statistics().connections;
      sum.reconnects += worker->statistics().reconnects;
    }
    return sum;
  }

 private:
  StartGate gate_;
  std::unique_ptr<SliceBoard> board_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

// The latest second of a series as one point.
SeriesPoint last_second(const std::vector<SeriesPoint>& series) {
  SeriesPoint sum = series.back();
  for (std::size_t i = series.size() - 1; i-- > 0 && sum.duration < std::chrono::seconds(1);) {
    const SeriesPoint& point = series[i];
    sum.start = point.start;
    sum.duration += point.duration;
    sum.counts.add(point.counts);
    sum.p50 = std::max(sum.p50, point.p50);
    sum.p99 = std::max(sum.p99, point.p99);
    sum.max = std::max(sum.max, point.max);
  }
  return sum;
}

}  // namespace

PassRunner::PassRunner(const PassOptions& options, StatisticsSource* statistics,
                       const std::atomic<bool>& stop, std::function<void(const Progress&)> progress)
    : options_(options), statistics_(statistics), stop_(stop), progress_(std::move(progress)) {}

Result<Pass> PassRunner::run(const Load& load, const PassVerdict& verdict) {
  const Duration slice_length = slice_length_for(options_.interval);
  PassBuilder builder(options_, load, slice_length);
  Crew crew;
  PROA_TRY(crew.start(options_, load, slice_length));
  builder.add_snapshot(take_snapshot());
  const ProcessorTicks ticks = ProcessorTicks::now();
  const auto started = std::chrono::system_clock::now().time_since_epoch();
  crew.open_gate();
  const bool over = collect(load, verdict, crew.board(), builder, crew.size());
  crew.stop_and_join();
  while (const auto slice = crew.board().take_any()) builder.add_late(*slice);
  Pass pass = builder.finish(!over, load.ends_by_itself(), crew.statistics(), crew.size());
  pass.started_unix_ns = std::chrono::duration_cast<Duration>(started).count();
  pass.health.stolen = ProcessorTicks::now().stolen_since(ticks);
  return pass;
}

std::optional<ServerSnapshot> PassRunner::take_snapshot() {
  if (statistics_ == nullptr) return std::nullopt;
  Result<ServerSnapshot> snapshot = statistics_->read();
  if (!snapshot) return std::nullopt;
  return std::move(*snapshot);
}

// Takes slices until the pass has seen enough; false: it was told to stop before.
bool PassRunner::collect(const Load& load, const PassVerdict& verdict, SliceBoard& board,
                         PassBuilder& builder, int threads) {
  for (std::uint32_t index = 0; !stop_.load(std::memory_order_relaxed);) {
    auto slice = board.take(index, steady_clock().now() + kStopCheck);
    if (!slice) continue;
    ++index;
    const bool window_is_full = builder.add(std::move(*slice));
    report_progress(load, builder);
    if (load.ends_by_itself()) {
      if (!is_over(load, builder)) continue;
      builder.add_snapshot(take_snapshot());
      return true;
    }
    if (!window_is_full) continue;
    builder.add_snapshot(take_snapshot());
    if (builder.windows() >= static_cast<std::size_t>(options_.max_windows)) return true;
    if (verdict ? verdict(builder.so_far(threads)) : builder.settled()) return true;
  }
  return false;
}

// A load with an end of its own: all has been sent, and answered or waited for long enough. Answers
// that never come are counted as missing by the workers' end.
bool PassRunner::is_over(const Load& load, const PassBuilder& builder) const {
  const SeriesPoint& last = builder.series().back();
  if (load.requests > 0 && builder.total().completed + builder.total().errors >= load.requests) {
    return true;
  }
  if (load.requests > 0 && builder.quiet() >= options_.interval * options_.max_windows) return true;
  const Duration now = last.start + last.duration;
  if (load.shape != LoadShape::kStages || now < load.length()) return false;
  const bool done = last.in_flight == 0 && builder.total().sent >= builder.asked();
  return done || now - load.length() >= options_.worker.drain_limit;
}

void PassRunner::report_progress(const Load& load, const PassBuilder& builder) const {
  if (!progress_) return;
  Progress progress;
  const SeriesPoint& last = builder.series().back();
  const Duration now = last.start + last.duration;
  progress.load_text = load.to_string();
  progress.window = static_cast<int>(builder.windows()) + 1;
  progress.max_windows = options_.max_windows;
  const Duration whole =
      load.shape == LoadShape::kStages ? load.length() : options_.interval * options_.max_windows;
  progress.left_at_most = std::max(whole - now, Duration(0));
  progress.last = last_second(builder.series());
  progress.errors = builder.total().errors;
  progress_(progress);
}

}  // namespace proa::loadgen
