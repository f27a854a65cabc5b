#include "backends/python/python_instance.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/thread.h"

namespace proa::backends::python {
namespace {

constexpr std::chrono::milliseconds kFirstDelay{500};
constexpr std::chrono::milliseconds kLongestDelay{30'000};

void fail(core::Batch& batch, const Error& error) { batch.fail(error); }

}  // namespace

Result<std::unique_ptr<PythonInstance>> PythonInstance::create(const WorkerPlan& plan,
                                                               Options options) {
  std::unique_ptr<PythonInstance> made(new PythonInstance(plan, std::move(options)));
  PythonInstance* self = made.get();
  PROA_ASSIGN(made->thread_,
              try_start_thread("proa-py-" + plan.config.name, [self] { self->run(); }));
  MutexLock lock(made->mutex_);
  while (!made->first_) made->changed_.wait(made->mutex_);
  const Status first = *made->first_;
  lock.unlock();
  if (!first) return first.error();
  return made;
}

PythonInstance::~PythonInstance() {
  stop_ = true;
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mutex_);  // so that back_off() does not miss it
    session = session_;
  }
  changed_.notify_all();
  if (session != nullptr) session->ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

void PythonInstance::start(std::unique_ptr<core::Batch> batch, Done done) {
  std::shared_ptr<Session> ended;  // the one that took nothing more; the next may be ready by now
  while (true) {
    MutexLock lock(mutex_);
    const std::shared_ptr<Session> session = session_;
    if (session == nullptr && refusing_) {
      const Error refused = *refusing_;
      lock.unlock();
      fail(*batch, refused);
      return done(std::move(batch));
    }
    if (session == nullptr || session == ended) {
      waiting_.push_back({std::move(batch), std::move(done)});
      return;
    }
    lock.unlock();
    if (session->submit(batch, done)) return;
    ended = session;
  }
}

void PythonInstance::run() {
  while (!stopping()) {
    const std::shared_ptr<Session> session = launch();
    if (session != nullptr) {
      bring_up(session);
      const std::string why = session->serve(stop_, *options_.state);
      fruitless_ = session->finished() > 0 ? 0 : fruitless_ + 1;
      take_down(*session, why);
    } else {
      ++fruitless_;
      MutexLock lock(mutex_);
      if (session_ == nullptr && first_ && !*first_) return;
    }
    if (fruitless_ > 0 && !stopping()) back_off();
  }
  refuse(error::unavailable("model '{}' is being unloaded", plan_.config.name));
}

// The next process, ready; null when that failed, which is known then.
std::shared_ptr<Session> PythonInstance::launch() {
  auto session = Session::start(plan_,
                                {{"model_instance_name", options_.name},
                                 {"model_instance_kind", options_.kind},
                                 {"model_instance_device_id", std::to_string(options_.device)}},
                                stop_);
  if (session) return *std::move(session);
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = !first_;
    if (first) first_ = session.error();
  }
  changed_.notify_all();
  if (first) return nullptr;
  if (!stopping()) log::error("{}; its worker is started again", session.error().message);
  refuse(Error{ErrorCode::kUnavailable, session.error().message});
  return nullptr;
}

void PythonInstance::bring_up(std::shared_ptr<Session> session) {
  options_.state->set({});  // before create() returns: who sees the model sees it ready
  std::vector<Waiting> waiting;
  {
    MutexLock lock(mutex_);
    if (first_)
      log::info("model '{}': a new worker process of '{}' is ready", plan_.config.name,
                options_.name);
    first_ = Status();
    session_ = std::move(session);
    refusing_.reset();
    std::swap(waiting, waiting_);
  }
  changed_.notify_all();
  for (Waiting& next : waiting) start(std::move(next.batch), std::move(next.done));
}

void PythonInstance::take_down(Session& session, const std::string& why) {
  const Error died = error::unavailable(
      "model '{}': the worker process that had this request {}; it is started again",
      plan_.config.name, why);
  options_.state->set(Status(error::unavailable("model '{}': the worker process of '{}' {}",
                                                plan_.config.name, options_.name, why)));
  if (!stopping()) {
    log::error("model '{}': the worker process of '{}' {}; it is started again", plan_.config.name,
               options_.name, why);
  } else if (why != "exited with status 0") {
    log::warn("model '{}': the worker process of '{}' {}", plan_.config.name, options_.name, why);
  }
  Session::Unfinished left = session.unfinished();
  {
    MutexLock lock(mutex_);
    session_ = nullptr;
    for (Flight& flight : left.waiting) {
      waiting_.push_back({std::move(flight.batch), std::move(flight.done)});
    }
  }
  for (Flight& flight : left.begun) {
    fail(*flight.batch, died);
    flight.done(std::move(flight.batch));
  }
}

// Answers what waits, and what comes from now on, with that error.
void PythonInstance::refuse(Error error) {
  std::vector<Waiting> waiting;
  {
    MutexLock lock(mutex_);
    refusing_ = error;
    std::swap(waiting, waiting_);
  }
  options_.state->set(error);
  for (Waiting& next : waiting) {
    fail(*next.batch, error);
    next.done(std::move(next.batch));
  }
}

// Waits longer with every process that came to nothing; the first is followed at once.
void PythonInstance::back_off() {
  if (fruitless_ < 2) return;
  const auto delay = std::min(kFirstDelay * (1 << std::min(fruitless_ - 2, 10)), kLongestDelay);
  bool known = false;
  {
    MutexLock lock(mutex_);
    known = refusing_.has_value();
  }
  if (!known) {
    refuse(error::unavailable(
        "model '{}': its worker processes end again and again without an answer; the next starts "
        "in {} ms. The log says why",
        plan_.config.name, delay.count()));
  }
  const TimePoint until = deadline_after(plan_.clock->now(), delay);
  MutexLock lock(mutex_);
  while (!stopping() && plan_.clock->now() < until) changed_.wait_until(mutex_, until);
}

}  // namespace proa::backends::python
