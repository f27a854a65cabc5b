#include "frontends/shutdown_signal.h"

#include "gtest/gtest.h"
#include "net/testing/recording_exchange.h"

namespace proa::frontends {
namespace {

struct ShutdownSignalTest : ::testing::Test {
  ShutdownSignalTest() { loop.poll(); }

  net::EventLoop loop;
  net::RecordingExchange exchange{loop};
  ShutdownSignal signal;
  int told = 0;
  ShutdownSignal::Callback count = [this](net::Exchange&) { ++told; };
};

TEST_F(ShutdownSignalTest, TellsSubscribersOnce) {
  signal.subscribe(exchange.ref(), count);
  EXPECT_FALSE(signal.begun());
  signal.begin();
  signal.begin();
  loop.poll();
  EXPECT_TRUE(signal.begun());
  EXPECT_EQ(told, 1);
}

TEST_F(ShutdownSignalTest, TellsLateSubscribersAtOnce) {
  signal.begin();
  signal.subscribe(exchange.ref(), count);
  EXPECT_EQ(told, 1);
}

TEST_F(ShutdownSignalTest, DoesNotTellThoseThatLeft) {
  signal.unsubscribe(signal.subscribe(exchange.ref(), count));
  signal.begin();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace proa::frontends
