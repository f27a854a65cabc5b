#include "backends/python/flights.h"

#include <algorithm>
#include <utility>

namespace proa::backends::python {

Result<std::uint64_t> Flights::add(std::unique_ptr<core::Batch>& batch, core::Instance::Done& done,
                                   Draft& draft, Lending& lending, bool copy_inputs) {
  Flight flight;
  const auto requests = batch->requests();
  {
    MutexLock lock(mutex_);
    flight.first = next_;
    next_ += requests.size();
  }
  draft.body.put(flight.first);
  draft.body.put(copy_inputs ? kCopyInputs : std::uint32_t{0});
  draft.body.put(std::uint32_t{0});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::uint32_t slot = page_->take_slot();
    flight.slots.push_back(slot);
    const std::uint64_t number = flight.first + i;
    if (requests[i]->cancellation != nullptr) {
      requests[i]->cancellation->on_cancel(
          [page = page_, slot, number] { page->cancel(slot, number); });
    }
    if (Status put = put_request(*requests[i], number, slot, draft, lending); !put) {
      for (const std::uint32_t taken : flight.slots) page_->give_back(taken);
      return std::move(put).error();
    }
  }
  flight.left = requests.size();
  flight.ended.resize(flight.left);
  flight.content.resize(flight.left);
  flight.stalled.resize(flight.left);
  batch->inputs_ready = flight.heard = clock_.now();
  flight.batch = std::move(batch);
  flight.done = std::move(done);
  MutexLock lock(mutex_);
  if (closed_) {
    batch = std::move(flight.batch);
    done = std::move(flight.done);
    return error::unavailable("the worker process has ended");
  }
  const std::uint64_t first = flight.first;
  flights_.emplace(first, std::move(flight));
  return first;
}

bool Flights::take_back(std::uint64_t first, std::unique_ptr<core::Batch>& batch,
                        core::Instance::Done& done) {
  MutexLock lock(mutex_);
  const auto found = flights_.find(first);
  if (found == flights_.end()) return false;
  for (const std::uint32_t slot : found->second.slots) page_->give_back(slot);
  batch = std::move(found->second.batch);
  done = std::move(found->second.done);
  flights_.erase(found);
  return true;
}

Flight* Flights::find(std::uint64_t number) {
  MutexLock lock(mutex_);
  auto next = flights_.upper_bound(number);
  if (next == flights_.begin()) return nullptr;
  Flight& flight = std::prev(next)->second;
  return number < flight.end() ? &flight : nullptr;
}

Status Flights::answer(WorkerResponse response) {
  Flight* const flight = find(response.number);
  const std::size_t index = flight == nullptr ? 0 : response.number - flight->first;
  if (flight == nullptr || flight->ended[index]) {
    return error::internal("the worker process answered request {}, which it does not have",
                           response.number);
  }
  flight->heard = clock_.now();
  const bool stalled = flight->stalled[index];
  if (response.content && !stalled) say(*flight, index, response);
  if (!response.final) return {};
  if (stalled) finish_stalled(*flight, index);
  if (!flight->content[index]) {
    core::Response nothing;
    if (!config_.decoupled) {
      nothing.error = error::internal(
          "model '{}': model.py ended a request without a response; only a decoupled model "
          "(model_transaction_policy) may do that",
          config_.name);
    }
    flight->batch->set_response(index, std::move(nothing));
  }
  end(*flight, index);
  return {};
}

// A model with one response keeps it until the request ends.
void Flights::say(Flight& flight, std::size_t index, WorkerResponse& response) {
  core::Request& request = *flight.batch->requests()[index];
  if (config_.decoupled && !response.final) {
    request.sink->send(std::move(*response.content), false);
    if (request.sink->credit() == 0) hold_back(flight, index);
    return;
  }
  core::Response content = std::move(*response.content);
  if (!config_.decoupled && flight.content[index]) {
    content = core::Response{
        .error = error::internal("model '{}': model.py sent more than one response to a request; "
                                 "set model_transaction_policy {{ decoupled: true }}",
                                 config_.name)};
  }
  flight.content[index] = true;
  flight.batch->set_response(index, std::move(content));
}

void Flights::finish_stalled(Flight& flight, std::size_t index) {
  flight.content[index] = true;
  flight.batch->set_response(
      index, {.error = error::deadline_exceeded(
                  "model '{}': the client took no response for so long that the request was "
                  "cancelled (ten times parameter execute_timeout_s)",
                  config_.name)});
}

void Flights::hold_back(Flight& flight, std::size_t index) {
  const std::uint32_t slot = flight.slots[index];
  const std::uint64_t number = flight.first + index;
  if (slot == 0) return;
  flight.held = clock_.now();
  page_->pause(slot, number);
  flight.batch->requests()[index]->sink->when_credit(
      [page = page_, slot, number, on_credit = on_credit_] {
        page->go_on(slot, number);
        on_credit(number);
      });
}

void Flights::end(Flight& flight, std::size_t index) {
  flight.ended[index] = true;
  page_->give_back(flight.slots[index]);
  if (--flight.left > 0) return;
  ++finished_;
  flight.batch->computed = clock_.now();
  auto batch = std::move(flight.batch);
  auto done = std::move(flight.done);
  {
    MutexLock lock(mutex_);
    flights_.erase(flight.first);
    // It has only now come to the others.
    for (auto& [first, waiting] : flights_) waiting.heard = batch->computed;
  }
  done(std::move(batch));
}

int Flights::depth() const {
  int depth = 0;
  MutexLock lock(mutex_);
  for (const auto& [first, flight] : flights_) {
    for (const auto& request : flight.batch->requests()) depth = std::max(depth, request->depth);
  }
  return depth;
}

std::vector<Flight> Flights::take_all() {
  std::vector<Flight> all;
  MutexLock lock(mutex_);
  closed_ = true;
  for (auto& [first, flight] : flights_) all.push_back(std::move(flight));
  flights_.clear();
  return all;
}

TimePoint Flights::oldest() {
  const TimePoint now = clock_.now();
  TimePoint oldest = kNever;
  MutexLock lock(mutex_);
  const bool excused = std::ranges::any_of(flights_, [&](const auto& each) {
    for (std::size_t i = 0; i < each.second.slots.size(); ++i) {
      if (is_held_back(each.second, i)) return true;
    }
    return false;
  });
  for (auto& [first, flight] : flights_) {
    if (excused) flight.heard = now;
    oldest = std::min(oldest, flight.heard);
  }
  return oldest;
}

void Flights::cancel_stalled(Duration patience) {
  const TimePoint now = clock_.now();
  std::vector<std::uint64_t> cancelled;
  {
    MutexLock lock(mutex_);
    for (auto& [first, flight] : flights_) {
      for (std::size_t i = 0; i < flight.slots.size(); ++i) {
        if (!is_held_back(flight, i) || now <= deadline_after(flight.held, patience)) continue;
        flight.stalled[i] = true;
        page_->cancel(flight.slots[i], first + i);
        page_->go_on(flight.slots[i], first + i);
        cancelled.push_back(first + i);
      }
    }
  }
  for (const std::uint64_t number : cancelled) on_credit_(number);  // wakes the worker
}

bool Flights::is_held_back(const Flight& flight, std::size_t index) const {
  return !flight.ended[index] && page_->is_paused(flight.slots[index], flight.first + index);
}

}  // namespace proa::backends::python
