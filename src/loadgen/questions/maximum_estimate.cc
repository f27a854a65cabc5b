#include "loadgen/questions/maximum_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace proa::loadgen {
namespace {

constexpr double kStep = 0.001;  // between places: 0.1 %
// By how much the logit of the share rises while the rate grows by a factor of e.
constexpr std::array kSteepness{12.5, 25.0, 50.0, 100.0, 200.0};
// Requests beyond the bound for reasons that the rate has no part in, as a share of what is
// allowed, and requests within it however far the rate is beyond.
constexpr double kStray = 0.05;
constexpr double kSpared = 0.02;

}  // namespace

MaximumEstimate::MaximumEstimate(double allowed, double lowest, double highest)
    : allowed_(std::clamp(allowed, 1e-6, 0.9)),
      first_(std::log(lowest)),
      places_(static_cast<std::size_t>(std::max(std::log(highest / lowest), 0.0) / kStep) + 2),
      likelihoods_(kSteepness.size() * places_) {}

void MaximumEstimate::add(double rate, const TrialEvidence& evidence) {
  const double at_place = std::log(allowed_ / (1 - allowed_));
  const double distance = std::log(rate) - first_;
  double* likelihood = likelihoods_.data();
  for (const double steepness : kSteepness) {
    for (std::size_t i = 0; i < places_; ++i) {
      const double logit = at_place + steepness * (distance - kStep * static_cast<double>(i));
      const double stray = kStray * allowed_;
      const double share = stray + (1 - stray - kSpared) / (1 + std::exp(-logit));
      *likelihood++ += evidence.above * std::log(share) +
                       (evidence.requests - evidence.above) * std::log1p(-share);
    }
  }
}

std::vector<double> MaximumEstimate::weights() const {
  const double best = *std::ranges::max_element(likelihoods_);
  std::vector<double> found(places_);
  double sum = 0;
  for (std::size_t i = 0; i < likelihoods_.size(); ++i) {
    const double weight = std::exp(likelihoods_[i] - best);
    found[i % places_] += weight;
    sum += weight;
  }
  for (double& weight : found) weight /= sum;
  return found;
}

double MaximumEstimate::quantile(double probability) const {
  const std::vector<double> weight = weights();
  double below = 0;
  std::size_t i = 0;
  while (i + 1 < places_ && below + weight[i] < probability) below += weight[i++];
  return std::exp(first_ + kStep * static_cast<double>(i));
}

double MaximumEstimate::probability_above(double rate) const {
  const std::vector<double> weight = weights();
  double above = 0;
  for (std::size_t i = 0; i < places_; ++i) {
    if (first_ + kStep * static_cast<double>(i) > std::log(rate)) above += weight[i];
  }
  return above;
}

}  // namespace proa::loadgen
