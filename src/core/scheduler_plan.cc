// The scheduler's decisions: what follows from the state under the lock. scheduler.cc does it.
#include <algorithm>
#include <utility>

#include "core/queue_errors.h"
#include "core/scheduler.h"

namespace proa::core {

std::optional<Scheduler::Ended> Scheduler::refuse_locked(const Request& request, TimePoint now) {
  if (shut_down_) {
    return Ended{nullptr, queue_errors::shut_down(name_, request), FailureReason::kRejected};
  }
  if (request.cancelled()) {
    return Ended{nullptr, queue_errors::cancelled(name_, request), FailureReason::kCanceled};
  }
  if (request.deadline <= now) {
    return Ended{nullptr, queue_errors::deadline_passed(name_, request), FailureReason::kCanceled};
  }
  if (!queue_.has_room(request)) seal_for_waking_locked(now);
  if (!queue_.has_room(request)) {
    return Ended{nullptr, queue_errors::full(name_, request), FailureReason::kRejected};
  }
  return std::nullopt;
}

// Gives every batch that may go to a token that is free, and arms the timer for the rest.
void Scheduler::plan_locked(TimePoint now, const Runner& runner, Actions& actions) {
  expire_locked(now, actions);
  Offer offer;
  if (runner.own != nullptr) offer = offer_locked(*runner.own, now, runner, actions);
  // Idle ones first: what is given to a busy one waits there, whoever gets free meanwhile.
  for (int load = 0; load < most_in_flight_; ++load) {
    for (Token& token : tokens_) {
      if (offer.settled || queue_.empty()) break;
      if (token.running == load) offer = offer_locked(token, now, runner, actions);
    }
  }
  arm_timer_locked(std::min(offer.ask_again, queue_.next_expiry()));
  options_.statistics->set_pending(queue_.size());
}

// Lets a token have the next batch.
Scheduler::Offer Scheduler::offer_locked(Token& token, TimePoint now, const Runner& runner,
                                         Actions& actions) {
  if (!token.free() || stopping_ || !may_use(token)) return {};
  const Decision decision = policy_->next(queue_, now);
  if (decision.kind != Decision::Kind::kTake) {
    return {.settled = true, .ask_again = decision.until};
  }
  const bool here = runs_here(token, runner, actions);
  if (!here && decision.can_grow()) {
    // The woken thread seals the batch; until then it grows. One thread is enough for it.
    if (waking_ == 0) {
      token.claimed = token.woken = true;
      ++waking_;
      actions.wakes.push_back(&token);
    }
    return {.settled = true};
  }
  auto batch = seal_locked(token, decision, now);
  if (batch == nullptr) return {};
  token.claimed = true;
  if (here) {
    actions.starts.push_back({&token, std::move(batch)});
  } else {
    token.handed = std::move(batch);
    token.woken = true;
    actions.wakes.push_back(&token);
  }
  return {};
}

// An instance whose device is gone is passed over as long as there is another.
bool Scheduler::may_use(const Token& token) const {
  if (token.instance->usable()) return true;
  return std::ranges::none_of(tokens_, [](const Token& t) { return t.instance->usable(); });
}

bool Scheduler::runs_here(const Token& token, const Runner& runner, const Actions& actions) const {
  if (&token == runner.own || options_.execution == Execution::kAsync) return true;
  return runner.may_run_inline && options_.execution == Execution::kInline &&
         actions.starts.empty();
}

// Makes a batch for the token; null when the gate is closed.
std::unique_ptr<Batch> Scheduler::seal_locked(Token& token, const Decision& decision,
                                              TimePoint now) {
  if (options_.gate != nullptr && !options_.gate->try_enter(token.index)) return nullptr;
  auto requests = queue_.take(decision.count);
  for (auto& request : requests) request->times.taken = now;
  auto batch = std::make_unique<Batch>(std::move(requests));
  batch->close_reason = decision.reason;
  batch->started = now;
  ++token.running;
  return batch;
}

// A thread that was woken has not come for its batch yet: makes it now, so that the requests in it
// do not count as waiting.
void Scheduler::seal_for_waking_locked(TimePoint now) {
  for (Token& token : tokens_) {
    if (waking_ == 0) return;
    if (!token.woken || token.handed != nullptr) continue;
    const Decision decision = policy_->next(queue_, now);
    if (decision.kind != Decision::Kind::kTake) return;
    token.handed = seal_locked(token, decision, now);
    if (token.handed != nullptr) --waking_;
  }
}

void Scheduler::expire_locked(TimePoint now, Actions& actions) {
  if (queue_.next_expiry() > now) return;
  for (auto& expired : queue_.expire(now)) {
    Error error = expired.deadline ? queue_errors::deadline_passed(name_, *expired.request)
                                   : queue_errors::timed_out(name_, *expired.request);
    actions.ended.push_back(
        {std::move(expired.request), std::move(error),
         expired.deadline ? FailureReason::kCanceled : FailureReason::kRejected});
  }
}

// The timer may stay armed for something that has gone: it then wakes up for nothing, once.
void Scheduler::arm_timer_locked(TimePoint when) {
  if (when >= armed_for_) return;
  if (armed_for_ != kNever) options_.timer->cancel(armed_);
  armed_for_ = when;
  armed_ = options_.timer->schedule(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->replan();
  });
}

}  // namespace proa::core
