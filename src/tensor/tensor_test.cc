#include "tensor/tensor.h"

#include <gtest/gtest.h>

namespace proa {
namespace {

TEST(DataTypeTest, NamesRoundTrip) {
  for (int i = 1; i <= 14; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(data_type_name(type)), type);
  }
  EXPECT_FALSE(parse_data_type("fp32"));
  EXPECT_FALSE(parse_data_type("INVALID"));
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape({2, 3, 4}).element_count(), 24);
  EXPECT_EQ(Shape({}).element_count(), 1);
  EXPECT_EQ(Shape({2, 0}).element_count(), 0);
  EXPECT_FALSE(Shape({2, -1}).element_count());
  EXPECT_FALSE(Shape({1ll << 40, 1ll << 40}).element_count());
}

TEST(ShapeTest, MatchesPattern) {
  EXPECT_TRUE(Shape({4, 3, 224}).matches(Shape{-1, 3, -1}));
  EXPECT_FALSE(Shape({4, 1, 224}).matches(Shape{-1, 3, -1}));
  EXPECT_FALSE(Shape({4, 3}).matches(Shape{-1, 3, -1}));
}

TEST(ShapeTest, AddsAndDropsTheBatch) {
  EXPECT_EQ(Shape({3, 4}).with_first(-1), (Shape{-1, 3, 4}));
  EXPECT_EQ(Shape({8, 3, 4}).without_first(), (Shape{3, 4}));
  EXPECT_EQ(Shape({8, 3}).to_string(), "[8,3]");
}

TEST(TensorTest, DenseSizeChecksOverflow) {
  EXPECT_EQ(dense_byte_size(DataType::kFp32, Shape{2, 3}).value(), 24u);
  EXPECT_FALSE(dense_byte_size(DataType::kFp64, Shape{1ll << 61}));
  EXPECT_FALSE(dense_byte_size(DataType::kBytes, Shape{1}));
  EXPECT_FALSE(dense_byte_size(DataType::kInt8, Shape{-1}));
}

}  // namespace
}  // namespace proa
