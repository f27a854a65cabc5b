#include "backends/openvino/number_limits.h"

#include <cmath>
#include <limits>

#include "backends/openvino/testing/models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Value>
std::string check(DataType type, const std::vector<Value>& values) {
  const Status status = check_numbers_fit(type, std::as_bytes(std::span(values)));
  return status ? "fits" : status.error().message;
}

TEST(NumberLimitsTest, TakesWhatFits) {
  EXPECT_EQ(check<std::int64_t>(DataType::kInt64, {-2147483648, 2147483647, 0}), "fits");
  EXPECT_EQ(check<std::uint64_t>(DataType::kUint64, {0, 2147483647}), "fits");
  EXPECT_EQ(check<std::uint32_t>(DataType::kUint32, {2147483647}), "fits");
  EXPECT_EQ(check<double>(DataType::kFp64, {3.4e38, -3.4e38, std::nan("")}), "fits");
  EXPECT_EQ(check<float>(DataType::kFp32, {INFINITY}), "fits");
  EXPECT_EQ(check<std::int64_t>(DataType::kInt64, {}), "fits");
}

TEST(NumberLimitsTest, NamesTheFirstValueThatDoesNot) {
  EXPECT_THAT(check<std::int64_t>(DataType::kInt64, {1, 2147483648, 3000000000}),
              HasSubstr("value 2147483648 (element 1) does not fit INT32"));
  EXPECT_THAT(check<std::int64_t>(DataType::kInt64, {-2147483649}), HasSubstr("-2147483649"));
  EXPECT_THAT(check<std::int64_t>(DataType::kInt64, {std::numeric_limits<std::int64_t>::min()}),
              HasSubstr("element 0"));
  EXPECT_THAT(check<std::uint64_t>(DataType::kUint64, {5, 1ULL << 40}),
              HasSubstr("1099511627776 (element 1)"));
  EXPECT_THAT(check<std::uint32_t>(DataType::kUint32, {4000000000}), HasSubstr("4000000000"));
  EXPECT_THAT(check<double>(DataType::kFp64, {1, 1e300}), HasSubstr("1e+300 (element 1)"));
  EXPECT_THAT(check<double>(DataType::kFp64, {INFINITY}), HasSubstr("FP32"));
}

TEST(NumberLimitsTest, SeesWhichInputsAreComputedNarrower) {
  EXPECT_TRUE(is_narrowed(*testing::add_constant_model(ov::element::i64, 1), 0));
  EXPECT_TRUE(is_narrowed(*testing::add_constant_model(ov::element::f64, 1), 0));
  EXPECT_FALSE(is_narrowed(*testing::add_constant_model(ov::element::i32, 1), 0));
  EXPECT_FALSE(is_narrowed(*testing::to_float_model(ov::element::i64), 0));
}

TEST(NumberLimitsTest, WarnsOfWhatRequestsDoNotShow) {
  EXPECT_THAT(narrowing_warnings(*testing::affine_model({-1})), IsEmpty());
  EXPECT_THAT(narrowing_warnings(*testing::non_zero_model({-1})), IsEmpty());
  EXPECT_THAT(narrowing_warnings(*testing::to_float_model(ov::element::i64)), IsEmpty());
  EXPECT_THAT(narrowing_warnings(*testing::add_constant_model(ov::element::i64, 1)),
              ElementsAre(HasSubstr("larger results come out wrong: y")));
  EXPECT_THAT(narrowing_warnings(*testing::add_constant_model(ov::element::i64, 5000000000)),
              ElementsAre(HasSubstr("(5000000000)"), HasSubstr(": y")));
  EXPECT_THAT(narrowing_warnings(*testing::add_constant_model(ov::element::f64, 1)),
              ElementsAre(HasSubstr("FP64 as FP32, about 7 digits: y, x")));
}

}  // namespace
}  // namespace proa::backends::openvino
