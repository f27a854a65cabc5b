#include "loadgen/report/text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/log.h"
#include "fmt/format.h"
#include "loadgen/report/units.h"

namespace proa::loadgen {
namespace {

// "12.3", "4567": four digits are enough for a rate.
std::string rate_text(double rate) {
  return rate >= 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.4g}", rate);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  if (bytes >= 1'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{} B", bytes);
}

std::string head(const bench::BenchReport& report) {
  const bench::Target& target = report.target();
  std::string text =
      fmt::format("proa bench {}: {} over {}", report.version(), target.url(), target.protocol());
  if (!target.server_name().empty()) {
    text += fmt::format(" ({} {})", log::printable(target.server_name()),
                        log::printable(target.server_version()));
  }
  text += '\n';
  for (const bench::Model& model : report.models()) {
    text += fmt::format("model {}{}: {}; {} payload{}, {} distinct, {} each", model.name(),
                        model.version().empty() ? "" : " version " + model.version(), model.data(),
                        model.payloads(), model.payloads() == 1 ? "" : "s",
                        model.distinct_payloads(), size_text(model.payload_bytes()));
    if (model.batch_size() > 1) text += fmt::format(", batch size {}", model.batch_size());
    if (report.models_size() > 1) text += fmt::format(", weight {:g}", model.weight());
    text += '\n';
  }
  return text;
}

std::string mark(const bench::Level& level) {
  if (!level.valid()) return "INVALID";
  if (level.interrupted()) return "interrupted";
  return level.stability().stable() ? "" : "unstable";
}

std::string latency_text(const bench::Latency& latency) {
  if (latency.count() == 0) return "no request succeeded";
  return fmt::format("mean {} (std {}), p50 {}, p90 {}, p95 {}, p99 {}, p99.9 {}, max {}",
                     duration_text(latency.mean_us()),
                     duration_text(latency.standard_deviation_us()),
                     duration_text(latency.p50_us()), duration_text(latency.p90_us()),
                     duration_text(latency.p95_us()), duration_text(latency.p99_us()),
                     duration_text(latency.p99_9_us()), duration_text(latency.max_us()));
}

// Only what came from the server's statistics: executions and how full batches were.
std::string server_text(const bench::Level& level) {
  std::string text;
  for (const bench::ServerModel& model : level.server()) {
    if (model.success().count() == 0) continue;
    text += fmt::format("  server   {}: {} requests, {} inferences in {} executions",
                        log::printable(model.name()), model.success().count(),
                        model.inference_count(), model.execution_count());
    if (model.execution_count() > 0) {
      text += fmt::format(" (batch {:.2f})", static_cast<double>(model.inference_count()) /
                                                 static_cast<double>(model.execution_count()));
    }
    if (model.cache_hit().count() > 0) {
      text += fmt::format(", {} cache hits", model.cache_hit().count());
    }
    text += model.composing() ? ", a step\n" : "\n";
  }
  return text;
}

std::string level_block(const bench::Level& level) {
  const bench::Health& health = level.health();
  const std::string flag = mark(level);
  std::string text =
      fmt::format("\n{}{}\n", level.name(), flag.empty() ? "" : fmt::format("  [{}]", flag));
  text += fmt::format(
      "  answered {} requests in {:.1f} s: {}/s, {} inferences/s{}\n", level.counts().completed(),
      level.measured_s(), rate_text(level.requests_per_second()),
      rate_text(level.inferences_per_second()),
      level.counts().errors() > 0 ? fmt::format("; {} failed", level.counts().errors()) : "");
  text += fmt::format("  latency  {}\n", latency_text(level.latency()));
  if (level.latency().count() > 0) {
    text += fmt::format("  of       {}: {}\n", duration_text(level.latency().mean_us()),
                        stages_text(level.stages()));
  }
  text += server_text(level);
  text += fmt::format("  client   {} thread{}, busiest {:.0f} %, {:.1f} us processor a request",
                      health.threads(), health.threads() == 1 ? "" : "s", health.busy() * 100,
                      health.cpu_us_per_request());
  if (level.open_loop()) {
    text += fmt::format("; asked {}/s, sent {}/s, {:.2f} % late by more than {}",
                        rate_text(health.asked_rate()), rate_text(health.sent_rate()),
                        health.late_share() * 100, duration_text(health.late_bound_us()));
  }
  text += '\n';
  for (const bench::ErrorGroup& group : level.errors()) {
    text += fmt::format("  failed   {} x {}: {}\n", group.count(), log::printable(group.kind()),
                        log::printable(group.sample()));
  }
  return text;
}

