#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::engine::cuda {

// The tiles of an own kernel that fit a step, best guess first; the text of each is a variant.
template <class Tile>
struct Tiles {
  std::string (*text)(const Tile& tile);
  std::vector<Tile> list = {};

  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (const Tile& tile : list) names.push_back(text(tile));
    return names;
  }

  // Errors: kInvalidArgument quoting the variant, which may come from an edited cache file.
  Result<Tile> find(std::string_view variant) const {
    const auto found = std::ranges::find(list, variant, text);
    if (found == list.end()) return error::invalid_argument("'{}' fits no such step", variant);
    return *found;
  }
};

}  // namespace proa::engine::cuda
