#include "loadgen/questions/find_max.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmt/format.h"
#include "loadgen/questions/maximum_estimate.h"
#include "loadgen/questions/trial.h"

namespace proa::loadgen {
namespace {

// The interval that the answer is given with.
constexpr double kBelow = 0.05;
constexpr double kAbove = 0.95;
constexpr double kBest = 0.5;

std::string nothing_answered(double rate, const Pass& pass) {
  return fmt::format("nothing was answered at {:.4g}/s{}", rate,
                     pass.errors.empty() ? "" : ": " + pass.errors[0].sample);
}

// One search: what is known so far.
class Search {
 public:
  Search(const FindMaxOptions& options, const RunPass& run, std::vector<Pass>& passes)
      : options_(options), run_(run), passes_(passes) {}

  // One request at a time: what it completes is a rate to begin with.
  Status probe() {
    first_rate_ = options_.first_rate;
    if (first_rate_ > 0) return {};
    Load load;
    load.value = 1;
    PROA_ASSIGN(Pass pass, run_(load, [](const Pass& so_far) {
                  return so_far.windows.size() >= kProbeWindows;
                }));
    passes_.push_back(std::move(pass));
    const Pass& last = passes_.back();
    first_rate_ = std::min(last.requests_per_second(), options_.highest_rate);
    if (last.interrupted) {
      stop("it was interrupted");
    } else if (first_rate_ == 0) {
      stop(last.errors.empty() ? "nothing was answered" : last.errors[0].sample);
    } else if (!keeps(last, options_.bound)) {
      hopeless_ = true;
    }
    return {};
  }

  Status bracket() {
    double rate = first_rate_;
    while (!over()) {
      PROA_ASSIGN(const bool kept, try_rate(rate, Haste::kQuick));
      if (stopped_ || !kept || rate >= options_.highest_rate) break;
      rate = std::min(2 * rate, options_.highest_rate);
    }
    // Too fast from the start: down until something is kept.
    while (!over() && low_ == 0 && high_ > first_rate_ / kDownTo) {
      PROA_TRY(try_rate(std::min(high_ / 2, 0.9 * completed_at_break_), Haste::kQuick));
    }
    return {};
  }

  // Trials at the best guess until it is sure enough, or has cost enough.
  Status narrow() {
    if (over() || low_ == 0 || high_ == 0) return {};
    lowest_ = low_ / kBeyondBracket;
    highest_ = high_ * kBeyondBracket;
    put_together();
    std::size_t windows = 0;
    while (!stopped_ && !sure() && windows < kMostWindows) {
      const std::size_t before = passes_.size();
      PROA_TRY(try_rate(known(kBest), Haste::kThorough));
      for (std::size_t i = before; i < passes_.size(); ++i) windows += passes_[i].windows.size();
      widen();
    }
    return {};
  }

  Status overload() {
    if (stopped_ || low_ == 0 || options_.overload <= 1) return {};
    Load load = load_at(answer() * options_.overload);
    PROA_ASSIGN(Pass pass, run_(load, [](const Pass& so_far) {
                  return so_far.windows.size() >= kOverloadWindows;
                }));
    passes_.push_back(std::move(pass));
    return {};
  }

  FindMaxResult result() const;

 private:
  // A quick trial ends with the first verdict that is likely; a thorough one when it has moved the
  // best guess away from its own rate.
  enum class Haste : std::uint8_t { kQuick, kThorough };

  struct Trial {
    double rate;
    TrialFigures figures;
  };

  static constexpr double kDownTo = 64;  // below the first rate, times
  static constexpr std::size_t kProbeWindows = 4;
  static constexpr int kAttempts = 3;
  static constexpr std::size_t kFewestWindows = 10;
  static constexpr std::size_t kMostWindows = 400;  // of the thorough trials
  static constexpr double kBeyondBracket = 1.5;     // quick trials may have been wrong
  static constexpr double kAlike = 0.05;  // trials this near to each other, as a share of the rate
  static constexpr double kTold = 0.005;  // probability of the other side
  static constexpr double kWidth = 2.5;   // of the interval, in units of the precision
  static constexpr std::size_t kFewestTrials = 3;  // near the answer
  static constexpr std::size_t kOverloadWindows = 4;

  Load load_at(double rate) const {
    Load load;
    load.shape = options_.poisson ? LoadShape::kPoissonRate : LoadShape::kConstantRate;
    load.value = rate;
    load.seed = options_.seed + passes_.size();  // another sequence for each pass
    return load;
  }

  double allowed() const { return 1 - options_.bound.percentile.value_or(50) / 100; }
  double known(double probability) const {
    return std::min(estimate_->quantile(probability), options_.highest_rate);
  }
  double answer() const { return estimate_ && !stopped_ ? known(kBest) : low_; }

  // A quick trial that was disturbed has put the maximum outside of the bracket.
  void widen() {
    const bool up = known(kAbove) > 0.97 * highest_;
    const bool down = known(kBelow) < 1.03 * lowest_;
    if (!up && !down) return;
    if (up) highest_ *= 2;
    if (down) lowest_ /= 2;
    put_together();
  }

  // The interval is narrow, and more than one trial was made where it is.
  bool sure() const {
    if (known(kAbove) > known(kBelow) * (1 + kWidth * options_.precision)) return false;
    const double best = known(kBest);
    const auto near = std::ranges::count_if(trials_, [&](const Trial& trial) {
      return std::abs(trial.rate - best) <= best * options_.precision;
    });
    return static_cast<std::size_t>(near) >= kFewestTrials;
  }

