#pragma once

#include <vector>

#include "loadgen/questions/trial.h"

namespace proa::loadgen {

// Where the share of requests beyond a bound crosses what is allowed, from trials at several rates.
// The share is taken to follow a logistic curve over the logarithm of the rate, of unknown place
// and steepness: all places within a range and steepnesses from a gentle slope to a cliff are
// weighed by how well they explain the trials. So every trial counts, those near the place most,
// and none of them has to be right by itself. Threading: a plain value. Source: A. Watson, D.
// Pelli, QUEST: A Bayesian adaptive psychometric method, 1983.
class MaximumEstimate {
 public:
  // `allowed`: the share that may be beyond the bound, 0.01 for p99. The place is sought between
  // two rates.
  MaximumEstimate(double allowed, double lowest, double highest);

  void add(double rate, const TrialEvidence& evidence);

  // The rate below which the place is with that probability; 0.5: the best guess.
  double quantile(double probability) const;
  // That the place is above `rate`.
  double probability_above(double rate) const;

 private:
  std::vector<double> weights() const;  // of the places; they sum to 1

  double allowed_;
  double first_;                     // logarithm of the first place
  std::size_t places_;               // kStep apart
  std::vector<double> likelihoods_;  // logarithms, [steepness, place]
};

}  // namespace proa::loadgen
