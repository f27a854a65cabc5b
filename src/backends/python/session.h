#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/python/calls.h"
#include "backends/python/flights.h"
#include "backends/python/lending.h"
#include "backends/python/process.h"
#include "backends/python/settings.h"
#include "backends/python/worker_state.h"
#include "config/model_config.h"
#include "core/custom_metrics.h"

namespace proa::backends::python {

// What every worker of a model is started with.
// Threading: immutable.
struct WorkerPlan {
  config::ModelConfig config;
  Settings settings;
  Process::Options process;
  // What `initialize` gets, and what the worker needs beside: name and text.
  std::vector<std::pair<std::string, std::string>> arguments;
  std::shared_ptr<const void> environment;  // a folder that workers need; null = none
  std::shared_ptr<SharedMemory> memory;
  Timer* timer = nullptr;
  const Clock* clock = nullptr;
  core::ModelAccess* models = nullptr;                  // null: no model can be asked
  std::shared_ptr<core::CustomMetrics::Owner> metrics;  // null: there are none
};

// One worker process from its start to its end: the conversation with it.
//
// Life: by shared_ptr; start() and serve() on the thread that the process is tied to.
// Threading: submit() by any thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // Starts the process and waits until `initialize` has returned. `more` goes behind the plan's
  // arguments. Gives up when `stop` becomes true.
  // Errors: what model.py raised, with its place; kDeadlineExceeded; how the process ended.
  static Result<std::shared_ptr<Session>> start(
      const WorkerPlan& plan, std::vector<std::pair<std::string, std::string>> more,
      const std::atomic<bool>& stop);
  // Asks a process of its own for the configuration as `auto_complete_config` leaves it: JSON.
  static Result<std::string> complete(const WorkerPlan& plan);

  // Gives the worker a batch. False when the process has ended, and the batch stays the caller's;
  // else it is done sooner or later, unless unfinished() has it.
  bool submit(std::unique_ptr<core::Batch>& batch, core::Instance::Done& done);

  // Hears the worker until the process ends, or `stop` becomes true and `finalize` has returned;
  // notes in `state` what is_ready() of model.py says.
  // Tells in words why it ended: "was killed by signal 9 (SIGKILL)".
  std::string serve(const std::atomic<bool>& stop, WorkerState& state);
  // Tells the worker to finalize and end, once; serve() does so too when it sees `stop`.
  void ask_to_stop();

  // After serve(): the batches that the worker had begun, and those it had not.
  struct Unfinished {
    std::vector<Flight> begun;
    std::vector<Flight> waiting;
  };
  Unfinished unfinished();

  // How many batches it has answered.
  std::uint64_t finished() const { return flights_.finished(); }

 private:
  Session(const WorkerPlan& plan, Process process, std::shared_ptr<Channel> channel,
          std::shared_ptr<StatusPage> page);
  static Result<std::shared_ptr<Session>> launch(const WorkerPlan& plan);
  Status send_arguments(Message kind, const std::vector<std::pair<std::string, std::string>>& more);
  // Waits for the answer of that kind. Errors: as start().
  Result<std::unique_ptr<Incoming>> wait_for(Message kind, const std::atomic<bool>* stop);
  Status handle(Incoming& message);
  Status take_responses(Incoming& message);
  void log(Incoming& message);
  // What to end the process for, if anything: no answer for too long.
  std::optional<std::string> overdue(TimePoint stopped);
  // How long a client that takes nothing excuses the worker.
  Duration patience() const;
  void check_ready(WorkerState& state);
  std::string end_of(std::string why);

  const WorkerPlan& plan_;
  Process process_;
  const std::shared_ptr<Channel> channel_;
  const std::shared_ptr<Lending> lending_;
  Flights flights_;
  const std::shared_ptr<Calls> calls_;
  std::atomic<bool> asked_to_stop_ = false;
  bool can_say_ready_ = false;      // model.py has is_ready()
  TimePoint asked_ready_ = kNever;  // and has not answered since
  std::optional<bool> said_ready_;  // an answer that was not noted yet
};

}  // namespace proa::backends::python
