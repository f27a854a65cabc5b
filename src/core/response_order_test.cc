#include "core/response_order.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/testing/recording_sink.h"

namespace proa::core {
namespace {

TEST(ResponseOrderTest, HoldsAnswersUntilTheirTurn) {
  Answers answers;
  auto order = std::make_shared<ResponseOrder>();
  auto a = order->wrap(answers.sink("a"));
  auto b = order->wrap(answers.sink("b"));
  auto c = order->wrap(answers.sink("c"));
  c->send({}, true);
  b->send(Response{.error = error::internal("no")}, true);
  EXPECT_EQ(answers.ids(), "");
  a->send({}, true);
  EXPECT_EQ(answers.ids(), "a !b c");
}

TEST(ResponseOrderTest, StreamsOfTheFirstRequestPassAtOnce) {
  Answers answers;
  auto order = std::make_shared<ResponseOrder>();
  auto a = order->wrap(answers.sink("a"));
  auto b = order->wrap(answers.sink("b"));
  a->send({}, false);
  b->send({}, false);
  b->send({}, true);
  EXPECT_EQ(answers.ids(), "a");
  a->send({}, true);
  EXPECT_EQ(answers.ids(), "a a b b");
}

TEST(ResponseOrderTest, SinksMayGoBeforeTheirAnswersLeave) {
  Answers answers;
  auto order = std::make_shared<ResponseOrder>();
  auto a = order->wrap(answers.sink("a"));
  auto b = order->wrap(answers.sink("b"));
  b->send({}, true);
  b.reset();
  order.reset();
  a->send({}, true);
  a.reset();
  EXPECT_EQ(answers.ids(), "a b");
}

TEST(ResponseOrderTest, ThreadsKeepTheOrder) {
  constexpr int kRequests = 400;
  Answers answers;
  auto order = std::make_shared<ResponseOrder>();
  std::vector<std::unique_ptr<ResponseSink>> sinks;
  std::string expected;
  for (int i = 0; i < kRequests; ++i) {
    sinks.push_back(order->wrap(answers.sink(std::to_string(i))));
    expected += (i == 0 ? "" : " ") + std::to_string(i);
  }
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sinks, t] {
      for (int i = t; i < kRequests; i += 4) sinks[static_cast<std::size_t>(i)]->send({}, true);
    });
  }
  threads.clear();
  EXPECT_EQ(answers.ids(), expected);
}

}  // namespace
}  // namespace proa::core
