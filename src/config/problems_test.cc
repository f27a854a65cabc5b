#include "config/problems.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

TEST(ProblemsTest, AreToldInTheOrderOfTheFile) {
  GivenFields given;
  given.add("b", {1, 1});
  given.add("a", {2, 5});
  Problems problems;
  problems.add("a.c", "second");
  problems.add("b", "first");
  problems.add("", "nowhere");
  EXPECT_EQ(problems.to_status("f", given).error().message,
            "f: nowhere\nf:1:1: b: first\nf:2:5: a.c: second");
  EXPECT_TRUE(Problems().to_status("f", given));
}

TEST(ProblemsTest, EndsAListThatNobodyReads) {
  Problems problems;
  for (std::size_t i = 0; i < Problems::kShown + 50; ++i) problems.add("x", "bad");
  const std::string message = problems.to_status("f", {}).error().message;
  EXPECT_THAT(message, testing::EndsWith("f: and 50 more problems"));
  EXPECT_EQ(std::ranges::count(message, '\n'), static_cast<long>(Problems::kShown));
}

}  // namespace
}  // namespace proa::config
