#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backends/python/lending.h"
#include "backends/python/messages.h"
#include "backends/python/status_page.h"
#include "base/mutex.h"
#include "core/backend.h"
#include "core/batch.h"

namespace proa::backends::python {

// One batch in the hands of a worker.
struct Flight {
  std::unique_ptr<core::Batch> batch;
  core::Instance::Done done;
  std::uint64_t first = 0;  // the number of its first request; the others follow
  std::vector<std::uint32_t> slots;
  std::vector<bool> ended;    // by request
  std::vector<bool> content;  // something was said to it
  std::vector<bool> stalled;  // its client took nothing for too long: nothing more is said to it
  std::size_t left = 0;
  TimePoint heard = kNever;  // when it was sent, or the worker last answered one of its requests
  TimePoint held = kNever;   // when the worker was last told to wait for a client

  std::uint64_t end() const { return first + batch->requests().size(); }
};

// The batches that one worker process has, and what becomes of its responses.
//
// Threading: add() by any thread; the others by the one that receives.
class Flights {
 public:
  // Hears that the client of that request takes responses again, on any thread.
  using OnCredit = std::function<void(std::uint64_t number)>;

  Flights(const config::ModelConfig& config, std::shared_ptr<StatusPage> page, const Clock& clock,
          OnCredit on_credit)
      : config_(config), page_(std::move(page)), clock_(clock), on_credit_(std::move(on_credit)) {}

  // Takes the batch and appends its requests to the draft of a kExecute message; the number of its
  // first request. The numbers of
  // batches ascend. An error means that it was not taken: kResourceExhausted; kUnavailable after
  // take_all(). The draft is to be abandoned then.
  Result<std::uint64_t> add(std::unique_ptr<core::Batch>& batch, core::Instance::Done& done,
                            Draft& draft, Lending& lending, bool copy_inputs) PROA_EXCLUDES(mutex_);

  // Gives back a batch that was not sent. False when take_all() has it.
  bool take_back(std::uint64_t first, std::unique_ptr<core::Batch>& batch,
                 core::Instance::Done& done) PROA_EXCLUDES(mutex_);

  // Gives a response to its request; a batch whose requests have all ended is done.
  // Errors: kInternal for a request that there is not.
  Status answer(WorkerResponse response) PROA_EXCLUDES(mutex_);

  // All that are left, in their order; they are the caller's. No other is taken any more.
  std::vector<Flight> take_all() PROA_EXCLUDES(mutex_);
  // When the worker was last heard of by the batch that waits longest; kNever when there is none.
  // While the worker must not answer a request, because its client does not take what it has, the
  // worker counts as heard of by all (they may wait behind that one): to be called several times
  // within the shortest limit.
  TimePoint oldest() PROA_EXCLUDES(mutex_);
  // Cancels requests whose client has taken nothing for `patience`, so that the worker need not
  // wait for it any more; each ends with an error when the worker ends it.
  void cancel_stalled(Duration patience) PROA_EXCLUDES(mutex_);

  // The greatest depth of the requests that the worker has.
  int depth() const PROA_EXCLUDES(mutex_);

  // How many batches have been done.
  std::uint64_t finished() const { return finished_; }
  const StatusPage& page() const { return *page_; }

 private:
  Flight* find(std::uint64_t number) PROA_EXCLUDES(mutex_);
  void end(Flight& flight, std::size_t index) PROA_EXCLUDES(mutex_);
  void say(Flight& flight, std::size_t index, WorkerResponse& response);
  void hold_back(Flight& flight, std::size_t index);
  void finish_stalled(Flight& flight, std::size_t index);
  bool is_held_back(const Flight& flight, std::size_t index) const;

  const config::ModelConfig& config_;
  const std::shared_ptr<StatusPage> page_;
  const Clock& clock_;
  const OnCredit on_credit_;
  std::uint64_t finished_ = 0;
  mutable Mutex mutex_;
  std::uint64_t next_ PROA_GUARDED_BY(mutex_) = 1;
  bool closed_ PROA_GUARDED_BY(mutex_) = false;
  std::map<std::uint64_t, Flight> flights_ PROA_GUARDED_BY(mutex_);  // by `first`
};

}  // namespace proa::backends::python
