// What an ensemble's run does without its lock: starting steps, hearing their answers, sending its
// own. ensemble_run_state.cc says what follows from what.
#include "core/ensemble_run.h"

#include <deque>
#include <utility>

#include "core/ensemble_step_sink.h"
#include "core/queue_errors.h"

namespace proa::core {
namespace {

// How many steps a thread that brings a request or an answer starts in a row and may compute
// itself; the instances' own threads take over, so that no event loop is captured.
constexpr int kInlineSteps = 32;

}  // namespace

// The steps that one thread is to start. A step that is answered at once comes back here, further
// up the stack: what follows is only noted then.
struct EnsembleRun::Driver {
  std::deque<Task> tasks;
  bool busy = false;

  static Driver& of_this_thread() {
    thread_local Driver driver;
    return driver;
  }

  void drive(Caller caller) {
    if (busy) return;
    busy = true;
    for (int started = 0; !tasks.empty(); ++started) {
      Task task = std::move(tasks.front());
      tasks.pop_front();
      const bool enough = caller == Caller::kIsBusy || started >= kInlineSteps;
      task.run->start_step(task, enough ? Caller::kIsBusy : Caller::kMayCompute);
    }
    busy = false;
  }
};

EnsembleRun::EnsembleRun(Ensemble& ensemble, std::shared_ptr<const EnsemblePin> pin,
                         std::unique_ptr<Request> request)
    : request_(std::move(request)),
      ensemble_(ensemble),
      plan_(ensemble.plan()),
      pin_(std::move(pin)),
      binding_(*pin_->binding),
      route_(request_->requested_outputs.empty()
                 ? ensemble.whole_route()
                 : own_route_.emplace(make_ensemble_route(plan_, request_->requested_outputs))) {}

void EnsembleRun::start(Caller caller) {
  bool nothing_to_run = false;
  {
    MutexLock lock(mutex_);
    open_frame_locked(root_);
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      settle_locked(root_, plan_.inputs[i], std::move(request_->inputs[i]));
    }
    nothing_to_run = running_ == 0;
  }
  if (nothing_to_run) return flush();
  proceed(caller);
}

void EnsembleRun::proceed(Caller caller) {
  Driver& driver = Driver::of_this_thread();
  {
    MutexLock lock(mutex_);
    for (Task& task : ready_) driver.tasks.push_back(std::move(task));
    ready_.clear();
  }
  driver.drive(caller);
}

void EnsembleRun::start_step(Task& task, Caller caller) {
  if (auto reason = not_wanted()) return on_not_started(task, std::move(reason));
  auto request = build_step(task);
  if (!request) return on_not_started(task, in_step(task.step, request.error()));
  Model& model = *(*request)->model;
  model.infer(*std::move(request), caller);
}

// Nothing, or why no further step is to start.
std::optional<Error> EnsembleRun::not_wanted() const {
  if (!request_->cancelled()) return std::nullopt;
  return queue_errors::cancelled_on_the_way(ensemble_.config().name, *request_);
}

Result<std::unique_ptr<Request>> EnsembleRun::build_step(Task& task) {
  const std::size_t s = task.step;
  PROA_ASSIGN(auto request, build_request(pin_->models[s], task.inputs, {}, request_->id));
  const EnsemblePlan::Step& step = plan_.steps[s];
  for (std::size_t e = 0; e < step.outputs.size(); ++e) {
    if (route_.readers[step.outputs[e].tensor].empty()) continue;
    request->requested_outputs.push_back(binding_.steps[s].outputs[e]);
  }
  request->parameters = request_->parameters;
  request->correlation_id = request_->correlation_id;
  request->sequence_start = request_->sequence_start;
  request->sequence_end = request_->sequence_end;
  request->depth = request_->depth;
  request->priority = request_->priority;
  request->timeout = request_->timeout;
  request->deadline = request_->deadline;
  request->cancellation = cancellation_of_step();
  request->memory = request_->memory.empty_share();
  request->pin = pin_->pins[s];
  auto sink = std::make_unique<StepSink>(std::move(task.run), *task.frame, s);
  request->spent = &sink->spent;
  request->sink = std::move(sink);
  return request;
}

