#pragma once

#include <span>
#include <string_view>

namespace proa::proto {

// The name out of `known` that `wanted` was most likely meant to be: the one with the fewest
// single-letter edits, at most a third of its letters. Empty when nothing is that near.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> known);

}  // namespace proa::proto
