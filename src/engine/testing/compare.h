#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace proa::engine {

// |got - wanted| / |wanted|, infinite when a number is missing or NaN.
inline double relative_l2(std::span<const float> got, std::span<const float> wanted) {
  if (got.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - wanted[i], 2);
    size += std::pow(static_cast<double>(wanted[i]), 2);
  }
  const double ratio = std::sqrt(difference / std::max(size, 1e-30));
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

}  // namespace proa::engine