void EnsembleRun::on_response(StepSink& sink, Response response, bool final) {
  const bool failed = response.error.has_value();
  {
    MutexLock lock(mutex_);
    if (response.error) {
      fail_locked(in_step(sink.step, *response.error));
    } else if (!error_) {
      take_outputs_locked(sink, response, final);
    }
    if (final) {
      spent_.add(sink.spent);
      end_in_locked(sink.frame);
      --running_;
    }
  }
  flush();
  if (binding_.decoupled) let_producers_go_on(failed);
  proceed(Caller::kMayCompute);
}

void EnsembleRun::on_not_started(const Task& task, std::optional<Error> error) {
  const bool failed = error.has_value();
  {
    MutexLock lock(mutex_);
    if (error) fail_locked(*std::move(error));
    end_in_locked(*task.frame);
    --running_;
  }
  flush();
  if (binding_.decoupled) let_producers_go_on(failed);
}

// Decoupled steps that wait for room; after a failure nobody wants what they would still send.
void EnsembleRun::let_producers_go_on(bool failed) {
  if (failed) cancel_steps();
  wake_producers();
}

// Sends what there is, in order; the last response when no step is left.
void EnsembleRun::flush() {
  MutexLock lock(mutex_);
  if (sending_) return;
  sending_ = true;
  while (auto next = next_answer_locked()) {
    lock.unlock();
    if (next->last) return send_last(*std::move(next));  // `sending_` stays: nothing follows
    request_->sink->send(std::move(next->response), false);
    lock.lock();
  }
  sending_ = false;
}

void EnsembleRun::send_last(Outgoing last) {
  if (const std::optional<Error>& error = last.response.error) {
    const bool canceled =
        error->code == ErrorCode::kCancelled || error->code == ErrorCode::kDeadlineExceeded;
    ensemble_.failed(*request_, canceled ? FailureReason::kCanceled : FailureReason::kOther);
  } else {
    ensemble_.succeeded(*request_, last.spent);
  }
  request_->sink->send(std::move(last.response), true);
  ensemble_.ended();
}

// The request's own token where one step is under way at a time; else one of the step's own,
// because a token tells one listener only.
std::shared_ptr<CancellationToken> EnsembleRun::cancellation_of_step() {
  if (plan_.chain && !binding_.decoupled) return request_->cancellation;
  auto token = std::make_shared<CancellationToken>();
  bool watch = false;
  {
    MutexLock lock(mutex_);
    std::erase_if(tokens_, [](const auto& weak) { return weak.expired(); });
    tokens_.push_back(token);
    watch = !std::exchange(watching_, true);
  }
  if (request_->cancellation == nullptr) return token;
  if (watch) {
    request_->cancellation->on_cancel([weak = weak_from_this()] {
      if (const auto run = weak.lock()) run->cancel_steps();
    });
  } else if (request_->cancelled()) {
    token->cancel();
  }
  return token;
}

void EnsembleRun::cancel_steps() {
  std::vector<std::weak_ptr<CancellationToken>> tokens;
  {
    MutexLock lock(mutex_);
    tokens = tokens_;
  }
  for (const auto& weak : tokens) {
    if (const auto token = weak.lock()) token->cancel();
  }
}

// A decoupled step waits while many of its responses are still on their way.
std::size_t EnsembleRun::credit() {
  {
    MutexLock lock(mutex_);
    if (must_wait_locked()) return 0;
  }
  return request_->sink->credit();
}

void EnsembleRun::when_credit(std::move_only_function<void()> ready) {
  {
    MutexLock lock(mutex_);
    if (must_wait_locked()) {
      waiters_.push_back(std::move(ready));
      return;
    }
  }
  request_->sink->when_credit(std::move(ready));
}

void EnsembleRun::wake_producers() {
  std::vector<std::move_only_function<void()>> waiters;
  {
    MutexLock lock(mutex_);
    if (must_wait_locked()) return;
    waiters.swap(waiters_);
  }
  for (auto& ready : waiters) ready();
}

Error EnsembleRun::in_step(std::size_t step, const Error& error) const {
  const Model& model = *pin_->models[step];
  return with_context(fmt::format("in ensemble '{}', step {} (model '{}' version {})",
                                  ensemble_.config().name, step, model.name(), model.version()),
                      error);
}

}  // namespace proa::core
