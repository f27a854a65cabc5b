#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/timer.h"
#include "boost/container/small_vector.hpp"
#include "core/backend.h"
#include "core/batch_policy.h"
#include "core/dispatcher.h"
#include "core/gate.h"
#include "core/request_queue.h"
#include "core/response_order.h"
#include "core/statistics.h"

namespace proa::core {

// Brings the requests of one model to its instances: a queue, a capacity token per instance, a
// policy that decides what makes a batch, and the timer. Late sealing: a batch is made when a token
// is free for it, never earlier.
//
// Whoever changes something (a request comes, a batch is done, time passes) plans under the lock
// what follows and does it after the lock is released: sends answers, wakes instance threads,
// starts batches. Batches of kInline instances run on the thread that brought the request, a few in
// a row; the instance's own thread takes over when there is more. kBlocking instances run on their
// own threads only, kAsync ones are started by anybody.
//
// Life: made by Model; every request in it holds the model. stop() before the last reference goes.
// Threading: thread-safe.
class Scheduler final : public Dispatcher, public std::enable_shared_from_this<Scheduler> {
 public:
  struct Options {
    Execution execution = Execution::kBlocking;
    const Clock* clock = &steady_clock();
    Timer* timer = nullptr;  // required
    Gate* gate = nullptr;    // null = always open
    std::shared_ptr<ModelStatistics> statistics;
  };

  Scheduler(const config::ModelConfig& config, std::vector<std::unique_ptr<Instance>> instances,
            Options options);
  ~Scheduler() override;

  // Starts the instances' threads. Errors: kResourceExhausted; then stop() is what is left to do.
  Status start();
  void submit(std::unique_ptr<Request> request, Caller caller = Caller::kMayCompute) override
      PROA_EXCLUDES(mutex_);
  // Asks again for instances that the gate has held back.
  void gate_opened() PROA_EXCLUDES(mutex_);
  void shut_down() override PROA_EXCLUDES(mutex_);
  // Ends the threads and destroys the instances. Nothing is in flight; not on an instance's thread.
  void stop() override PROA_EXCLUDES(mutex_);

  std::size_t in_flight() const override { return in_flight_.load(std::memory_order_relaxed); }

 private:
  // The capacity of one instance.
  struct Token {
    std::unique_ptr<Instance> instance;
    std::size_t index = 0;
    int max_in_flight = 1;
    std::thread thread;  // none for kAsync
    CondVar wake;

    // The rest is guarded by Scheduler::mutex_.
    int running = 0;       // batches started and not done
    bool claimed = false;  // a thread is in start(), or `thread` has been woken for it
    bool woken = false;    // `thread` is to run `handed`, or to see what there is
    std::unique_ptr<Batch> handed;

    bool free() const { return !claimed && running < max_in_flight; }
  };

  // Who plans, and what it may run itself.
  struct Runner {
    Token* own = nullptr;         // its thread's token
    bool may_run_inline = false;  // any free token of a kInline model
  };

  struct Offer {
    bool settled = false;          // other tokens need not be asked
    TimePoint ask_again = kNever;  // the policy wants to wait until then
  };

  // What has to be done once the lock is released.
  struct Start {
    Token* token = nullptr;
    std::unique_ptr<Batch> batch;
  };
  struct Ended {
    std::unique_ptr<Request> request;
    Error error;
    FailureReason reason = FailureReason::kRejected;
  };
  struct Actions {
    boost::container::small_vector<Start, 1> starts;
    boost::container::small_vector<Token*, 2> wakes;
    std::vector<Ended> ended;
  };

  // Decisions, under the lock.
  std::optional<Ended> refuse_locked(const Request& request, TimePoint now) PROA_REQUIRES(mutex_);
  void plan_locked(TimePoint now, const Runner& runner, Actions& actions) PROA_REQUIRES(mutex_);
  Offer offer_locked(Token& token, TimePoint now, const Runner& runner, Actions& actions)
      PROA_REQUIRES(mutex_);
  bool may_use(const Token& token) const;
  bool runs_here(const Token& token, const Runner& runner, const Actions& actions) const;
  std::unique_ptr<Batch> seal_locked(Token& token, const Decision& decision, TimePoint now)
      PROA_REQUIRES(mutex_);
  void seal_for_waking_locked(TimePoint now) PROA_REQUIRES(mutex_);
  void expire_locked(TimePoint now, Actions& actions) PROA_REQUIRES(mutex_);
  void arm_timer_locked(TimePoint when) PROA_REQUIRES(mutex_);

  // Work, without it.
  void drive(Actions& actions, Runner runner, int inline_batches = 0) PROA_EXCLUDES(mutex_);
  void replan() PROA_EXCLUDES(mutex_);
  void on_done(Token& token, std::unique_ptr<Batch> batch) PROA_EXCLUDES(mutex_);
  void on_cancel(RequestQueue::Ticket ticket) PROA_EXCLUDES(mutex_);
  void watch_cancellation(CancellationToken& token, RequestQueue::Ticket ticket);
  void instance_thread(Token& token) PROA_EXCLUDES(mutex_);
  void answer(const Token& token, std::unique_ptr<Batch> batch);
  void end(Ended ended);

  const std::string name_;
  const Options options_;
  const std::unique_ptr<const BatchPolicy> policy_;
  const std::shared_ptr<ResponseOrder> order_;  // null = responses leave as they come

  mutable Mutex mutex_;
  RequestQueue queue_ PROA_GUARDED_BY(mutex_);
  std::deque<Token> tokens_;                // fixed between the constructor and stop()
  int most_in_flight_ = 1;                  // of a token; fixed with them
  int waking_ PROA_GUARDED_BY(mutex_) = 0;  // tokens woken without a batch
  bool shut_down_ PROA_GUARDED_BY(mutex_) = false;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  TimePoint armed_for_ PROA_GUARDED_BY(mutex_) = kNever;
  Timer::Id armed_ PROA_GUARDED_BY(mutex_) = 0;
  std::atomic<std::size_t> in_flight_ = 0;
};

}  // namespace proa::core
