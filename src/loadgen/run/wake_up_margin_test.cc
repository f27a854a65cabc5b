#include "loadgen/run/wake_up_margin.h"

#include <gtest/gtest.h>

namespace proa::loadgen {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(WakeUpMarginTest, CoversNearlyAllSleepsNotTheirMean) {
  WakeUpMargin margin;
  EXPECT_EQ(margin.margin(), Duration(0));
  const auto sleep = [&](int count) {  // most end 10 us late, one of ten 60 us
    int too_late = 0;
    for (int i = 0; i < count; ++i) {
      const Duration late = microseconds(i % 10 == 0 ? 60 : 10);
      too_late += late > margin.margin() ? 1 : 0;
      margin.record(late);
    }
    return too_late;
  };
  sleep(500);
  EXPECT_LE(sleep(10'000), 10'000 / 150);
  EXPECT_GE(margin.margin(), microseconds(55));
  for (int i = 0; i < 2000; ++i) margin.record(microseconds(2));
  EXPECT_LE(margin.margin(), microseconds(12));
}

TEST(WakeUpMarginTest, StaysShortOnABusyMachine) {
  WakeUpMargin margin;
  for (int i = 0; i < 1000; ++i) margin.record(seconds(1));
  EXPECT_LE(margin.margin(), microseconds(100));
}

}  // namespace
}  // namespace proa::loadgen
