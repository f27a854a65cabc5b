#include "tensor/shape.h"

#include "fmt/ranges.h"

namespace proa {

Shape Shape::with_first(std::int64_t dim) const {
  Shape result;
  result.dims_.reserve(rank() + 1);
  result.dims_.push_back(dim);
  result.dims_.insert(result.dims_.end(), begin(), end());
  return result;
}

bool Shape::is_fully_known() const {
  for (const std::int64_t dim : dims_) {
    if (dim < 0) return false;
  }
  return true;
}

std::optional<std::int64_t> Shape::element_count() const {
  std::int64_t count = 1;
  bool overflow = false;
  bool zero = false;
  for (const std::int64_t dim : dims_) {
    if (dim < 0) return std::nullopt;
    zero |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (zero) return 0;
  if (overflow) return std::nullopt;
  return count;
}

bool Shape::matches(const Shape& pattern) const {
  if (rank() != pattern.rank()) return false;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (pattern[i] != kAny && pattern[i] != dims_[i]) return false;
  }
  return true;
}

std::string Shape::to_string() const { return fmt::format("[{}]", fmt::join(dims_, ",")); }

}  // namespace proa
