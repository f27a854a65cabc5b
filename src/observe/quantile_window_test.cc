#include "observe/quantile_window.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/testing/manual_clock.h"

namespace proa::observe {
namespace {

class QuantileWindowTest : public testing::Test {
 protected:
  // How many values the window has after `later` more.
  std::uint64_t look(std::chrono::seconds later) {
    clock_.advance(later);
    const Histogram::Counts counts = window_.look(histogram_, clock_.now());
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }

  ManualClock clock_;
  Histogram histogram_;
  QuantileWindow window_;
};

TEST_F(QuantileWindowTest, TheFirstLookSeesAll) {
  histogram_.record(5);
  EXPECT_EQ(look(std::chrono::seconds(0)), 1u);
  EXPECT_EQ(look(std::chrono::seconds(1)), 1u);
}

TEST_F(QuantileWindowTest, WhatIsOlderThanAMinuteDropsOut) {
  look(std::chrono::seconds(0));
  for (int i = 0; i < 12; ++i) {
    histogram_.record(5);
    // A value a look, ten seconds apart: six of them are of the last minute.
    EXPECT_EQ(look(QuantileWindow::kStep), static_cast<std::uint64_t>(std::min(i + 1, 6)));
  }
}

TEST_F(QuantileWindowTest, RareLooksSeeAllSinceTheLastOne) {
  look(std::chrono::seconds(0));
  histogram_.record(5);
  EXPECT_EQ(look(std::chrono::hours(1)), 1u);
  EXPECT_EQ(look(std::chrono::hours(1)), 0u);
}

TEST_F(QuantileWindowTest, ManyLooksKeepTheWindow) {
  look(std::chrono::seconds(0));
  histogram_.record(5);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(look(std::chrono::seconds(1)), 1u) << i;
  EXPECT_EQ(look(QuantileWindow::kStep), 0u);
}

TEST_F(QuantileWindowTest, QuantilesAreThoseOfTheWindow) {
  for (int i = 0; i < 100; ++i) histogram_.record(1);
  look(std::chrono::seconds(0));
  for (int i = 0; i < 90; ++i) histogram_.record(10);
  for (int i = 0; i < 10; ++i) histogram_.record(15);
  clock_.advance(QuantileWindow::kLength);
  const Histogram::Counts counts = window_.look(histogram_, clock_.now());
  EXPECT_EQ(Histogram::quantile(counts, 0.5), 10u);
  EXPECT_EQ(Histogram::quantile(counts, 0.95), 15u);
}

}  // namespace
}  // namespace proa::observe
