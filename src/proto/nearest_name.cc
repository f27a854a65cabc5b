#include "proto/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace proa::proto {
namespace {

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> known) {
  constexpr std::size_t kLongestName = 100;  // keeps hostile input cheap
  if (wanted.size() > kLongestName) return {};
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance * 3 > std::max(name.size(), wanted.size())) continue;
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace proa::proto
