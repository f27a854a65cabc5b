#include "core/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/thread.h"
#include "core/queue_errors.h"

namespace proa::core {
namespace {

// How many batches a thread that brings a request runs in a row before the instance's own thread
// takes over: an event loop has its connections to look after.
constexpr int kInlineBatches = 4;

// "proa-resnet-0": the model's name gives way, so that the number stays visible.
std::string thread_name(const std::string& model, std::size_t index) {
  const std::string number = fmt::format("-{}", index);
  return fmt::format("proa-{}{}", model.substr(0, 10 - std::min<std::size_t>(9, number.size())),
                     number);
}

}  // namespace

Scheduler::Scheduler(const config::ModelConfig& config,
                     std::vector<std::unique_ptr<Instance>> instances, Options options)
    : name_(config.name),
      options_(std::move(options)),
      policy_(make_policy(config)),
      order_(config.dynamic_batching && config.dynamic_batching->preserve_ordering
                 ? std::make_shared<ResponseOrder>()
                 : nullptr),
      queue_(config.dynamic_batching.value_or(config::DynamicBatching{})) {
  PROA_CHECK(options_.timer != nullptr, "a scheduler needs a timer");
  PROA_CHECK(!instances.empty(), "a scheduler needs instances");
  for (auto& instance : instances) {
    Token& token = tokens_.emplace_back();
    token.index = tokens_.size() - 1;
    token.max_in_flight = options_.execution == Execution::kAsync ? instance->max_in_flight() : 1;
    token.instance = std::move(instance);
    most_in_flight_ = std::max(most_in_flight_, token.max_in_flight);
  }
}

Scheduler::~Scheduler() {
  for (const Token& token : tokens_) {
    PROA_CHECK(!token.thread.joinable(), "stop() comes before the end");
  }
}

Status Scheduler::start() {
  if (options_.execution == Execution::kAsync) return {};
  for (Token& token : tokens_) {
    PROA_ASSIGN(token.thread, try_start_thread(thread_name(name_, token.index),
                                               [this, &token] { instance_thread(token); }));
  }
  return {};
}

void Scheduler::submit(std::unique_ptr<Request> request, Caller caller) {
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  const TimePoint now = options_.clock->now();
  request->times.enqueued = now;
  const Runner runner{.may_run_inline = caller == Caller::kMayCompute};
  Actions actions;
  std::shared_ptr<CancellationToken> cancellation;
  RequestQueue::Ticket ticket = 0;
  {
    MutexLock lock(mutex_);
    if (order_ != nullptr) request->sink = order_->wrap(std::move(request->sink));
    if (auto refused = refuse_locked(*request, now)) {
      refused->request = std::move(request);
      actions.ended.push_back(std::move(*refused));
    } else {
      ticket = queue_.push(std::move(request), now);
      plan_locked(now, runner, actions);
      if (const auto* queued = queue_.find(ticket)) cancellation = queued->request->cancellation;
    }
  }
  if (cancellation != nullptr) watch_cancellation(*cancellation, ticket);
  drive(actions, runner, kInlineBatches);
}

// Does what was planned; then plans and does what follows from it.
void Scheduler::drive(Actions& actions, Runner runner, int inline_batches) {
  while (true) {
    for (Token* token : actions.wakes) token->wake.notify_one();
    actions.wakes.clear();
    for (Ended& ended : actions.ended) end(std::move(ended));
    actions.ended.clear();
    if (actions.starts.empty()) return;

    Start next = std::move(actions.starts.front());
    actions.starts.erase(actions.starts.begin());
    Token& token = *next.token;
    const std::shared_ptr<Model> keep = next.batch->requests()[0]->model;
    token.instance->start(std::move(next.batch), [this, &token](std::unique_ptr<Batch> batch) {
      on_done(token, std::move(batch));
    });
    runner.may_run_inline = --inline_batches > 0;

    MutexLock lock(mutex_);
    token.claimed = false;
    if (!queue_.empty()) plan_locked(options_.clock->now(), runner, actions);
  }
}

void Scheduler::on_done(Token& token, std::unique_ptr<Batch> batch) {
  const std::shared_ptr<Model> keep = batch->requests()[0]->model;
  batch->finished = options_.clock->now();
  const TimePoint now = batch->finished;
  answer(token, std::move(batch));
  if (options_.gate != nullptr) options_.gate->leave(token.index);
  Actions actions;
  {
    MutexLock lock(mutex_);
    --token.running;
    // Whoever has claimed the token plans when start() returns.
    if (!token.claimed && !queue_.empty()) plan_locked(now, Runner{}, actions);
  }
  drive(actions, Runner{});
}

void Scheduler::answer(const Token& token, std::unique_ptr<Batch> batch) {
  std::vector<Response> responses = batch->take_responses();
  options_.statistics->record_batch(*batch, token.index, responses);
  const auto requests = batch->requests();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i]->sink->send(std::move(responses[i]), true);
  }
  const std::size_t count = requests.size();
  batch.reset();
  in_flight_.fetch_sub(count, std::memory_order_relaxed);
}

void Scheduler::end(Ended ended) {
  options_.statistics->record_failure(*ended.request, ended.reason, options_.clock->now());
  ended.request->sink->send(Response{.error = std::move(ended.error)}, true);
  ended.request.reset();
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void Scheduler::replan() {
  Actions actions;
  {
    MutexLock lock(mutex_);
    const TimePoint now = options_.clock->now();
    if (armed_for_ <= now) armed_for_ = kNever;
    plan_locked(now, Runner{}, actions);
  }
  drive(actions, Runner{});
}

void Scheduler::gate_opened() { replan(); }

void Scheduler::watch_cancellation(CancellationToken& token, RequestQueue::Ticket ticket) {
  token.on_cancel([weak = weak_from_this(), ticket] {
    if (const auto self = weak.lock()) self->on_cancel(ticket);
  });
}

void Scheduler::on_cancel(RequestQueue::Ticket ticket) {
  Actions actions;
  {
    MutexLock lock(mutex_);
    auto request = queue_.remove(ticket);
    if (request == nullptr) return;
    Error error = queue_errors::cancelled(name_, *request);
    actions.ended.push_back({std::move(request), std::move(error), FailureReason::kCanceled});
    plan_locked(options_.clock->now(), Runner{}, actions);
  }
  drive(actions, Runner{});
}

void Scheduler::instance_thread(Token& token) {
  const Runner runner{.own = &token};
  while (true) {
    Actions actions;
    {
      MutexLock lock(mutex_);
      while (!token.woken && !stopping_) token.wake.wait(mutex_);
      if (!token.woken) return;
      token.woken = false;
      if (token.handed != nullptr) {
        token.handed->started = options_.clock->now();
        actions.starts.push_back({&token, std::move(token.handed)});
      } else {
        --waking_;
        token.claimed = false;
        plan_locked(options_.clock->now(), runner, actions);
      }
    }
    drive(actions, runner);
  }
}

void Scheduler::shut_down() {
  Actions actions;
  {
    MutexLock lock(mutex_);
    shut_down_ = true;
    for (auto& request : queue_.take(queue_.size())) {
      Error error = queue_errors::shut_down(name_, *request);
      actions.ended.push_back({std::move(request), std::move(error), FailureReason::kRejected});
    }
    options_.statistics->set_pending(0);
  }
  drive(actions, Runner{});
}

void Scheduler::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    if (armed_for_ != kNever) options_.timer->cancel(armed_);
  }
  for (Token& token : tokens_) {
    token.wake.notify_one();
    if (token.thread.joinable()) token.thread.join();
    token.instance.reset();
  }
}

}  // namespace proa::core
