#include "core/reshape.h"

#include "base/check.h"

namespace proa::core {

Shape reshaped(const Shape& shape, std::size_t lead, const Shape& from, const Shape& to) {
  Shape result = shape;
  if (shape.rank() != from.rank() + lead) return result;
  result.clear();
  for (std::size_t i = 0; i < lead; ++i) result.push_back(shape[i]);
  std::size_t next = 0;  // where to look for the next -1 in `from`
  for (const std::int64_t dim : to) {
    if (dim != Shape::kAny) {
      result.push_back(dim);
      continue;
    }
    while (next < from.rank() && from[next] != Shape::kAny) ++next;
    PROA_CHECK(next < from.rank(), "both sides of a reshape have as many -1");
    result.push_back(shape[lead + next++]);
  }
  return result;
}

}  // namespace proa::core
