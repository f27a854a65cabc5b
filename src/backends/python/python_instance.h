#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/python/session.h"
#include "backends/python/worker_state.h"
#include "base/mutex.h"
#include "core/backend.h"

namespace proa::backends::python {

// An instance of a model in a process of its own, and in further ones when that ends. A thread
// ("proa-py-NAME") starts the process, hears it, and answers.
//
// A process that ends takes with it the requests of the batches it had begun: they get an error
// that says how it ended. Those it had not begun, and those that come until the next process is
// ready, wait for that. The first restart is at once, further ones without a batch answered
// in between are delayed, up to half a minute; while that lasts, and when a start fails, requests
// are refused with the reason.
class PythonInstance final : public core::Instance {
 public:
  struct Options {
    std::string name;          // of the instance
    std::string kind = "CPU";  // and where it is to run, as `initialize` gets it
    int device = 0;
    std::shared_ptr<WorkerState> state;
  };
  // Returns when `initialize` has. `plan` outlives the instance. Errors: as Session::start().
  static Result<std::unique_ptr<PythonInstance>> create(const WorkerPlan& plan, Options options);
  ~PythonInstance() override;

  void start(std::unique_ptr<core::Batch> batch, Done done) override PROA_EXCLUDES(mutex_);
  int max_in_flight() const override { return plan_.settings.max_in_flight; }
  bool usable() const override { return options_.state->up(); }

 private:
  struct Waiting {
    std::unique_ptr<core::Batch> batch;
    Done done;
  };

  PythonInstance(const WorkerPlan& plan, Options options)
      : plan_(plan), options_(std::move(options)) {}
  void run() PROA_EXCLUDES(mutex_);
  std::shared_ptr<Session> launch() PROA_EXCLUDES(mutex_);
  void bring_up(std::shared_ptr<Session> session) PROA_EXCLUDES(mutex_);
  void take_down(Session& session, const std::string& why) PROA_EXCLUDES(mutex_);
  void refuse(Error error) PROA_EXCLUDES(mutex_);
  void back_off() PROA_EXCLUDES(mutex_);
  bool stopping() const { return stop_.load(std::memory_order_relaxed); }

  const WorkerPlan& plan_;
  const Options options_;
  std::atomic<bool> stop_ = false;
  int fruitless_ = 0;  // processes in a row that answered nothing
  Mutex mutex_;
  CondVar changed_;
  // The first start has succeeded or failed.
  std::optional<Status> first_ PROA_GUARDED_BY(mutex_);
  std::shared_ptr<Session> session_ PROA_GUARDED_BY(mutex_);  // null: none is ready
  std::optional<Error> refusing_ PROA_GUARDED_BY(mutex_);     // what batches get instead of waiting
  std::vector<Waiting> waiting_ PROA_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace proa::backends::python
