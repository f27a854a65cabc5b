#include "loadgen/schedules/gap_list.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace proa::loadgen {
namespace {

constexpr double kMostUs = 3.6e9;  // an hour

}  // namespace

Result<std::vector<Duration>> parse_gaps(std::string_view text) {
  std::vector<Duration> gaps;
  int line_number = 0;
  for (const std::string_view whole : split_lines(text)) {
    ++line_number;
    const std::string_view line = trim(whole);
    if (line.empty()) continue;
    const auto us = parse_number<double>(line);
    if (!us || !(*us >= 0) || *us > kMostUs) {
      return error::invalid_argument(
          "line {}: '{}' is no gap between requests; wanted one number of microseconds a line, 0 "
          "to {:.0f}",
          line_number, line, kMostUs);
    }
    gaps.emplace_back(std::llround(*us * 1e3));
  }
  if (std::ranges::all_of(gaps, [](Duration gap) { return gap.count() == 0; })) {
    return error::invalid_argument(
        "no gap above 0 in it; wanted one number of microseconds a line");
  }
  return gaps;
}

}  // namespace proa::loadgen
