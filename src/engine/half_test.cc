#include "engine/half.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace proa::engine {
namespace {

TEST(HalfTest, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half) << bits;
    }
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 0x1p-11f)), 1.0f);               // tie, to even
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 0x3p-11f)), 1.0f + 0x1p-9f);     // tie, to even
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 0x1.1p-11f)), 1.0f + 0x1p-10f);  // above the tie
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(half_to_float(float_to_half(65520.0f))));
  EXPECT_EQ(half_to_float(float_to_half(0x1p-24f)), 0x1p-24f);  // smallest subnormal
  EXPECT_EQ(half_to_float(float_to_half(0x1p-25f)), 0.0f);      // tie, to even
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::infinity()), 0xfc00);
}

}  // namespace
}  // namespace proa::engine
