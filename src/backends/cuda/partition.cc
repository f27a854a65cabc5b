#include "backends/cuda/partition.h"

#include <algorithm>
#include <set>

namespace proa::backends::cuda {
namespace {

Side other(Side side) { return side == Side::kGpu ? Side::kCpu : Side::kGpu; }

// Goes on with one side until nothing of it is ready, then with the other.
std::vector<Segment> alternate(std::span<const PlacedOperator> operators, Side side) {
  std::vector<bool> done(operators.size(), false);
  const auto ready = [&](std::size_t i) {
    return !done[i] && std::ranges::all_of(operators[i].inputs, [&](int input) {
      return done[static_cast<std::size_t>(input)];
    });
  };
  std::vector<Segment> segments;
  std::size_t left = operators.size();
  for (; left > 0; side = other(side)) {
    Segment segment{side, {}};
    // One pass is enough: inputs stand in front.
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].side != side || !ready(i)) continue;
      done[i] = true;
      segment.operators.push_back(static_cast<int>(i));
    }
    left -= segment.operators.size();
    if (!segment.operators.empty()) segments.push_back(std::move(segment));
  }
  return segments;
}

std::vector<Segment> fewest(std::span<const PlacedOperator> operators) {
  std::vector<Segment> gpu_first = alternate(operators, Side::kGpu);
  std::vector<Segment> cpu_first = alternate(operators, Side::kCpu);
  return cpu_first.size() < gpu_first.size() ? cpu_first : gpu_first;
}

// What a segment on the GPU saves, less what crosses on its way in and out.
double gain_us(std::span<const PlacedOperator> operators, const Segment& segment) {
  const std::set<int> inside(segment.operators.begin(), segment.operators.end());
  std::set<int> entering, leaving;
  double gain = 0;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const int index = static_cast<int>(i);
    if (inside.contains(index)) gain += operators[i].saved_us;
    for (const int input : operators[i].inputs) {
      if (inside.contains(input) == inside.contains(index)) continue;
      (inside.contains(index) ? entering : leaving).insert(input);
    }
  }
  for (const auto& crossing : {entering, leaving}) {
    std::size_t bytes = 0;
    for (const int index : crossing) bytes += operators[static_cast<std::size_t>(index)].bytes;
    gain -= crossing_us(bytes);
  }
  return gain;
}

// The segment that must leave the GPU first, or null.
const Segment* find_unwanted(std::span<const PlacedOperator> operators,
                             std::span<const Segment> segments, const ClusterRules& rules) {
  const auto least = static_cast<std::size_t>(std::max(rules.min_operators, 1));
  const Segment* worst = nullptr;
  double worst_gain = 0;
  int on_gpu = 0;
  for (const Segment& segment : segments) {
    if (segment.side == Side::kCpu) continue;
    if (segment.operators.size() < least) return &segment;
    ++on_gpu;
    const double gain = gain_us(operators, segment);
    if (gain < worst_gain) worst = &segment, worst_gain = gain;
  }
  return rules.by_cost && on_gpu > 1 ? worst : nullptr;
}

}  // namespace

double crossing_us(std::size_t bytes) {
  constexpr double kHandOver = 25, kBytesPerMicrosecond = 2e4;
  return kHandOver + static_cast<double>(bytes) / kBytesPerMicrosecond;
}

std::vector<Segment> make_segments(std::span<const PlacedOperator> operators,
                                   const ClusterRules& rules) {
  std::vector<PlacedOperator> placed(operators.begin(), operators.end());
  while (true) {
    std::vector<Segment> segments = fewest(placed);
    // A network that is small as a whole is no fragment.
    if (segments.size() == 1) return segments;
    const Segment* unwanted = find_unwanted(placed, segments, rules);
    if (unwanted == nullptr) return segments;
    for (const int index : unwanted->operators) {
      placed[static_cast<std::size_t>(index)].side = Side::kCpu;
    }
  }
}

}  // namespace proa::backends::cuda
