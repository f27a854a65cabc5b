#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace proa {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return error::invalid_argument("{} is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  PROA_ASSIGN(const int first, half(value));
  return half(first);
}

Status check_even(int value) {
  PROA_TRY(half(value));
  return {};
}

TEST(ResultTest, CarriesValue) { EXPECT_EQ(quarter(12).value(), 3); }

TEST(ResultTest, AssignReturnsTheFirstError) {
  const Result<int> result = quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().to_string(), "INVALID_ARGUMENT: 3 is odd");
}

TEST(ResultTest, TryPassesStatusOn) {
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(3).error().message, "3 is odd");
}

TEST(ResultTest, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  EXPECT_EQ(**result, 7);
}

TEST(ErrorTest, ContextComesFirst) {
  EXPECT_EQ(with_context("model 'a'", error::not_found("no file")).message, "model 'a': no file");
}

}  // namespace
}  // namespace proa
