#include "loadgen/schedules/stages.h"

#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"

namespace proa::loadgen {
namespace {

constexpr double kMostRate = 1e6;
constexpr double kMostSeconds = 86400;

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

double arrivals_in(const Stage& stage) {
  return (stage.from + stage.to) / 2 * seconds_of(stage.length);
}

// After how many seconds of the stage `count` arrivals are expected; count <= arrivals_in(stage).
// The rate is from + slope t, its sum from t + slope t^2 / 2.
double seconds_until(const Stage& stage, double count) {
  const double slope = (stage.to - stage.from) / seconds_of(stage.length);
  const double root = std::sqrt(std::max(stage.from * stage.from + 2 * slope * count, 0.0));
  return stage.from + root == 0 ? 0 : 2 * count / (stage.from + root);
}

Result<Stage> parse_stage(std::string_view text) {
  const auto bad = [&] {
    return error::invalid_argument(
        "stage '{}': wanted RATE:SECONDS or FROM-TO:SECONDS, like 100:10 or 100-500:20, rates up "
        "to "
        "{:.0f} a second",
        text, kMostRate);
  };
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return bad();
  const std::string_view rates = text.substr(0, colon);
  const auto seconds = parse_number<double>(text.substr(colon + 1));
  const auto dash = rates.find('-');
  const auto from = parse_number<double>(rates.substr(0, dash));
  const auto to =
      dash == std::string_view::npos ? from : parse_number<double>(rates.substr(dash + 1));
  const auto good = [](std::optional<double> value, double most) {
    return value && *value >= 0 && *value <= most;
  };
  if (!good(seconds, kMostSeconds) || *seconds == 0 || !good(from, kMostRate) ||
      !good(to, kMostRate)) {
    return bad();
  }
  return Stage{*from, *to, Duration(std::llround(*seconds * 1e9))};
}

}  // namespace

Duration Stages::next() {
  if (!std::exchange(first_, false) || steps_ == Steps::kExponential) {
    wanted_ += steps_ == Steps::kEven ? 1 : step_(random_);
  }
  while (stage_ < stages_.size()) {
    const Stage& stage = stages_[stage_];
    const double count = wanted_ - stage_start_count_;
    if (count < arrivals_in(stage)) {
      const double seconds = stage_start_seconds_ + seconds_until(stage, count);
      return Duration(std::llround(seconds * 1e9));
    }
    stage_start_count_ += arrivals_in(stage);
    stage_start_seconds_ += seconds_of(stage.length);
    ++stage_;
  }
  return kNone;
}

Result<std::vector<Stage>> parse_stages(std::string_view text) {
  std::vector<Stage> stages;
  double arrivals = 0;
  while (true) {
    const auto comma = text.find(',');
    PROA_ASSIGN(const Stage stage, parse_stage(text.substr(0, comma)));
    stages.push_back(stage);
    arrivals += arrivals_in(stage);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (arrivals < 1) return error::invalid_argument("not one request is due in these stages");
  return stages;
}

}  // namespace proa::loadgen
