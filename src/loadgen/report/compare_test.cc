#include "loadgen/report/compare.h"

#include <gmock/gmock.h>

#include <array>

#include "loadgen/report/make_report.h"
#include "loadgen/report/testing/runs.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;

Comparison compare(const RunResult& a, const RunResult& b, const CompareOptions& options = {}) {
  const auto comparison = compare_reports(make_report(a), make_report(b), options);
  return comparison ? *comparison : Comparison{comparison.error().message, false};
}

TEST(CompareTest, WelchsTestKnowsHowSureItIs) {
  // Against the density of Student's t integrated numerically.
  const std::array a{10.0, 11.0, 12.0};
  EXPECT_NEAR(welch_confidence(a, std::array{14.0, 15.0, 17.0}), 0.9801449, 1e-6);
  EXPECT_NEAR(welch_confidence(a, std::array{10.5, 12.0, 12.0}), 0.4508896, 1e-6);
  EXPECT_EQ(welch_confidence(a, std::array{20.0}), 0);
  EXPECT_EQ(welch_confidence(std::array{5.0, 5.0}, std::array{5.0, 5.0}), 0);
  EXPECT_EQ(welch_confidence(std::array{5.0, 5.0}, std::array{6.0, 6.0}), 1);
}

TEST(CompareTest, TheSameRunIsNoRegression) {
  const Comparison same = compare(closed_loop_run(), closed_loop_run());
  EXPECT_FALSE(same.regression);
  EXPECT_THAT(same.text, HasSubstr("no clear difference"));
}

TEST(CompareTest, AClearLossIsARegression) {
  const Comparison slow = compare(closed_loop_run(), scaled_run(0.8, 1.25));
  EXPECT_TRUE(slow.regression);
  EXPECT_THAT(slow.text, HasSubstr("REGRESSION"));
  EXPECT_FALSE(compare(closed_loop_run(), scaled_run(1.25, 0.8)).regression);
}

TEST(CompareTest, TheLimitIsTheUsers) {
  EXPECT_FALSE(
      compare(closed_loop_run(), scaled_run(0.8, 1.25), {.max_regression_percent = 40}).regression);
}

TEST(CompareTest, OneWindowProvesNothing) {
  RunResult slow = scaled_run(0.8, 1.25);
  for (Pass& pass : slow.passes) {
    for (std::size_t i = 2; i < pass.windows.size(); ++i) pass.windows[i].used = false;
  }
  const Comparison unsure = compare(closed_loop_run(), slow);
  EXPECT_FALSE(unsure.regression);
  EXPECT_THAT(unsure.text, HasSubstr("worse, but not sure: measure longer"));
}

TEST(CompareTest, MoreFailuresAreARegression) {
  RunResult failing = closed_loop_run();
  failing.passes[1].counts.errors = 50;
  const Comparison worse = compare(closed_loop_run(), failing);
  EXPECT_TRUE(worse.regression);
  EXPECT_THAT(worse.text, HasSubstr("failed"));
}

TEST(CompareTest, FindMaxRegressesWhenTheIntervalsAreApart) {
  RunResult a = closed_loop_run();
  RunResult b = closed_loop_run();
  a.find_max = FindMaxResult{.found = true, .rate = 1000, .rate_low = 985, .rate_high = 1015};
  b.find_max = FindMaxResult{.found = true, .rate = 900, .rate_low = 810, .rate_high = 990};
  EXPECT_FALSE(compare(a, b).regression);
  b.find_max->rate_high = 920;
  EXPECT_TRUE(compare(a, b).regression);
}

TEST(CompareTest, SaysWhatElseDiffersAndWhatIsNotComparable) {
  RunResult other = closed_loop_run();
  other.machine = "64 processors";
  EXPECT_THAT(compare(closed_loop_run(), other).text,
              HasSubstr("differ in machine: 2 processors and 64 processors"));
  EXPECT_THAT(compare(closed_loop_run(), saturated_run()).text, HasSubstr("no valid load level"));
}

}  // namespace
}  // namespace proa::loadgen
