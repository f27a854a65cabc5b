#include "backends/openvino/shape_map.h"

#include <vector>

namespace proa::backends::openvino {

Result<Shape> reshape_extents(const Shape& actual, const Shape& from, const Shape& to) {
  if (!actual.matches(from)) {
    return error::invalid_argument("shape {} does not fit {}", actual.to_string(),
                                   from.to_string());
  }
  std::vector<std::int64_t> open;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (from[i] == Shape::kAny) open.push_back(actual[i]);
  }
  Shape result = to;
  std::size_t next = 0;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    if (to[i] != Shape::kAny) continue;
    if (next == open.size()) break;
    result[i] = open[next++];
  }
  if (next != open.size() || result.element_count() != actual.element_count()) {
    return error::invalid_argument("shape {} of {} cannot be reshaped to {}", actual.to_string(),
                                   from.to_string(), to.to_string());
  }
  return result;
}

}  // namespace proa::backends::openvino
