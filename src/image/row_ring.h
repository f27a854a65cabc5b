#pragma once

#include <cstdint>
#include <vector>

namespace proa::image {

// The last few rows of a picture that is worked through from top to bottom, in a block that stays
// in the processor's caches. Rows have 64 bytes of room behind them.
// Threading: confined to one thread.
template <class Value>
class RowRing {
 public:
  RowRing(std::size_t values, int rows)
      : stride_((values + kTail + kTail - 1) / kTail * kTail),
        rows_(rows),
        block_(stride_ * static_cast<std::size_t>(rows)) {}

  // The place of row `y`; it is the same as that of row `y` minus the number of rows.
  Value* row(int y) { return block_.data() + static_cast<std::size_t>(y % rows_) * stride_; }

 private:
  static constexpr std::size_t kTail = 64;
  const std::size_t stride_;
  const int rows_;
  std::vector<Value> block_;
};

}  // namespace proa::image
