#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "core/ensemble.h"
#include "core/memory_budget.h"
#include "core/request_builder.h"

namespace proa::core {

// One request on its way through the steps of an ensemble.
//
// A step starts when the tensors it reads have come; its answer brings those that others read. All
// pass by reference, and are let go of when the last step that reads them has been started. The
// answer of the ensemble is a step too, behind the others. After an error no further step starts;
// when those under way have ended, the error is the answer.
//
// Each response of a decoupled step opens a frame: the steps behind it run once in each, with
// tensors of the frames around it. So an ensemble without decoupled steps has one frame.
//
// Steps that answer before infer() returns do not deepen the stack: a thread that is starting a
// step notes what follows, and starts that when it is back.
//
// Life: held by the sinks of its steps; holds the request, and by that the ensemble.
// Threading: thread-safe; answers of steps come on any thread.
class EnsembleRun : public std::enable_shared_from_this<EnsembleRun> {
 public:
  EnsembleRun(Ensemble& ensemble, std::shared_ptr<const EnsemblePin> pin,
              std::unique_ptr<Request> request);
  void start(Caller caller) PROA_EXCLUDES(mutex_);

 private:
  class StepSink;

  // A tensor between the steps.
  struct Value {
    enum class State : std::uint8_t { kAwaited, kThere, kAbsent };
    State state = State::kAwaited;
    std::size_t uses = 0;  // edges that have not taken it; the last one moves it
    Tensor tensor;
  };
  struct Frame {
    Frame* around = nullptr;
    std::size_t scope = EnsembleBinding::kRequest;
    std::vector<Value> values;         // by tensor
    std::vector<std::uint16_t> waits;  // by step, the answer last: tensors that have not come
    std::size_t open = 0;              // steps and frames in it that have not ended
    // Of its tensors, which go with it; the root's are the request's.
    MemoryBudget::Reservation memory;
    std::list<Frame> frames;
  };
  // A step whose tensors are there.
  struct Task {
    std::shared_ptr<EnsembleRun> run;
    Frame* frame = nullptr;
    std::size_t step = 0;
    boost::container::small_vector<NamedInput, 2> inputs;
  };
  // A response to send.
  struct Outgoing {
    Response response;
    bool last = false;
    TimeSpent spent;  // of the last one
  };
  struct Driver;

  // Under the lock: what a tensor or an answer leads to.
  void open_frame_locked(Frame& frame) PROA_REQUIRES(mutex_);
  void settle_locked(Frame& frame, std::size_t tensor, Tensor value) PROA_REQUIRES(mutex_);
  void tell_frames_locked(Frame& frame, std::size_t step) PROA_REQUIRES(mutex_);
  Tensor take_locked(Frame& frame, std::size_t tensor) PROA_REQUIRES(mutex_);
  void make_task_locked(Frame& frame, std::size_t step) PROA_REQUIRES(mutex_);
  void answer_locked(Frame& frame) PROA_REQUIRES(mutex_);
  void take_outputs_locked(StepSink& sink, Response& response, bool final) PROA_REQUIRES(mutex_);
  void end_in_locked(Frame& frame) PROA_REQUIRES(mutex_);
  std::optional<Outgoing> next_answer_locked() PROA_REQUIRES(mutex_);
  bool must_wait_locked() const PROA_REQUIRES(mutex_);
  void fail_locked(Error error) PROA_REQUIRES(mutex_);

  // Without it.
  void proceed(Caller caller) PROA_EXCLUDES(mutex_);
  void start_step(Task& task, Caller caller) PROA_EXCLUDES(mutex_);
  Result<std::unique_ptr<Request>> build_step(Task& task);
  void on_response(StepSink& sink, Response response, bool final) PROA_EXCLUDES(mutex_);
  void on_not_started(const Task& task, std::optional<Error> error) PROA_EXCLUDES(mutex_);
  void flush() PROA_EXCLUDES(mutex_);
  void send_last(Outgoing last);
  void let_producers_go_on(bool failed) PROA_EXCLUDES(mutex_);
  void wake_producers() PROA_EXCLUDES(mutex_);
  std::shared_ptr<CancellationToken> cancellation_of_step() PROA_EXCLUDES(mutex_);
  void cancel_steps() PROA_EXCLUDES(mutex_);
  std::optional<Error> not_wanted() const;
  std::size_t credit() PROA_EXCLUDES(mutex_);
  void when_credit(std::move_only_function<void()> ready) PROA_EXCLUDES(mutex_);
  Error in_step(std::size_t step, const Error& error) const;

  std::unique_ptr<Request> request_;  // goes last
  Ensemble& ensemble_;
  const EnsemblePlan& plan_;
  const std::shared_ptr<const EnsemblePin> pin_;
  const EnsembleBinding& binding_;
  std::optional<EnsembleRoute> own_route_;  // of a request that wants a part of the outputs
  const EnsembleRoute& route_;

  Mutex mutex_;
  Frame root_ PROA_GUARDED_BY(mutex_);
  std::vector<Task> ready_ PROA_GUARDED_BY(mutex_);
  std::size_t running_ PROA_GUARDED_BY(mutex_) = 0;  // steps that are to start or have not ended
  std::optional<Error> error_ PROA_GUARDED_BY(mutex_);
  TimeSpent spent_ PROA_GUARDED_BY(mutex_);
  std::vector<Response> answers_ PROA_GUARDED_BY(mutex_);
  bool sending_ PROA_GUARDED_BY(mutex_) = false;  // a thread is in flush(), or the end was sent
  // Of the steps under way, where more than one may be.
  std::vector<std::weak_ptr<CancellationToken>> tokens_ PROA_GUARDED_BY(mutex_);
  bool watching_ PROA_GUARDED_BY(mutex_) = false;   // the request's own token
  std::size_t frames_ PROA_GUARDED_BY(mutex_) = 0;  // open ones, beside the root
  std::vector<std::move_only_function<void()>> waiters_ PROA_GUARDED_BY(mutex_);  // for a frame
};

}  // namespace proa::core
