#include "loadgen/run/worker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr Duration kPrepareLimit = std::chrono::seconds(1);

TimePoint now() { return steady_clock().now(); }

bool is_closed_loop(const Load& load) { return load.shape == LoadShape::kConcurrency; }

}  // namespace

Result<std::unique_ptr<Worker>> Worker::create(const WorkerOptions& options, StartGate& gate,
                                               SliceBoard& board) {
  std::unique_ptr<Worker> worker(new Worker(options, gate, board));
  PROA_TRY(worker->loop_.open());
  worker->client_ = options.target->make_client(worker->loop_, *worker);
  return worker;
}

Worker::Worker(const WorkerOptions& options, StartGate& gate, SliceBoard& board)
    : options_(options),
      gate_(gate),
      board_(board),
      picker_(options.picker),
      slice_(options.picker.sets.size(), 0) {}

void Worker::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  loop_.wake();
}

void Worker::run() {
  // Waits end on time, not up to 50 us later.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  prepare();
  last_due_ = start_ = gate_.arrive();
  slice_end_ = start_ + options_.slice_length;
  usage_ = ThreadUsage::now();
  schedule_ = make_schedule(options_.load, start_, options_.picker.worker, options_.picker.workers);
  serve_schedule();
  drain();
  publish();
  board_.close();
}

void Worker::prepare() {
  std::size_t connections = options_.prepared_connections;
  if (is_closed_loop(options_.load)) {
    const auto workers = static_cast<std::size_t>(options_.picker.workers);
    connections = (static_cast<std::size_t>(options_.load.value) + workers - 1) / workers;
  }
  client_->prepare(connections);
  const TimePoint limit = now() + kPrepareLimit;
  while (!client_->prepared() && now() < limit) loop_.run_once(limit);
}

void Worker::serve_schedule() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    const TimePoint due = send_due(now());
    client_->flush();
    const TimePoint wake = std::min(wake_up_time(due), slice_end_);
    const bool sleeps = wake > now();
    const bool timed_out = !loop_.run_once(wake);
    const TimePoint at = now();
    if (sleeps && timed_out) wake_up_.record(at - wake);
    rotate(at);
  }
}

// Who sleeps until a moment wakes up after it. From a little before it the loop turns without
// sleeping, for a tenth of the time between two requests at most.
TimePoint Worker::wake_up_time(TimePoint due) const {
  if (is_closed_loop(options_.load) || due == kNever) return due;
  return due - std::min(wake_up_.margin(), (due - last_due_) / 10);
}

// Sends all that is due; when to come again.
TimePoint Worker::send_due(TimePoint at) {
  const bool patient = is_closed_loop(options_.load);
  while (true) {
    const TimePoint due = schedule_->next_due(at, in_flight_.size());
    if (due > at) return due;
    // Nobody in a closed loop sends faster because the server is away.
    if (patient && client_->ready_at() > at) return client_->ready_at();
    schedule_->take();
    last_due_ = due;
    send(picker_.next(), due, at);
    at = now();
    if (at >= slice_end_) return at;  // time for the counters, even when sending never ends
  }
}

void Worker::drain() {
  const TimePoint limit = now() + options_.drain_limit;
  while (now() < limit) {
    while (const auto choice = picker_.next_to_close()) {
      const TimePoint at = now();
      send(*choice, at, at);
    }
    client_->flush();
    if (in_flight_.empty()) break;
    loop_.run_once(std::min(limit, slice_end_));
    rotate(now());
  }
  give_up();
}

// What is still under way is no failure where it has not taken clearly longer than others have: the
// load has ended before it. Of a load that ends by itself all answers were waited for.
void Worker::give_up() {
  client_->close();
  const TimePoint at = now();
  const double seconds = static_cast<double>(options_.drain_limit.count()) / 1e9;
  const Failure failure{"no answer",
                        fmt::format("no answer within {:g} s after the end of the load", seconds)};
  while (!in_flight_.empty()) {
    Exchange& exchange = *in_flight_.back();
    cut_off_ = !options_.load.ends_by_itself() && at - exchange.due < 2 * longest_;
    client_->cancel(exchange, failure);
  }
}

