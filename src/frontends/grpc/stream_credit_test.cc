#include "frontends/grpc/stream_credit.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

TEST(StreamCreditTest, CountsWhatWaitsInTheStreamAndInTheSocket) {
  StreamCredit credit(100);
  EXPECT_EQ(credit.available(), 100u);
  credit.add_queued(30);
  credit.set_unsent(50);
  EXPECT_EQ(credit.available(), 20u);
  credit.add_queued(30);
  EXPECT_EQ(credit.available(), 0u);
  credit.remove_queued(60);
  EXPECT_EQ(credit.available(), 50u);
}

TEST(StreamCreditTest, WakesOnceWhenThereIsRoomAgain) {
  StreamCredit credit(100);
  int woken = 0;
  credit.when_available([&] { ++woken; });
  EXPECT_EQ(woken, 1);
  credit.add_queued(150);
  credit.when_available([&] { ++woken; });
  credit.remove_queued(50);
  EXPECT_EQ(woken, 1);
  credit.remove_queued(50);
  EXPECT_EQ(woken, 2);
  credit.set_unsent(0);
  EXPECT_EQ(woken, 2);
}

TEST(StreamCreditTest, AProducerMaySendFromItsWakeUp) {
  StreamCredit credit(100);
  credit.add_queued(100);
  credit.when_available([&] { credit.add_queued(credit.available()); });
  credit.remove_queued(100);
  EXPECT_EQ(credit.available(), 0u);
}

TEST(StreamCreditTest, NobodyWaitsForAStreamThatIsGone) {
  StreamCredit credit(100);
  credit.add_queued(100);
  bool woken = false;
  credit.when_available([&] { woken = true; });
  credit.close();
  EXPECT_TRUE(woken);
  EXPECT_EQ(credit.available(), SIZE_MAX);
}

}  // namespace
}  // namespace proa::frontends
