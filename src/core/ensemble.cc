#include "core/ensemble.h"

#include <utility>

#include "base/check.h"
#include "core/ensemble_run.h"
#include "core/queue_errors.h"

namespace proa::core {

Ensemble::Ensemble(const config::ModelConfig& config, Options options)
    : config_(config),
      options_(std::move(options)),
      plan_(make_ensemble_plan(config)),
      whole_route_(make_ensemble_route(plan_, {})) {
  PROA_CHECK(options_.find != nullptr && options_.statistics != nullptr,
             "an ensemble finds its steps and counts its requests");
}

std::size_t Ensemble::max_inflight() const {
  const std::uint32_t stated = config_.ensemble->max_inflight_requests;
  return stated > 0 ? stated : kUsualMaxInFlight;
}

std::size_t Ensemble::max_frames() const {
  const std::uint32_t stated = config_.ensemble->max_inflight_requests;
  return stated > 0 ? stated : kUsualMaxFrames;
}

void Ensemble::submit(std::unique_ptr<Request> request, Caller caller) {
  request->times.enqueued = options_.clock->now();
  const std::size_t before = in_flight_.fetch_add(1, std::memory_order_relaxed);
  if (auto refusal = refuse(*request, before)) return answer(*request, std::move(*refusal));
  std::shared_ptr<const Pin> pin = std::move(request->pin);
  if (pin == nullptr) {
    auto pinned = pin_steps(0);
    if (!pinned) return answer(*request, {std::move(pinned.error()), FailureReason::kOther});
    pin = *std::move(pinned);
  }
  // Made by this class, here or in pin() for the request of an outer ensemble.
  auto own = std::static_pointer_cast<const EnsemblePin>(std::move(pin));
  std::make_shared<EnsembleRun>(*this, std::move(own), std::move(request))->start(caller);
}

std::optional<Ensemble::Refusal> Ensemble::refuse(const Request& request,
                                                  std::size_t in_flight) const {
  if (shut_down_.load(std::memory_order_relaxed)) {
    return Refusal{queue_errors::shut_down(config_.name, request), FailureReason::kRejected};
  }
  if (request.cancelled()) {
    return Refusal{queue_errors::cancelled(config_.name, request), FailureReason::kCanceled};
  }
  if (request.deadline <= request.times.enqueued) {
    return Refusal{queue_errors::deadline_passed(config_.name, request), FailureReason::kCanceled};
  }
  if (in_flight >= max_inflight()) {
    return Refusal{queue_errors::too_many_in_flight(config_.name, request, max_inflight()),
                   FailureReason::kRejected};
  }
  return std::nullopt;
}

void Ensemble::answer(Request& request, Refusal refusal) {
  failed(request, refusal.reason);
  request.sink->send(Response{.error = std::move(refusal.error)}, true);
  ended();
}

void Ensemble::succeeded(const Request& request, const TimeSpent& spent) {
  options_.statistics->record_request(request, spent, options_.clock->now());
}

void Ensemble::failed(const Request& request, FailureReason reason) {
  options_.statistics->record_failure(request, reason, options_.clock->now());
}

Status Ensemble::health() const {
  PROA_ASSIGN(const auto pin, pin_steps(0));
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const Status healthy = pin->models[s]->health();
    if (!healthy) {
      return with_context(fmt::format("step {} (model '{}')", s, plan_.steps[s].model),
                          healthy.error());
    }
  }
  return {};
}

Result<std::shared_ptr<const Pin>> Ensemble::pin(int depth) const {
  PROA_ASSIGN(std::shared_ptr<const EnsemblePin> pinned, pin_steps(depth));
  return std::shared_ptr<const Pin>(std::move(pinned));
}

Result<std::shared_ptr<const EnsemblePin>> Ensemble::pin_steps(int depth) const {
  if (depth >= kMaxDepth) {
    return error::invalid_argument(
        "ensemble '{}' stands within {} others, or is a step of itself by way of them: break the "
        "circle",
        config_.name, depth);
  }
  auto pin = std::make_shared<EnsemblePin>();
  pin->models.reserve(plan_.steps.size());
  pin->pins.reserve(plan_.steps.size());
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const std::size_t like = plan_.steps[s].like;
    if (like < s) {  // the same version, even if it is replaced just now
      pin->models.push_back(pin->models[like]);
      pin->pins.push_back(pin->pins[like]);
      continue;
    }
    PROA_ASSIGN(pin->models.emplace_back(), find_step(s));
    PROA_ASSIGN(pin->pins.emplace_back(), pin->models.back()->pin(depth + 1));
  }
  PROA_ASSIGN(pin->binding, binding_for(pin->models));
  return std::shared_ptr<const EnsemblePin>(std::move(pin));
}

Result<std::shared_ptr<Model>> Ensemble::find_step(std::size_t step) const {
  const EnsemblePlan::Step& wanted = plan_.steps[step];
  auto model = options_.find(wanted.model, wanted.version);
  if (model) return model;
  return error::unavailable("ensemble '{}' depends on '{}' (step {}), which is not ready: {}",
                            config_.name, wanted.model, step, model.error().message);
}

Result<std::shared_ptr<const EnsembleBinding>> Ensemble::binding_for(
    std::span<const std::shared_ptr<Model>> models) const {
  {
    MutexLock lock(mutex_);
    if (binding_ != nullptr && binding_->is_for(models)) return binding_;
  }
  auto bound = bind_ensemble(plan_, config_, models);
  if (!bound) return with_context(fmt::format("ensemble '{}'", config_.name), bound.error());
  if (bound->decoupled && !config_.decoupled) {
    return error::invalid_argument(
        "ensemble '{}': a step answers any number of times (decoupled) and did not when the "
        "ensemble was loaded: load the ensemble again",
        config_.name);
  }
  auto binding = std::make_shared<const EnsembleBinding>(*std::move(bound));
  MutexLock lock(mutex_);
  binding_ = binding;
  return binding;
}

}  // namespace proa::core
