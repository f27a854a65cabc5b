#include "loadgen/run_result.h"

namespace proa::loadgen {
namespace {

double per_second(std::uint64_t count, Duration duration) {
  return duration.count() <= 0
             ? 0
             : static_cast<double>(count) * 1e9 / static_cast<double>(duration.count());
}

}  // namespace

void Counts::add(const Counts& other) {
  sent += other.sent;
  completed += other.completed;
  inferences += other.inferences;
  responses += other.responses;
  errors += other.errors;
  late += other.late;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
}

void Latencies::merge(const Latencies& other) {
  from_due.merge(other.from_due);
  from_send.merge(other.from_send);
  send.merge(other.send);
  wait.merge(other.wait);
  receive.merge(other.receive);
}

double Window::requests_per_second() const { return per_second(counts.completed, duration); }
double Pass::requests_per_second() const { return per_second(counts.completed, measured); }
double Pass::inferences_per_second() const { return per_second(counts.inferences, measured); }
double Pass::responses_per_second() const { return per_second(counts.responses, measured); }
double Pass::errors_per_second() const { return per_second(counts.errors, measured); }

}  // namespace proa::loadgen
