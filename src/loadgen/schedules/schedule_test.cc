#include "loadgen/schedules/schedule.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loadgen/schedules/gap_list.h"
#include "loadgen/schedules/stages.h"

namespace proa::loadgen {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TimePoint kStart = TimePoint(seconds(100));

std::vector<Duration> all_until(const Load& load, Duration end) {
  const auto arrivals = make_arrivals(load);
  std::vector<Duration> times;
  for (Duration at = arrivals->next(); at < end; at = arrivals->next()) times.push_back(at);
  return times;
}

TEST(ScheduleTest, ClosedLoopKeepsItsShareInFlight) {
  const Load load{.shape = LoadShape::kConcurrency, .value = 5};
  const auto first = make_schedule(load, kStart, 0, 2);
  const auto second = make_schedule(load, kStart, 1, 2);
  const TimePoint now = kStart + seconds(1);
  EXPECT_EQ(first->next_due(now, 2), now);
  EXPECT_EQ(first->next_due(now, 3), kNever);
  EXPECT_EQ(second->next_due(now, 1), now);
  EXPECT_EQ(second->next_due(now, 2), kNever);
  EXPECT_EQ(first->next_due(kStart - seconds(1), 0), kStart);
}

TEST(ScheduleTest, OpenLoopIsDueWhateverIsInFlight) {
  const auto schedule =
      make_schedule({.shape = LoadShape::kConstantRate, .value = 10}, kStart, 0, 1);
  const TimePoint late = kStart + seconds(7);
  EXPECT_EQ(schedule->next_due(late, 1000), kStart);
  schedule->take();
  EXPECT_EQ(schedule->next_due(late, 1000), kStart + milliseconds(100));
}

TEST(ScheduleTest, WorkersShareOneSequenceOfArrivals) {
  for (const LoadShape shape : {LoadShape::kConstantRate, LoadShape::kPoissonRate}) {
    const Load load{.shape = shape, .value = 1000, .seed = 7};
    std::vector<Duration> together;
    for (int worker = 0; worker < 3; ++worker) {
      const auto schedule = make_schedule(load, kStart, worker, 3);
      for (int i = 0; i < 100; ++i) {
        together.push_back(schedule->next_due(kStart, 0) - kStart);
        schedule->take();
      }
    }
    std::ranges::sort(together);
    const auto arrivals = make_arrivals(load);
    for (const Duration at : together) EXPECT_EQ(at, arrivals->next());
  }
}

TEST(ScheduleTest, EndsAfterSoManyRequests) {
  int sent = 0;
  for (int worker = 0; worker < 3; ++worker) {
    const auto schedule = make_schedule(
        {.shape = LoadShape::kConcurrency, .value = 6, .requests = 100}, kStart, worker, 3);
    for (; schedule->next_due(kStart, 0) != kNever; ++sent) schedule->take();
  }
  EXPECT_EQ(sent, 100);
}

TEST(ScheduleTest, ConstantRateDoesNotDrift) {
  const auto arrivals = make_arrivals({.shape = LoadShape::kConstantRate, .value = 3});
  Duration last{0};
  for (int i = 0; i <= 3'000'000; ++i) last = arrivals->next();
  EXPECT_EQ(last, seconds(1'000'000));
}

// Kolmogorov-Smirnov: the largest distance between the gaps' distribution and the exponential one.
TEST(ScheduleTest, PoissonGapsAreExponential) {
  constexpr double kRate = 500;
  auto times =
      all_until({.shape = LoadShape::kPoissonRate, .value = kRate, .seed = 3}, seconds(40));
  const auto n = static_cast<double>(times.size());
  EXPECT_NEAR(n, 20'000, 4 * std::sqrt(20'000));
  std::vector<double> gaps;
  Duration before{0};
  for (const Duration at : times) {
    gaps.push_back(static_cast<double>((at - before).count()) / 1e9);
    before = at;
  }
  std::ranges::sort(gaps);
  double distance = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double want = 1 - std::exp(-kRate * gaps[i]);
    distance = std::max({distance, std::abs(want - static_cast<double>(i) / n),
                         std::abs(want - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(distance, 1.63 / std::sqrt(n));  // 1 % level
}

TEST(ScheduleTest, SeedsMakePoissonRepeatable) {
  const auto times = [](std::uint64_t seed) {
    return all_until({.shape = LoadShape::kPoissonRate, .value = 100, .seed = seed}, seconds(1));
  };
  EXPECT_EQ(times(1), times(1));
  EXPECT_NE(times(1), times(2));
}

TEST(ScheduleTest, RepeatsRecordedGaps) {
  const Load load{.shape = LoadShape::kArrivals, .gaps = {milliseconds(1), milliseconds(3)}};
  EXPECT_THAT(all_until(load, milliseconds(10)),
              ElementsAre(milliseconds(1), milliseconds(4), milliseconds(5), milliseconds(8),
                          milliseconds(9)));
  EXPECT_DOUBLE_EQ(load.mean_value(), 500);
}

TEST(ScheduleTest, ReadsGaps) {
  EXPECT_THAT(*parse_gaps("100\n\n 2.5 \r\n"), ElementsAre(microseconds(100), Duration(2500)));
  EXPECT_THAT(parse_gaps("1\nx\n").error().message, HasSubstr("line 2: 'x'"));
  EXPECT_THAT(parse_gaps("-1\n").error().message, HasSubstr("line 1"));
  EXPECT_THAT(parse_gaps("nan\n").error().message, HasSubstr("line 1"));
  EXPECT_FALSE(parse_gaps("0\n0\n"));
  EXPECT_FALSE(parse_gaps(""));
}

TEST(ScheduleTest, StagesHoldAndRamp) {
  const auto stages = parse_stages("10:2,10-30:2,0:1,5:1");
  ASSERT_TRUE(stages) << stages.error().message;
  const Load load{.shape = LoadShape::kStages, .stages = *stages};
  EXPECT_EQ(load.length(), seconds(6));
  const auto times = all_until(load, Arrivals::kNone);
  const auto between = [&](Duration from, Duration to) {
    return std::ranges::count_if(times, [&](Duration at) { return at >= from && at < to; });
  };
  EXPECT_EQ(between(seconds(0), seconds(2)), 20);
  EXPECT_EQ(between(seconds(2), seconds(3)), 15);  // from 10 to 20 a second
  EXPECT_EQ(between(seconds(3), seconds(4)), 25);
  EXPECT_EQ(between(seconds(4), seconds(5)), 0);
  EXPECT_EQ(between(seconds(5), seconds(6)), 5);
  EXPECT_EQ(times[1], milliseconds(100));
  EXPECT_TRUE(std::ranges::is_sorted(times));
}

TEST(ScheduleTest, PoissonStagesFollowTheRate) {
  const Load load{.shape = LoadShape::kStages,
                  .stages = {{100, 1000, seconds(10)}, {1000, 1000, seconds(10)}},
                  .poisson_stages = true};
  const auto times = all_until(load, Arrivals::kNone);
  const auto first_half =
      std::ranges::count_if(times, [](Duration at) { return at < seconds(10); });
  EXPECT_NEAR(static_cast<double>(first_half), 5500, 4 * std::sqrt(5500));
  EXPECT_NEAR(static_cast<double>(times.size()), 15'500, 4 * std::sqrt(15'500));
}

TEST(ScheduleTest, RefusesStagesThatAreNone) {
  for (const char* text : {"", "10", "10:0", "x:1", "10-:1", "-5:1", "10:1,", "1e9:1", "0:5"}) {
    EXPECT_FALSE(parse_stages(text)) << text;
  }
  EXPECT_THAT(parse_stages("10:1,20").error().message, HasSubstr("stage '20'"));
}

TEST(ScheduleTest, SaysWhatTheLoadIs) {
  EXPECT_EQ((Load{.shape = LoadShape::kConcurrency, .value = 4}.to_string()), "4 in flight");
  EXPECT_EQ((Load{.shape = LoadShape::kPoissonRate, .value = 62.5}.to_string()), "62.5/s Poisson");
  const auto rate = [](double value) {
    return Load{.shape = LoadShape::kConstantRate, .value = value}.to_string();
  };
  EXPECT_EQ(rate(74.6667), "74.7/s");
  EXPECT_EQ(rate(0.125), "0.125/s");
  EXPECT_EQ(rate(999.98), "1000/s");
  EXPECT_EQ(rate(1'234'567), "1234567/s");
  EXPECT_EQ((Load{.shape = LoadShape::kStages, .stages = {{1, 1, seconds(2)}, {1, 5, seconds(3)}}}
                 .to_string()),
            "stages 1:2 1-5:3");
}

}  // namespace
}  // namespace proa::loadgen
