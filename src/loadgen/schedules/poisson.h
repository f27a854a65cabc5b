#pragma once

#include <cmath>
#include <random>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// Independent users: gaps are exponential with mean 1/rate.
class Poisson final : public Arrivals {
 public:
  Poisson(double per_second, std::uint64_t seed) : random_(seed), gap_(per_second) {}

  Duration next() override {
    at_seconds_ += gap_(random_);
    return Duration(std::llround(at_seconds_ * 1e9));
  }

 private:
  std::mt19937_64 random_;
  std::exponential_distribution<double> gap_;
  double at_seconds_ = 0;
};

}  // namespace proa::loadgen
