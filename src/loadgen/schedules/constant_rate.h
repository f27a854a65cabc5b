#pragma once

#include <cmath>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// One request each 1/rate seconds; the error of a gap never adds up.
class ConstantRate final : public Arrivals {
 public:
  explicit ConstantRate(double per_second) : per_second_(per_second) {}

  Duration next() override {
    const double seconds = static_cast<double>(count_++) / per_second_;
    return Duration(std::llround(seconds * 1e9));
  }

 private:
  const double per_second_;
  std::int64_t count_ = 0;
};

}  // namespace proa::loadgen