  // Of a trial at `rate`, in the light of the others near it.
  TrialEvidence evidence_at(double rate, const TrialFigures& figures) const {
    std::vector<TrialFigures> others;
    for (const Trial& trial : trials_) {
      const bool near = std::abs(trial.rate - rate) <= kAlike * rate;
      if (!near || &trial.figures == &figures || trial.figures.hopeless) continue;
      others.push_back(trial.figures);
    }
    return evidence_of(figures, others);
  }

  void put_together() {
    estimate_.emplace(allowed(), lowest_, highest_);
    for (const Trial& trial : trials_) {
      estimate_->add(trial.rate, evidence_at(trial.rate, trial.figures));
    }
  }

  bool seen_enough(const Pass& so_far, double rate, Haste haste) const {
    if (haste == Haste::kQuick) {
      const TrialVerdict verdict = judge_trial(so_far, options_.bound);
      return verdict.outcome != TrialVerdict::Outcome::kUnsure || verdict.likely_keeps;
    }
    if (so_far.windows.size() < kFewestWindows) return false;
    MaximumEstimate with = *estimate_;
    with.add(rate, evidence_at(rate, weigh_trial(so_far, options_.bound)));
    const double above = with.probability_above(rate);
    return above < kTold || above > 1 - kTold;
  }

  // Whether the rate keeps the bound. A pass that broke it because of the generator says nothing
  // and is run again.
  Result<bool> try_rate(double rate, Haste haste) {
    for (int attempt = 1;; ++attempt) {
      PROA_ASSIGN(Pass pass, run_(load_at(rate), [&](const Pass& so_far) {
                    return seen_enough(so_far, rate, haste);
                  }));
      passes_.push_back(std::move(pass));
      const Pass& last = passes_.back();
      const TrialVerdict verdict = judge_trial(last, options_.bound);
      const bool kept = verdict.outcome == TrialVerdict::Outcome::kKeeps ||
                        (verdict.outcome == TrialVerdict::Outcome::kUnsure && verdict.likely_keeps);
      const bool conclusive = !last.interrupted && (kept || last.valid);
      if (conclusive) {
        learn(rate, kept, last);
        // What no request survives says nothing about where to go from here.
        if (low_ == 0 && last.requests_per_second() == 0) stop(nothing_answered(rate, last));
        return kept;
      }
      if (!last.interrupted && attempt < kAttempts) continue;
      stop(last.interrupted ? "it was interrupted" : last.health.reason);
      return false;
    }
  }

  void stop(std::string why) {
    stopped_ = true;
    why_ = std::move(why);
  }
  bool over() const { return stopped_ || hopeless_; }

  void learn(double rate, bool kept, const Pass& pass) {
    trials_.push_back({rate, weigh_trial(pass, options_.bound)});
    if (estimate_) put_together();
    if (kept) low_ = std::max(low_, rate);
    if (!kept && (high_ == 0 || rate <= high_)) {
      high_ = rate;
      completed_at_break_ = pass.requests_per_second();
    }
  }

  const FindMaxOptions& options_;
  const RunPass& run_;
  std::vector<Pass>& passes_;
  double low_ = 0;   // highest rate that kept the bound
  double high_ = 0;  // lowest rate that broke it; 0 = none yet
  double completed_at_break_ = 0;
  double first_rate_ = 0;
  std::vector<Trial> trials_;
  double lowest_ = 0;  // between these is the maximum
  double highest_ = 0;
  std::optional<MaximumEstimate> estimate_;  // once a rate has kept the bound, and one broken it
  bool hopeless_ = false;                    // one request at a time breaks the bound
  bool stopped_ = false;
  std::string why_;
};

FindMaxResult Search::result() const {
  FindMaxResult result;
  result.found = low_ > 0 && !stopped_;
  result.rate = answer();
  result.lowest_broken = high_;
  result.bound = options_.bound.bound;
  result.percentile = options_.bound.percentile.value_or(0);
  if (estimate_) {
    result.confidence = kAbove - kBelow;
    result.rate_low = known(kBelow);
    result.rate_high = known(kAbove);
  }
  const std::string bound = fmt::format("p{:g} <= {:g} ms", result.percentile,
                                        static_cast<double>(result.bound.count()) / 1e6);
  if (stopped_) {
    result.text = low_ > 0 ? fmt::format(
                                 "{:.4g} requests a second kept {}; nothing higher is known, "
                                 "because {}",
                                 result.rate, bound, why_)
                           : fmt::format("nothing is known, because {}", why_);
  } else if (hopeless_) {
    result.text = fmt::format("no rate keeps {}: one request at a time breaks it", bound);
  } else if (low_ == 0) {
    result.text =
        fmt::format("no rate keeps {}: even {:.4g} requests a second break it", bound, high_);
  } else if (high_ == 0) {
    result.text = fmt::format("{:.4g} requests a second keep {}, and no higher rate was allowed",
                              low_, bound);
  } else {
    result.text =
        fmt::format("{:.4g} requests a second keep {} ({:.0f} % sure: between {:.4g} and {:.4g})",
                    result.rate, bound, 100 * result.confidence, result.rate_low, result.rate_high);
  }
  return result;
}

}  // namespace

Result<FindMaxResult> find_max(const FindMaxOptions& options, const RunPass& run,
                               std::vector<Pass>& passes) {
  Search search(options, run, passes);
  PROA_TRY(search.probe());
  PROA_TRY(search.bracket());
  PROA_TRY(search.narrow());
  PROA_TRY(search.overload());
  return search.result();
}

}  // namespace proa::loadgen
