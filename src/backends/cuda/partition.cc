#include "backends/cuda/partition.h"

#include <algorithm>

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

}  // namespace

std::vector<Segment> make_segments(std::span<const PlacedOperator> operators, int min_cluster_ops) {
  std::vector<PlacedOperator> placed(operators.begin(), operators.end());
  while (true) {
    std::vector<Segment> segments = fewest(placed);
    const auto small = std::ranges::find_if(segments, [&](const Segment& segment) {
      return segment.side == Side::kGpu &&
             segment.operators.size() < static_cast<std::size_t>(std::max(min_cluster_ops, 1));
    });
    // A network that is small as a whole is no fragment.
    if (small == segments.end() || segments.size() == 1) return segments;
    for (const int index : small->operators) {
      placed[static_cast<std::size_t>(index)].side = Side::kCpu;
    }
  }
}

}  // namespace proa::backends::cuda
