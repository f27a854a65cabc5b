#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "loadgen/clients/client.h"
#include "loadgen/clients/loop.h"
#include "loadgen/measure/slice.h"
#include "loadgen/run/start_gate.h"
#include "loadgen/run/wake_up_margin.h"
#include "loadgen/schedules/picker.h"
#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

struct WorkerOptions {
  const Target* target = nullptr;
  Load load;
  PickerOptions picker;  // its `worker` and `workers` say which worker this is
  Duration slice_length = std::chrono::milliseconds(100);
  Duration late_bound = std::chrono::milliseconds(1);
  Duration request_timeout{0};                     // 0 = none
  Duration drain_limit = std::chrono::seconds(5);  // for what is in flight at the end
  std::size_t prepared_connections = 8;            // open loop: before the start
  bool keep_requests = false;
};

// One thread of the generator during one pass: an event loop, its connections and its counters.
// Sends when the schedule says, what the picker says, and leaves what happened on the board.
// Threading: run() is the thread's body; stop() may come from any thread.
class Worker final : private ExchangeSink {
 public:
  // `gate` and `board` must outlive it. Errors: of the event loop.
  static Result<std::unique_ptr<Worker>> create(const WorkerOptions& options, StartGate& gate,
                                                SliceBoard& board);

  // From the first connection to the last answer, or the drain limit.
  void run();
  // No further request; run() returns when those in flight have ended.
  void stop();

  // After run().
  Client::Statistics statistics() const { return client_->statistics(); }

 private:
  Worker(const WorkerOptions& options, StartGate& gate, SliceBoard& board);

  void finished(Exchange& exchange) override;

  void prepare();
  void serve_schedule();
  TimePoint send_due(TimePoint now);
  TimePoint wake_up_time(TimePoint due) const;
  void drain();
  void send(const Picker::Choice& choice, TimePoint due, TimePoint at);
  void record(const Exchange& exchange);
  void keep_record(const Exchange& exchange);
  void expire(TimePoint now);
  void give_up();
  void rotate(TimePoint now);
  void publish();

  Exchange& new_exchange();

  const WorkerOptions options_;
  StartGate& gate_;
  SliceBoard& board_;
  Loop loop_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Schedule> schedule_;
  Picker picker_;
  TimePoint start_;
  TimePoint slice_end_;
  Slice slice_;
  ThreadUsage usage_;
  WakeUpMargin wake_up_;
  TimePoint last_due_;
  Duration longest_{0};   // of the answers so far, from due
  bool cut_off_ = false;  // what ends now was ended by the load's end
  std::vector<Exchange*> in_flight_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;  // all there are
  std::vector<Exchange*> free_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace proa::loadgen