std::string table(const bench::BenchReport& report) {
  std::size_t width = 4;
  for (const bench::Level& level : report.levels()) width = std::max(width, level.name().size());
  std::string text = fmt::format("\n{:<{}} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "load",
                                 width, "infer/s", "mean", "p50", "p99", "p99.9", "failed");
  for (const bench::Level& level : report.levels()) {
    const bench::Latency& latency = level.latency();
    text += fmt::format("{:<{}} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}  {}", level.name(), width,
                        rate_text(level.inferences_per_second()), duration_text(latency.mean_us()),
                        duration_text(latency.p50_us()), duration_text(latency.p99_us()),
                        duration_text(latency.p99_9_us()), level.counts().errors(), mark(level));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string answers(const bench::BenchReport& report) {
  std::string text;
  if (report.has_find_max())
    text += fmt::format("find-max: {}\n", log::printable(report.find_max().text()));
  if (report.has_binary_search_level() &&
      static_cast<int>(report.binary_search_level()) < report.levels_size()) {
    text += fmt::format("binary search: {} is the highest load within the threshold of {}\n",
                        report.levels(static_cast<int>(report.binary_search_level())).name(),
                        duration_text(report.settings().latency_threshold_us()));
  }
  // Of the last level nobody knows what more load would do.
  if (report.has_knee() && static_cast<int>(report.knee().level()) + 1 < report.levels_size()) {
    text += fmt::format(
        "knee: {} already reaches {:.0f} % of the best throughput; more load adds "
        "mostly latency\n",
        report.levels(static_cast<int>(report.knee().level())).name(),
        report.knee().share_of_best() * 100);
  }
  for (const bench::Goodput& goodput : report.goodput()) {
    if (static_cast<int>(goodput.level()) >= report.levels_size()) continue;
    text += fmt::format("goodput: at {}, {} requests/s were answered within the bound\n",
                        report.levels(static_cast<int>(goodput.level())).name(),
                        rate_text(goodput.good_per_second()));
  }
  return text.empty() ? text : '\n' + text;
}

std::string notes(const bench::BenchReport& report) {
  std::string text;
  for (const bench::Note& note : report.notes()) {
    text += fmt::format("{}: ", note.severity() == "info" ? "note" : note.severity());
    if (note.has_level() && static_cast<int>(note.level()) < report.levels_size()) {
      text += fmt::format("{}: ", report.levels(static_cast<int>(note.level())).name());
    }
    text += log::printable(note.text()) + '\n';
  }
  return text.empty() ? text : '\n' + text;
}

}  // namespace

std::string duration_text(double us) {
  if (us < 999.5) return fmt::format("{:.0f} us", us);
  if (us < 99'995) return fmt::format("{:.2f} ms", us / 1e3);
  if (us < 999'500) return fmt::format("{:.0f} ms", us / 1e3);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string stages_text(const bench::Stages& stages) {
  std::vector<std::pair<double, const char*>> parts;
  const auto add = [&](double us, const char* name) {
    if (us >= 0.5) parts.emplace_back(us, name);
  };
  add(stages.due_to_sent_us(), "due but not yet sent");
  if (stages.has_server()) {
    add(stages.queue_us(), "queue");
    add(stages.compute_input_us() + stages.compute_infer_us() + stages.compute_output_us(),
        "compute");
    add(stages.cache_hit_us() + stages.cache_miss_us(), "cache");
    add(stages.server_overhead_us(), "server overhead");
    add(stages.network_and_client_us(), "network and client");
  } else {
    add(stages.client_send_us(), "sending");
    add(stages.client_wait_us(), "waiting for the server");
    add(stages.client_receive_us(), "receiving");
  }
  std::string text;
  for (const auto& [us, name] : parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", duration_text(us), name);
  }
  return text.empty() ? "nothing measurable" : text;
}

namespace {

// A search has many levels: the one nearest to its answer is of interest, if one is near.
const bench::Level* level_of_answer(const bench::BenchReport& report) {
  constexpr double kNear = 0.02;
  const double rate = report.find_max().rate();
  const bench::Level* found = nullptr;
  double least = kNear * rate;
  for (const bench::Level& level : report.levels()) {
    const double off = std::abs(level.load() - rate);
    if (off > least) continue;
    least = off;
    found = &level;
  }
  return found;
}

}  // namespace

std::string text_report(const bench::BenchReport& report) {
  std::string text = head(report);
  const bench::Level* answer = report.has_find_max() ? level_of_answer(report) : nullptr;
  for (const bench::Level& level : report.levels()) {
    if (!report.has_find_max() || &level == answer) text += level_block(level);
  }
  if (report.levels_size() > 1) text += table(report);
  return text + answers(report) + notes(report);
}

std::string progress_line(const Progress& progress) {
  const SeriesPoint& last = progress.last;
  return fmt::format(
      "{}: window {} of at most {}, {}/s, {} in flight, p50 {}, p99 {}, {} errors, "
      "{:.0f} s left at most",
      progress.load_text, progress.window, progress.max_windows,
      rate_text(rate(last.counts.completed, last.duration)), last.in_flight,
      duration_text(us(last.p50)), duration_text(us(last.p99)), progress.errors,
      std::ceil(seconds(progress.left_at_most)));
}

}  // namespace proa::loadgen
