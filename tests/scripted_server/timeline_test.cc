#include "timeline.h"

#include <gtest/gtest.h>

namespace proa::scripted {
namespace {

using std::chrono::milliseconds;

const TimePoint kStart = TimePoint(std::chrono::hours(1));

Duration answer(Timeline& timeline, int at_ms) {
  return timeline.answer_at(kStart + milliseconds(at_ms)) - kStart;
}

TEST(TimelineTest, WithoutSlotsEveryRequestIsServedAtOnce) {
  Timeline timeline({.service = milliseconds(5)});
  EXPECT_EQ(answer(timeline, 0), milliseconds(5));
  EXPECT_EQ(answer(timeline, 0), milliseconds(5));
  EXPECT_EQ(answer(timeline, 3), milliseconds(8));
}

TEST(TimelineTest, SlotsQueue) {
  Timeline timeline({.service = milliseconds(10), .slots = 2});
  EXPECT_EQ(answer(timeline, 0), milliseconds(10));
  EXPECT_EQ(answer(timeline, 0), milliseconds(10));
  EXPECT_EQ(answer(timeline, 1), milliseconds(20));
  EXPECT_EQ(answer(timeline, 100), milliseconds(110));
}

TEST(TimelineTest, NothingLeavesDuringAStall) {
  Timeline timeline(
      {.service = milliseconds(5), .stall = milliseconds(500), .stall_every = milliseconds(5000)});
  EXPECT_EQ(answer(timeline, 0), milliseconds(5));
  EXPECT_EQ(answer(timeline, 4494), milliseconds(4499));
  EXPECT_EQ(answer(timeline, 4496), milliseconds(5000));
  EXPECT_EQ(answer(timeline, 4994), milliseconds(5000));
  EXPECT_EQ(answer(timeline, 4995), milliseconds(5000));
  EXPECT_EQ(answer(timeline, 9600), milliseconds(10000));
}

TEST(TimelineTest, ASecondServiceTimeHasItsShare) {
  Timeline timeline(
      {.service = milliseconds(1), .second_service = milliseconds(9), .second_share = 0.25});
  int slow = 0;
  for (int i = 0; i < 10'000; ++i) {
    slow += timeline.answer_at(kStart) == kStart + milliseconds(9) ? 1 : 0;
  }
  EXPECT_NEAR(slow, 2500, 200);
}

}  // namespace
}  // namespace proa::scripted
