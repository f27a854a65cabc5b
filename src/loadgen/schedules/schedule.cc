#include "loadgen/schedules/schedule.h"

#include <algorithm>

#include "base/check.h"
#include "fmt/format.h"
#include "loadgen/schedules/closed_loop.h"
#include "loadgen/schedules/constant_rate.h"
#include "loadgen/schedules/gap_list.h"
#include "loadgen/schedules/limit.h"
#include "loadgen/schedules/open_loop.h"
#include "loadgen/schedules/poisson.h"
#include "loadgen/schedules/stages.h"

namespace proa::loadgen {
namespace {

// "74.7", "0.125", "5000": a search tries rates with more digits than anybody reads.
std::string rate_text(double rate) {
  if (rate < 10) return fmt::format("{:.3g}", rate);
  std::string text = fmt::format("{:.1f}", rate);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

double Load::mean_value() const {
  if (shape == LoadShape::kArrivals) {
    Duration whole{0};
    for (const Duration gap : gaps) whole += gap;
    return static_cast<double>(gaps.size()) * 1e9 / static_cast<double>(whole.count());
  }
  if (shape == LoadShape::kStages) {
    double arrivals = 0;
    for (const Stage& stage : stages) {
      arrivals += (stage.from + stage.to) / 2 * static_cast<double>(stage.length.count());
    }
    return arrivals / static_cast<double>(length().count());
  }
  return value;
}

std::string Load::to_string() const {
  switch (shape) {
    case LoadShape::kConcurrency:
      return fmt::format("{:g} in flight", value);
    case LoadShape::kConstantRate:
      return rate_text(value) + "/s";
    case LoadShape::kPoissonRate:
      return rate_text(value) + "/s Poisson";
    case LoadShape::kArrivals:
      return fmt::format("{:.4g}/s by {} recorded gaps", mean_value(), gaps.size());
    case LoadShape::kStages:
      break;
  }
  std::string text = poisson_stages ? "Poisson stages" : "stages";
  for (const Stage& stage : stages) {
    text += fmt::format(" {:g}", stage.from);
    if (stage.to != stage.from) text += fmt::format("-{:g}", stage.to);
    text += fmt::format(":{:g}", static_cast<double>(stage.length.count()) / 1e9);
  }
  return text;
}

Duration Load::length() const {
  if (shape != LoadShape::kStages) return Duration::max();
  Duration whole{0};
  for (const Stage& stage : stages) whole += stage.length;
  return whole;
}

std::unique_ptr<Arrivals> make_arrivals(const Load& load) {
  switch (load.shape) {
    case LoadShape::kConstantRate:
      PROA_CHECK(load.value > 0, "a load without a rate has no arrivals");
      return std::make_unique<ConstantRate>(load.value);
    case LoadShape::kPoissonRate:
      PROA_CHECK(load.value > 0, "a load without a rate has no arrivals");
      return std::make_unique<Poisson>(load.value, load.seed);
    case LoadShape::kArrivals:
      return std::make_unique<GapList>(load.gaps);
    case LoadShape::kStages:
      return std::make_unique<Stages>(
          load.stages, load.poisson_stages ? Stages::Steps::kExponential : Stages::Steps::kEven,
          load.seed);
    case LoadShape::kConcurrency:
      break;
  }
  PROA_CHECK(false, "a closed loop has no arrivals");
  return nullptr;
}

namespace {

// The part of `total` that worker `worker` of `workers` takes.
std::uint64_t share_of(std::uint64_t total, int worker, int workers) {
  const auto parts = static_cast<std::uint64_t>(workers);
  return total / parts + (static_cast<std::uint64_t>(worker) < total % parts ? 1 : 0);
}

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Load& load, TimePoint start, int worker,
                                        int workers) {
  std::unique_ptr<Schedule> schedule;
  if (load.shape == LoadShape::kConcurrency) {
    const auto total = static_cast<std::uint64_t>(load.value);
    schedule = std::make_unique<ClosedLoop>(share_of(total, worker, workers), start);
  } else {
    schedule = std::make_unique<OpenLoop>(make_arrivals(load), start, worker, workers);
  }
  if (load.requests == 0) return schedule;
  return std::make_unique<Limit>(std::move(schedule), share_of(load.requests, worker, workers));
}

}  // namespace proa::loadgen
