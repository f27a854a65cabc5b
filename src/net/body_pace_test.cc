#include "net/body_pace.h"

#include "gtest/gtest.h"

namespace proa::net {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{};

struct BodyPaceTest : ::testing::Test {
  Limits limits{.body_timeout = seconds(30), .min_body_bytes_per_second = 100};
  // Seconds after the start.
  long overdue(std::uint64_t received, int last_byte) {
    const TimePoint at = body_overdue_at(limits, kStart, received, kStart + seconds(last_byte));
    return std::chrono::duration_cast<seconds>(at - kStart).count();
  }
};

TEST_F(BodyPaceTest, WaitsForTheNextByteForATime) {
  EXPECT_EQ(overdue(0, 0), 30);
  EXPECT_EQ(overdue(1'000'000, 20), 50);
}

TEST_F(BodyPaceTest, EarnsTimeByBytes) {
  EXPECT_EQ(overdue(1, 29), 30);
  EXPECT_EQ(overdue(1000, 29), 40);
  EXPECT_EQ(overdue(100'000, 900), 930);
}

TEST_F(BodyPaceTest, HasNoLimitsWhereTheyAreZero) {
  limits.min_body_bytes_per_second = 0;
  EXPECT_EQ(overdue(1, 29), 59);
  limits.body_timeout = seconds(0);
  EXPECT_EQ(body_overdue_at(limits, kStart, 0, kStart), kNever);
}

}  // namespace
}  // namespace proa::net
