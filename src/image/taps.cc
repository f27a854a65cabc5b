#include "image/taps.h"

#include <algorithm>
#include <cmath>

namespace proa::image {
namespace {

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double bilinear(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys' cubic with a = -0.5.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

std::int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << Taps::kFractionBits);
  return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// `weight(x)` is 0 where x is further from 0 than `support`.
template <class Weight>
Taps make_taps(int from, int to, int begin, int end, Weight weight, double support) {
  const double scale = static_cast<double>(from) / to;
  const double stretch = std::max(scale, 1.0);
  support *= stretch;
  Taps taps;
  taps.stride = std::min(from, static_cast<int>(std::ceil(support)) * 2 + 1);
  const auto pixels = static_cast<std::size_t>(end - begin);
  taps.first.reserve(pixels);
  taps.count.reserve(pixels);
  taps.weights.resize(pixels * static_cast<std::size_t>(taps.stride));
  std::vector<double> weights(static_cast<std::size_t>(taps.stride));
  std::int32_t* fixed = taps.weights.data();
  for (int i = begin; i < end; ++i, fixed += taps.stride) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int stop = std::min(from, static_cast<int>(centre + support + 0.5));
    const int count = stop - first;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      weights[k] = weight((first + k - centre + 0.5) * (1.0 / stretch));
      sum += weights[k];
    }
    taps.first.push_back(first);
    taps.count.push_back(count);
    if (sum == 0) sum = 1;
    for (int k = 0; k < count; ++k) fixed[k] = to_fixed(weights[k] / sum);
  }
  return taps;
}

}  // namespace

Taps make_taps(int from, int to, int begin, int end, Filter filter) {
  switch (filter) {
    case Filter::kArea:
      return make_taps(from, to, begin, end, [](double x) { return box(x); }, 0.5);
    case Filter::kBilinear:
      return make_taps(from, to, begin, end, [](double x) { return bilinear(x); }, 1.0);
    case Filter::kNearest:
    case Filter::kBicubic:
      break;
  }
  return make_taps(from, to, begin, end, [](double x) { return bicubic(x); }, 2.0);
}

RowTaps make_row_taps(Taps taps, int from) {
  RowTaps rows;
  const int most = taps.count.empty() ? 0 : *std::ranges::max_element(taps.count);
  rows.pairs = (most + 1) / 2;
  const int width = rows.pairs * 2;
  rows.split.resize(taps.size() * static_cast<std::size_t>(width));
  std::int32_t* out = rows.split.data();
  for (std::size_t i = 0; i < taps.size(); ++i, out += width) {
    const int first = std::max(0, std::min(taps.first[i], from - width));
    rows.first.push_back(first);
    for (int k = 0; k < taps.count[i]; ++k) {
      const int at = taps.first[i] - first + k;
      const SplitWeight weight = split_weight(taps.weights_of(i)[k]);
      out[at / 2 * 2] |= static_cast<std::int32_t>(weight.low << (at % 2 * 16));
      out[at / 2 * 2 + 1] |= static_cast<std::int32_t>(weight.high << (at % 2 * 16));
    }
  }
  rows.taps = std::move(taps);
  return rows;
}

}  // namespace proa::image
