#include "tensor/given_shape.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using ::testing::HasSubstr;

TEST(GivenShapeTest, TakesANameAndExtents) {
  const auto given = parse_given_shape("ids:5,0,2");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->name, "ids");
  EXPECT_EQ(given->shape, (Shape{5, 0, 2}));
}

TEST(GivenShapeTest, ANameMayHoldColons) {
  const auto given = parse_given_shape("serving_default_x:0:3");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->name, "serving_default_x:0");
  EXPECT_EQ(given->shape, (Shape{3}));
}

TEST(GivenShapeTest, QuotesWhatItCannotRead) {
  for (const char* wrong : {"ids", ":3", "ids:", "ids:3,", "ids:-1", "ids:a"}) {
    const auto given = parse_given_shape(wrong);
    ASSERT_FALSE(given) << wrong;
    EXPECT_THAT(given.error().message, HasSubstr(wrong));
  }
}

}  // namespace
}  // namespace proa
