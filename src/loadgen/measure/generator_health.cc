#include "loadgen/measure/generator_health.h"

#include <algorithm>

#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr double kBusy = 0.95;
constexpr double kSentShare = 0.995;
constexpr double kLateShare = 0.01;
constexpr double kFew = 3;  // requests that are late or missing by chance
constexpr double kLatenessOfLatency = 0.1;
constexpr double kWaited = 0.05;

double ratio(double part, double whole) { return whole <= 0 ? 0 : part / whole; }

std::string advice(const GeneratorHealth& health) {
  if (health.waited > kWaited) {
    return fmt::format(
        "its threads were ready but had no processor for {:.0f} % of the time: run it "
        "on a machine of its own, or stop other work",
        100 * health.waited);
  }
  if (health.busy > 0.8) {
    return fmt::format(
        "a thread was busy for {:.0f} % of the time: take more threads "
        "(--max-threads {})",
        100 * health.busy, 2 * health.threads);
  }
  return "the machine held it up";
}

std::string reason_of(const GeneratorEvidence& evidence, const GeneratorHealth& health) {
  if (!evidence.open_loop) {
    if (health.busy < kBusy) return "";
    return "the generator was the limit: " + advice(health);
  }
  const Counts counts = evidence.sum.counts();
  const bool missing = evidence.asked - static_cast<double>(counts.sent) >= kFew;
  if (missing && health.sent_rate < kSentShare * health.asked_rate) {
    return fmt::format("sent {:.1f} of {:.1f} requests a second: {}", health.sent_rate,
                       health.asked_rate, advice(health));
  }
  const Duration late = health.lateness.quantile(0.99);
  const auto bearable =
      kLatenessOfLatency * static_cast<double>(evidence.latency.quantile(0.99).count());
  const bool many = static_cast<double>(counts.late) >= kFew && health.late_share > kLateShare;
  if (many && static_cast<double>(late.count()) > bearable) {
    return fmt::format("{:.1f} % of the requests were sent late, by {:.1f} ms at p99: {}",
                       100 * health.late_share, static_cast<double>(late.count()) / 1e6,
                       advice(health));
  }
  return "";
}

}  // namespace

void judge_generator(const GeneratorEvidence& evidence, GeneratorHealth& health) {
  const Counts counts = evidence.sum.counts();
  const auto ns = static_cast<double>(evidence.measured.count());
  const auto ended = static_cast<double>(counts.completed + counts.errors);
  const ThreadUsage& usage = evidence.sum.usage;
  health.busy = ratio(static_cast<double>(evidence.sum.busiest.count()), ns);
  health.waited =
      ratio(static_cast<double>(usage.waited.count()), ns * std::max(health.threads, 1));
  health.cpu_us_per_request = ratio(static_cast<double>(usage.used.count()) / 1e3, ended);
  health.asked_rate = evidence.open_loop ? ratio(evidence.asked * 1e9, ns) : 0;
  health.sent_rate = ratio(static_cast<double>(counts.sent) * 1e9, ns);
  health.lateness = evidence.sum.lateness;
  health.late_share = ratio(static_cast<double>(counts.late), ended);
  health.reason = reason_of(evidence, health);
  health.saturated = !health.reason.empty();
}

}  // namespace proa::loadgen
