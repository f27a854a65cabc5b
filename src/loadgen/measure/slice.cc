#include "loadgen/measure/slice.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace proa::loadgen {
namespace {

// The second number of schedstat: nanoseconds on the run queue; 0 where the kernel has none.
Duration run_queue_wait() {
  const int fd = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Duration(0);
  std::array<char, 96> text;
  const ssize_t size = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (size <= 0) return Duration(0);
  const std::string_view numbers(text.data(), static_cast<std::size_t>(size));
  const auto space = numbers.find(' ');
  std::int64_t wait = 0;
  if (space != std::string_view::npos) {
    std::from_chars(numbers.data() + space + 1, numbers.data() + numbers.size(), wait);
  }
  return Duration(wait);
}

}  // namespace

ThreadUsage ThreadUsage::now() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return {Duration(used.tv_sec * std::int64_t{1'000'000'000} + used.tv_nsec), run_queue_wait()};
}

Counts Slice::counts() const {
  Counts sum;
  for (const ModelPass& model : models) sum.add(model.counts);
  return sum;
}

void Slice::record_done(const Exchange& exchange, std::uint64_t inferences, Duration late_bound) {
  ModelPass& model = models[exchange.model];
  // A queue behind connections that the server keeps busy is the server's.
  const Duration late = (exchange.waited_for_room ? exchange.ready : exchange.sent) - exchange.due;
  lateness.record(late);
  if (late > late_bound) ++model.counts.late;
  model.counts.bytes_sent += exchange.bytes_sent;
  model.counts.bytes_received += exchange.bytes_received;
  if (exchange.failure != nullptr) {
    ++model.counts.errors;
    add_errors({exchange.failure->kind, 1, exchange.failure->message});
    return;
  }
  ++model.counts.completed;
  model.counts.inferences += inferences;
  model.counts.responses += exchange.responses;
  model.latencies.from_due.record(exchange.done - exchange.due);
  model.latencies.from_send.record(exchange.done - exchange.sent);
  model.latencies.send.record(exchange.sent_all - exchange.sent);
  model.latencies.wait.record(exchange.first_byte - exchange.sent_all);
  model.latencies.receive.record(exchange.done - exchange.first_byte);
}

void Slice::add_errors(const ErrorGroup& group) {
  const auto [mine, is_new] = errors.try_emplace(group.kind, group);
  if (!is_new) mine->second.count += group.count;
}

void Slice::merge(const Slice& other) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].counts.add(other.models[i].counts);
    models[i].latencies.merge(other.models[i].latencies);
  }
  lateness.merge(other.lateness);
  for (const auto& [kind, group] : other.errors) add_errors(group);
  requests.insert(requests.end(), other.requests.begin(), other.requests.end());
  in_flight += other.in_flight;
  usage.used += other.usage.used;
  usage.waited += other.usage.waited;
  last_done = std::max(last_done, other.last_done);
  busiest = std::max(busiest, other.busiest);
}

void Slice::append(const Slice& later) {
  const Duration busy = busiest + later.busiest;
  merge(later);
  busiest = busy;
  in_flight = later.in_flight;
}

void SliceBoard::put(Slice slice) {
  const MutexLock lock(mutex_);
  const std::uint32_t index = slice.index;
  const auto at = sums_.find(index);
  if (at == sums_.end()) {
    sums_.emplace(index, Sum{std::move(slice), 1});
  } else {
    at->second.slice.merge(slice);
    ++at->second.parts;
  }
  changed_.notify_one();
}

void SliceBoard::close() {
  const MutexLock lock(mutex_);
  ++closed_;
  changed_.notify_one();
}

std::optional<Slice> SliceBoard::take_any() {
  const MutexLock lock(mutex_);
  if (sums_.empty()) return std::nullopt;
  auto first = sums_.extract(sums_.begin());
  return std::move(first.mapped().slice);
}

std::optional<Slice> SliceBoard::take(std::uint32_t index, TimePoint until) {
  const MutexLock lock(mutex_);
  while (true) {
    const auto at = sums_.find(index);
    const int parts = at == sums_.end() ? 0 : at->second.parts;
    if (parts == workers_ || (parts > 0 && closed_ == workers_)) {
      Slice slice = std::move(at->second.slice);
      sums_.erase(at);
      return slice;
    }
    if (closed_ == workers_ || steady_clock().now() >= until) return std::nullopt;
    changed_.wait_until(mutex_, until);
  }
}

}  // namespace proa::loadgen
