#include "core/reshape.h"

#include <gtest/gtest.h>

namespace proa::core {
namespace {

constexpr std::int64_t kAny = Shape::kAny;

TEST(ReshapeTest, FixedShapes) {
  EXPECT_EQ(reshaped({5, 1}, 1, {1}, {}), Shape({5}));
  EXPECT_EQ(reshaped({5}, 1, {}, {1}), Shape({5, 1}));
  EXPECT_EQ(reshaped({4, 6}, 0, {4, 6}, {2, 12}), Shape({2, 12}));
}

TEST(ReshapeTest, WildcardsKeepTheirExtents) {
  EXPECT_EQ(reshaped({3, 7, 2, 9}, 1, {kAny, 2, kAny}, {kAny, 1, 2, kAny}), Shape({3, 7, 1, 2, 9}));
}

TEST(ReshapeTest, OtherRanksStayAsTheyAre) {
  EXPECT_EQ(reshaped({3, 7}, 1, {1, 7}, {7}), Shape({3, 7}));
}

}  // namespace
}  // namespace proa::core