void Worker::send(const Picker::Choice& choice, TimePoint due, TimePoint at) {
  Exchange& exchange = new_exchange();
  exchange.model = choice.model;
  exchange.payload = choice.payload;
  exchange.sequence = choice.sequence;
  exchange.due = due;
  exchange.ready = at;
  exchange.keep_response_times = options_.keep_requests;
  exchange.in_flight_index = static_cast<std::uint32_t>(in_flight_.size());
  in_flight_.push_back(&exchange);
  ++slice_.models[choice.model].counts.sent;
  client_->start(exchange);
}

Exchange& Worker::new_exchange() {
  if (free_.empty()) {
    exchanges_.push_back(std::make_unique<Exchange>());
    return *exchanges_.back();
  }
  Exchange& exchange = *free_.back();
  free_.pop_back();
  exchange = Exchange();
  return exchange;
}

void Worker::finished(Exchange& exchange) {
  // In a closed loop nothing is due before it is sent.
  if (is_closed_loop(options_.load)) exchange.due = exchange.sent;
  if (!cut_off_) record(exchange);
  picker_.finished(exchange);
  Exchange*& place = in_flight_[exchange.in_flight_index];
  place = in_flight_.back();
  place->in_flight_index = exchange.in_flight_index;
  in_flight_.pop_back();
  free_.push_back(&exchange);
}

void Worker::record(const Exchange& exchange) {
  const auto inferences =
      static_cast<std::uint64_t>(options_.picker.sets[exchange.model]->batch_size);
  slice_.record_done(exchange, inferences, options_.late_bound);
  slice_.last_done = std::max(slice_.last_done, exchange.done - start_);
  if (exchange.failure == nullptr) longest_ = std::max(longest_, exchange.done - exchange.due);
  if (options_.keep_requests) keep_record(exchange);
}

void Worker::keep_record(const Exchange& exchange) {
  RequestRecord record;
  record.due = exchange.due - start_;
  record.sent = exchange.sent - start_;
  if (exchange.first_byte != TimePoint()) record.first_byte = exchange.first_byte - start_;
  record.done = exchange.done - start_;
  record.model = exchange.model;
  record.payload = exchange.payload;
  record.failed = exchange.failure != nullptr;
  record.sequence_id = exchange.sequence.id;
  for (const TimePoint at : exchange.response_times) record.responses.push_back(at - start_);
  slice_.requests.push_back(std::move(record));
}

void Worker::expire(TimePoint at) {
  if (options_.request_timeout.count() == 0) return;
  const double ms = static_cast<double>(options_.request_timeout.count()) / 1e6;
  for (std::size_t i = in_flight_.size(); i-- > 0;) {
    if (i >= in_flight_.size() || at - in_flight_[i]->due < options_.request_timeout) continue;
    client_->cancel(*in_flight_[i], {"timeout", fmt::format("no answer within {:g} ms", ms)});
  }
}

void Worker::rotate(TimePoint at) {
  if (at < slice_end_) return;
  expire(at);
  while (at >= slice_end_) publish();
}

// Leaves the slice on the board and begins the next one.
void Worker::publish() {
  const ThreadUsage usage = ThreadUsage::now();
  slice_.usage = {usage.used - usage_.used, usage.waited - usage_.waited};
  slice_.busiest = slice_.usage.used;
  usage_ = usage;
  slice_.in_flight = in_flight_.size();
  const std::uint32_t next = slice_.index + 1;
  board_.put(std::exchange(slice_, Slice(options_.picker.sets.size(), next)));
  slice_end_ += options_.slice_length;
}

}  // namespace proa::loadgen
