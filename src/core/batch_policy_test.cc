#include "core/batch_policy.h"

#include <gtest/gtest.h>

#include "core/testing/requests.h"
#include "fmt/ranges.h"

namespace proa::core {
namespace {

using std::chrono::microseconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

TimePoint at(std::int64_t us) { return kStart + microseconds(us); }

// A request that came `us` after the start.
struct Came {
  std::int64_t us = 0;
  std::int64_t rows = 1;
  std::int64_t width = 2;  // of its input
  std::uint64_t priority = 0;
  std::int64_t deadline_us = 0;  // after the start; 0 = none
};

struct Case {
  std::string what;
  std::vector<std::int32_t> preferred;
  std::int64_t delay_us = 0;
  std::vector<Came> queue;
  std::int64_t now_us = 0;
  std::string decision;
};

// "take 3 idle", "wait until 100", "nothing".
std::string describe(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::kNothing:
      return "nothing";
    case Decision::Kind::kWait:
      return fmt::format("wait until {}",
                         std::chrono::duration_cast<microseconds>(decision.until - kStart).count());
    case Decision::Kind::kTake:
      return fmt::format("take {} {}", decision.count, close_reason_name(decision.reason));
  }
  return "?";
}

void fill(RequestQueue& queue, const std::vector<Came>& requests) {
  for (const Came& came : requests) {
    auto request = float_request("r", came.rows, came.width);
    request->priority = came.priority;
    if (came.deadline_us > 0) request->deadline = at(came.deadline_us);
    queue.push(std::move(request), at(came.us));
  }
}

std::vector<Came> same(int count, Came came = {}) {
  return std::vector<Came>(static_cast<std::size_t>(count), came);
}

// A model with max_batch_size 8 and inputs of any width.
class DynamicPolicyTest : public ::testing::TestWithParam<Case> {};

TEST_P(DynamicPolicyTest, Decides) {
  const Case& c = GetParam();
  auto config = float_config(8, {Shape::kAny});
  config.dynamic_batching = {.preferred_batch_sizes = c.preferred,
                             .max_queue_delay = microseconds(c.delay_us),
                             .priority_levels = 2,
                             .default_priority_level = 2};
  RequestQueue queue(*config.dynamic_batching);
  fill(queue, c.queue);
  EXPECT_EQ(describe(DynamicPolicy(config).next(queue, at(c.now_us))), c.decision) << c.what;
}

INSTANTIATE_TEST_SUITE_P(
    WithoutDelay, DynamicPolicyTest,
    ::testing::Values(
        Case{"an empty queue", {}, 0, {}, 0, "nothing"},
        Case{"one request goes at once", {}, 0, same(1), 0, "take 1 idle"},
        Case{"all that is there goes", {}, 0, same(5), 0, "take 5 idle"},
        Case{"a full batch", {}, 0, same(8), 0, "take 8 full"},
        Case{"no more than a full batch", {}, 0, same(20), 0, "take 8 full"},
        Case{"the largest preferred size", {2, 4}, 0, same(7), 0, "take 4 preferred"},
        Case{"a preferred size below the maximum", {4}, 0, same(8), 0, "take 4 preferred"},
        Case{"less than any preferred size", {4}, 0, same(3), 0, "take 3 idle"},
        Case{"rows jump over the preferred size",
             {4},
             0,
             same(2, {.rows = 3}),
             0,
             "take 2 preferred"},
        Case{"the maximum as a preferred size", {4, 8}, 0, same(9), 0, "take 8 full"}));

INSTANTIATE_TEST_SUITE_P(
    WithDelay, DynamicPolicyTest,
    ::testing::Values(
        Case{"held for more", {}, 100, same(3), 10, "wait until 100"},
        Case{"counted from the oldest", {}, 100, {{.us = 20}, {.us = 90}}, 95, "wait until 120"},
        Case{"sent when the delay ends", {}, 100, same(3), 100, "take 3 delay"},
        Case{"full batches do not wait", {}, 100, same(8), 10, "take 8 full"},
        Case{"preferred sizes do not wait", {4}, 100, same(5), 10, "take 4 preferred"},
        Case{"the largest preferred size that is there",
             {2, 4},
             100,
             same(3),
             10,
             "take 2 preferred"},
        Case{"after the delay everything goes", {4}, 100, same(6), 100, "take 6 delay"},
        Case{"after the delay, below the preferred size", {4}, 100, same(3), 100, "take 3 delay"},
        Case{"an instance was busy for long", {}, 100, same(20), 900, "take 8 full"}));

INSTANTIATE_TEST_SUITE_P(
    WhatCannotShareABatch, DynamicPolicyTest,
    ::testing::Values(
        Case{"rows are never split",
             {},
             100,
             {{.rows = 5}, {.rows = 4}},
             10,
             "take 1 next_does_not_fit"},
        Case{"a batch of its own", {}, 100, {{.rows = 8}, {.rows = 1}}, 10, "take 1 full"},
        Case{"other shapes", {}, 100, {{}, {}, {.width = 3}}, 10, "take 2 next_does_not_fit"},
        Case{"nobody overtakes", {}, 100, {{}, {.width = 3}, {}}, 10, "take 1 next_does_not_fit"},
        Case{"a preferred size before what does not fit",
             {2},
             0,
             {{}, {}, {}, {.width = 3}},
             10,
             "take 2 preferred"}));

INSTANTIATE_TEST_SUITE_P(
    Priorities, DynamicPolicyTest,
    ::testing::Values(Case{"the first level goes first",
                           {2},
                           0,
                           {{.width = 3, .priority = 2}, {.priority = 1}, {.priority = 1}},
                           0,
                           "take 2 preferred"},
                      Case{"levels fill one batch",
                           {},
                           0,
                           {{.priority = 2}, {.priority = 1}, {.priority = 2}},
                           0,
                           "take 3 idle"},
                      Case{"the delay of the oldest, whatever its level",
                           {},
                           100,
                           {{.us = 10, .priority = 2}, {.us = 50, .priority = 1}},
                           60,
                           "wait until 110"},
                      Case{"unknown levels get the default one",
                           {},
                           0,
                           {{.width = 3, .priority = 9}, {.priority = 1}},
                           0,
                           "take 1 next_does_not_fit"}));

INSTANTIATE_TEST_SUITE_P(Deadlines, DynamicPolicyTest,
                         ::testing::Values(Case{"half of the time is for waiting",
                                                {},
                                                100,
                                                {{}, {.us = 20, .deadline_us = 80}},
                                                30,
                                                "wait until 50"},
                                           Case{"sent before the deadline",
                                                {},
                                                100,
                                                {{}, {.us = 20, .deadline_us = 80}},
                                                50,
                                                "take 2 deadline"},
                                           Case{"distant deadlines do not matter",
                                                {},
                                                100,
                                                {{.deadline_us = 1000}},
                                                10,
                                                "wait until 100"}));

TEST(DynamicPolicyTest, OnlyTimeoutsThatRejectShortenTheDelay) {
  using Action = config::QueuePolicy::TimeoutAction;
  for (const auto action : {Action::kReject, Action::kDelay}) {
    auto config = float_config(8);
    config.dynamic_batching = {
        .max_queue_delay = microseconds(100),
        .default_queue_policy = {.timeout_action = action, .default_timeout = microseconds(60)}};
    RequestQueue queue(*config.dynamic_batching);
    fill(queue, same(1));
    EXPECT_EQ(describe(DynamicPolicy(config).next(queue, at(10))),
              action == Action::kReject ? "wait until 30" : "wait until 100");
  }
}

TEST(DynamicPolicyOptionalInputsTest, RequestsWithOtherInputsDoNotShareABatch) {
  auto config = float_config(8);
  config.dynamic_batching.emplace();
  config.inputs.push_back({.name = "HINT", .type = DataType::kFp32, .dims = {1}, .optional = true});
  RequestQueue queue;
  for (const bool hint : {true, true, false}) {
    auto request = float_request("r");
    request->inputs.push_back(hint ? float_tensor({1, 1}) : Tensor{});
    queue.push(std::move(request), kStart);
  }
  EXPECT_EQ(describe(DynamicPolicy(config).next(queue, kStart)), "take 2 next_does_not_fit");
}

TEST(DynamicPolicyTest, ModelsThatDoNotBatchGetOneRequestEach) {
  auto config = float_config(0);
  config.dynamic_batching = {.max_queue_delay = microseconds(100)};
  RequestQueue queue;
  fill(queue, same(2));
  EXPECT_EQ(describe(DynamicPolicy(config).next(queue, kStart)), "take 1 full");
}

TEST(FifoPolicyTest, EachRequestIsABatch) {
  RequestQueue queue;
  EXPECT_EQ(describe(FifoPolicy().next(queue, kStart)), "nothing");
  fill(queue, {{.rows = 3}, {}});
  EXPECT_EQ(describe(FifoPolicy().next(queue, kStart)), "take 1 full");
}

}  // namespace
}  // namespace proa::core
