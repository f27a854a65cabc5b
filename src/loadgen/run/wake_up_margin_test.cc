#include "loadgen/run/wake_up_margin.h"

#include <gtest/gtest.h>

namespace proa::loadgen {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(WakeUpMarginTest, FollowsHowLateSleepsEnd) {
  WakeUpMargin margin;
  EXPECT_EQ(margin.margin(), Duration(0));
  for (int i = 0; i < 100; ++i) margin.record(microseconds(20));
  EXPECT_NEAR(static_cast<double>(margin.margin().count()), 40e3, 100);
  for (int i = 0; i < 100; ++i) margin.record(microseconds(2));
  EXPECT_NEAR(static_cast<double>(margin.margin().count()), 4e3, 100);
}

TEST(WakeUpMarginTest, StaysShortOnABusyMachine) {
  WakeUpMargin margin;
  for (int i = 0; i < 100; ++i) margin.record(seconds(1));
  EXPECT_LE(margin.margin(), microseconds(100));
}

}  // namespace
}  // namespace proa::loadgen
