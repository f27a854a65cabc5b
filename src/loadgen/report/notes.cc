#include "loadgen/report/notes.h"

#include <algorithm>
#include <optional>

#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr const char* kInvalid = "invalid";
constexpr const char* kWarning = "warning";
constexpr const char* kInfo = "info";

// An answer that took this much longer than the 99th of 100 is a stall, not a tail.
constexpr double kStallFactor = 5;
constexpr double kStallFromUs = 20'000;

class Notes {
 public:
  explicit Notes(bench::BenchReport& report) : report_(report) {}

  void add(const char* severity, std::optional<int> level, const std::string& text) {
    bench::Note& note = *report_.add_notes();
    note.set_severity(severity);
    if (level) note.set_level(static_cast<std::uint32_t>(*level));
    note.set_text(text);
  }

 private:
  bench::BenchReport& report_;
};

void note_invalid(const bench::Level& level, int index, Notes& notes) {
  if (level.valid()) return;
  const std::string& reason = level.health().reason();
  notes.add(
      kInvalid, index,
      fmt::format("INVALID: the load generator was the limit, not the server. {}",
                  reason.empty() ? "Give it more --max-threads or another machine." : reason));
}

void note_unstable(const bench::Level& level, int index, Notes& notes) {
  const bench::Stability& stability = level.stability();
  if (stability.stable() || level.interrupted()) return;
  notes.add(kWarning, index,
            fmt::format("unstable (throughput by {:.0f} %, latency by {:.0f} % from window to "
                        "window): {}",
                        stability.rate_spread() * 100, stability.latency_spread() * 100,
                        stability.text()));
}

void note_errors(const bench::Level& level, int index, Notes& notes) {
  std::uint64_t failed = 0;
  for (const bench::ErrorGroup& group : level.errors()) failed += group.count();
  if (failed == 0) return;
  const bench::ErrorGroup& first = level.errors(0);
  notes.add(kWarning, index,
            fmt::format("{} failed request{} ({}{}), not part of any latency; for example: {}",
                        failed, failed == 1 ? "" : "s", first.kind(),
                        level.errors_size() > 1 ? " and other kinds" : "", first.sample()));
}

// A closed loop that stood still while an answer was slow.
void note_stall(const bench::Level& level, int index, Notes& notes) {
  const bench::Latency& latency = level.latency();
  if (level.open_loop() || latency.count() == 0) return;
  if (latency.max_us() < kStallFromUs || latency.max_us() < kStallFactor * latency.p50_us()) return;
  const double missed = level.requests_per_second() * latency.max_us() / 1e6;
  if (missed < 2 * level.load()) return;
  notes.add(kWarning, index,
            fmt::format("one answer took {:.1f} ms. A closed loop sends nothing while it waits: at "
                        "this rate users would have sent about {:.0f} requests meanwhile, which "
                        "are missing from the percentiles. --request-rate-range shows what they "
                        "would have seen",
                        latency.max_us() / 1e3, missed));
}

void note_interrupted(const bench::Level& level, int index, Notes& notes) {
  if (level.interrupted()) notes.add(kWarning, index, "interrupted before it was stable");
}

void note_closed_loop(const bench::BenchReport& report, Notes& notes) {
  const bool closed = std::ranges::any_of(
      report.levels(), [](const bench::Level& level) { return !level.open_loop(); });
  if (!closed) return;
  notes.add(
      kInfo, std::nullopt,
      "closed loop: the next request leaves when an answer came, so a server that stalls also "
      "stops the load. Percentiles do not show what users would wait then (coordinated "
      "omission); --request-rate-range (open loop) does");
}

void note_payloads(const bench::Model& model, Notes& notes) {
  if (model.distinct_payloads() == 0) return;
  notes.add(
      kInfo, std::nullopt,
      fmt::format("model '{}': {} distinct payload{} sent over and over ({}); a cache anywhere "
                  "on the way makes repeated ones look faster",
                  model.name(), model.distinct_payloads(),
                  model.distinct_payloads() == 1 ? "" : "s", model.data()));
}

}  // namespace

void add_notes(const std::vector<std::string>& warnings, bench::BenchReport& report) {
  Notes notes(report);
  for (const auto note : {note_invalid, note_errors, note_unstable, note_interrupted, note_stall}) {
    // The passes of a search are short and need not settle; overloaded ones are meant to be.
    if (report.has_find_max() && note == note_unstable) continue;
    for (int i = 0; i < report.levels_size(); ++i) note(report.levels(i), i, notes);
  }
  for (const std::string& warning : warnings) notes.add(kWarning, std::nullopt, warning);
  note_closed_loop(report, notes);
  for (const bench::Model& model : report.models()) note_payloads(model, notes);
}

}  // namespace proa::loadgen
