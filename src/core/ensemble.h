#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "core/dispatcher.h"
#include "core/ensemble_plan.h"
#include "core/model.h"
#include "core/statistics.h"

namespace proa::core {

// The versions of an ensemble's steps that answer one request.
struct EnsemblePin final : Pin {
  std::vector<std::shared_ptr<Model>> models;    // by step
  std::vector<std::shared_ptr<const Pin>> pins;  // by step: those of a step that is an ensemble
  std::shared_ptr<const EnsembleBinding> binding;
};

// Answers requests by sending them through the models of its steps, each an ordinary request there
// with that model's queue and batches. Has no thread and no queue: what a step answers starts those
// that follow, on the thread that brings the answer. The versions of all steps are found, and held,
// when a request is admitted; so a step may be replaced while requests are under way.
//
// Bounded at admission: beyond max_inflight() requests under way, further ones are refused.
// Threading: thread-safe.
class Ensemble final : public Dispatcher {
 public:
  struct Options {
    const Clock* clock = &steady_clock();
    std::shared_ptr<ModelStatistics> statistics;  // required
    ModelFinder find;                             // required
  };
  // Unless the configuration says otherwise.
  static constexpr std::size_t kUsualMaxInFlight = 4096;
  static constexpr std::size_t kUsualMaxFrames = 128;
  // An ensemble within an ensemble within ...: more is a circle.
  static constexpr int kMaxDepth = 16;

  // `config` outlives the ensemble and has its field `ensemble`.
  Ensemble(const config::ModelConfig& config, Options options);

  void submit(std::unique_ptr<Request> request, Caller caller) override;
  void shut_down() override { shut_down_.store(true, std::memory_order_relaxed); }
  void stop() override {}
  std::size_t in_flight() const override { return in_flight_.load(std::memory_order_relaxed); }
  // Whether the steps' models are ready and fit together.
  Status health() const override;
  Result<std::shared_ptr<const Pin>> pin(int depth) const override;

  const EnsemblePlan& plan() const { return plan_; }
  const EnsembleRoute& whole_route() const { return whole_route_; }
  const config::ModelConfig& config() const { return config_; }
  std::size_t max_inflight() const;
  // How many responses of decoupled steps may be on their way through the later steps of a request.
  std::size_t max_frames() const;

  // For its requests: the end of one.
  void succeeded(const Request& request, const TimeSpent& spent);
  void failed(const Request& request, FailureReason reason);
  void ended() { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  struct Refusal {
    Error error;
    FailureReason reason;
  };

  Result<std::shared_ptr<const EnsemblePin>> pin_steps(int depth) const PROA_EXCLUDES(mutex_);
  Result<std::shared_ptr<Model>> find_step(std::size_t step) const;
  Result<std::shared_ptr<const EnsembleBinding>> binding_for(
      std::span<const std::shared_ptr<Model>> models) const PROA_EXCLUDES(mutex_);
  std::optional<Refusal> refuse(const Request& request, std::size_t in_flight) const;
  void answer(Request& request, Refusal refusal);

  const config::ModelConfig& config_;
  const Options options_;
  const EnsemblePlan plan_;
  const EnsembleRoute whole_route_;
  std::atomic<std::size_t> in_flight_ = 0;
  std::atomic<bool> shut_down_ = false;

  mutable Mutex mutex_;
  // For the versions that were there last.
  mutable std::shared_ptr<const EnsembleBinding> binding_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::core
