#include "loadgen/questions/find_max.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "loadgen/questions/trial.h"

namespace proa::loadgen {
namespace {

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

  Status narrow() {
    while (!stopped_ && low_ > 0 && high_ > low_ * (1 + options_.precision)) {
      PROA_TRY(try_rate(next_rate(), Haste::kThorough));
    }
    return {};
  }

  // The answer must hold twice; one that does not makes way for the next lower one.
  Status confirm() {
    for (int round = 0; round < kConfirmRounds && !over() && low_ > 0; ++round) {
      const double rate = low_;
      PROA_ASSIGN(const bool kept, try_rate(rate, Haste::kThorough));
      if (kept || stopped_) return {};
      low_ = rate * (1 - options_.precision);
    }
    if (!over() && low_ > 0) stop("no rate held twice");
    return {};
  }

  Status overload() {
    if (stopped_ || low_ == 0 || options_.overload <= 1) return {};
    Load load = load_at(low_ * options_.overload);
    PROA_ASSIGN(Pass pass, run_(load, [](const Pass& so_far) {
                  return so_far.windows.size() >= kOverloadWindows;
                }));
    passes_.push_back(std::move(pass));
    return {};
  }

  FindMaxResult result() const;

 private:
  // A quick trial ends with the first verdict that is likely, a thorough one when it is sure.
  enum class Haste : std::uint8_t { kQuick, kThorough };

  static constexpr double kDownTo = 64;  // below the first rate, times
  static constexpr std::size_t kProbeWindows = 4;
  static constexpr int kAttempts = 3;
  static constexpr int kConfirmRounds = 4;
  static constexpr std::size_t kOverloadWindows = 4;

  Load load_at(double rate) const {
    Load load;
    load.shape = options_.poisson ? LoadShape::kPoissonRate : LoadShape::kConstantRate;
    load.value = rate;
    load.seed = options_.seed + passes_.size();  // another sequence for each pass
    return load;
  }

  // In the middle, unless an overloaded server has shown what it completes: then just below that,
  // or just above it.
  double next_rate() {
    const double middle = std::sqrt(low_ * high_);
    const double step = options_.precision / 2;
    for (const double guess :
         {completed_at_break_ * (1 - step), completed_at_break_ * (1 + step)}) {
      if (guess > low_ * (1 + step / 2) && guess < high_ * (1 - step / 2)) return guess;
    }
    return middle;
  }

  // Whether the rate keeps the bound. A pass that broke it because of the generator says nothing
  // and is run again.
  Result<bool> try_rate(double rate, Haste haste) {
    for (int attempt = 1;; ++attempt) {
      PROA_ASSIGN(Pass pass, run_(load_at(rate), [&](const Pass& so_far) {
                    const TrialVerdict verdict = judge_trial(so_far, options_.bound);
                    return verdict.outcome != TrialVerdict::Outcome::kUnsure ||
                           (haste == Haste::kQuick && verdict.likely_keeps);
                  }));
      passes_.push_back(std::move(pass));
      const Pass& last = passes_.back();
      const TrialVerdict verdict = judge_trial(last, options_.bound);
      const bool kept = verdict.outcome == TrialVerdict::Outcome::kKeeps ||
                        (verdict.outcome == TrialVerdict::Outcome::kUnsure && verdict.likely_keeps);
      const bool conclusive = !last.interrupted && (kept || last.valid);
      if (conclusive) {
        learn(rate, kept, verdict.confidence, last.requests_per_second());
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

  void learn(double rate, bool kept, double confidence, double completed) {
    if (kept && rate >= low_) {
      low_ = rate;
      low_confidence_ = confidence;
    }
    if (!kept && (high_ == 0 || rate <= high_)) {
      high_ = rate;
      high_confidence_ = confidence;
      completed_at_break_ = completed;
    }
  }

  const FindMaxOptions& options_;
  const RunPass& run_;
  std::vector<Pass>& passes_;
  double low_ = 0;   // highest rate that kept the bound
  double high_ = 0;  // lowest rate that broke it; 0 = none yet
  double completed_at_break_ = 0;
  double low_confidence_ = 0;
  double high_confidence_ = 0;
  double first_rate_ = 0;
  bool hopeless_ = false;  // one request at a time breaks the bound
  bool stopped_ = false;
  std::string why_;
};

FindMaxResult Search::result() const {
  FindMaxResult result;
  result.found = low_ > 0 && !stopped_;
  result.rate = low_;
  result.lowest_broken = high_;
  result.bound = options_.bound.bound;
  result.percentile = options_.bound.percentile.value_or(0);
  result.confidence = high_ > 0 ? std::min(low_confidence_, high_confidence_) : low_confidence_;
  const std::string bound = fmt::format("p{:g} <= {:g} ms", result.percentile,
                                        static_cast<double>(result.bound.count()) / 1e6);
  if (stopped_) {
    result.text = low_ > 0 ? fmt::format(
                                 "{:.4g} requests a second kept {}; nothing higher is known, "
                                 "because {}",
                                 low_, bound, why_)
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
    result.text = fmt::format("{:.4g} requests a second keep {}; {:.4g} break it ({:.1f} % sure)",
                              low_, bound, high_, 100 * result.confidence);
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
  PROA_TRY(search.confirm());
  PROA_TRY(search.overload());
  return search.result();
}

}  // namespace proa::loadgen
