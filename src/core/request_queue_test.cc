#include "core/request_queue.h"

#include <gtest/gtest.h>

#include <random>

#include "core/testing/requests.h"

namespace proa::core {
namespace {

using std::chrono::microseconds;
using Action = config::QueuePolicy::TimeoutAction;

constexpr TimePoint kStart{std::chrono::hours(1)};

TimePoint at(std::int64_t us) { return kStart + microseconds(us); }

std::unique_ptr<Request> request(std::string id, std::uint64_t priority = 0,
                                 std::int64_t timeout_us = 0, TimePoint deadline = kNever) {
  auto made = float_request(std::move(id));
  made->priority = priority;
  made->timeout = microseconds(timeout_us);
  made->deadline = deadline;
  return made;
}

// The ids in serving order: "a b c".
std::string ids(const RequestQueue& queue) {
  std::string text;
  for (const auto* item = queue.first(); item != nullptr; item = queue.next(*item)) {
    text += (text.empty() ? "" : " ") + item->request->id;
  }
  return text;
}

// The ids that expire: "a!" by its deadline, "b" by its time-out.
std::string expired(RequestQueue& queue, TimePoint now) {
  std::string text;
  for (const auto& item : queue.expire(now)) {
    text += (text.empty() ? "" : " ") + item.request->id + (item.deadline ? "!" : "");
  }
  return text;
}

TEST(RequestQueueTest, ServesInOrderOfArrival) {
  RequestQueue queue;
  for (const char* id : {"a", "b", "c", "d"}) queue.push(request(id), kStart);
  EXPECT_EQ(ids(queue), "a b c d");
  const auto taken = queue.take(2);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1]->id, "b");
  EXPECT_EQ(ids(queue), "c d");
  EXPECT_EQ(queue.size(), 2u);
}

TEST(RequestQueueTest, ServesHigherLevelsFirst) {
  RequestQueue queue({.priority_levels = 3, .default_priority_level = 2});
  queue.push(request("low", 3), kStart);
  queue.push(request("default", 0), kStart);
  queue.push(request("unknown", 4), kStart);
  queue.push(request("high", 1), kStart);
  EXPECT_EQ(ids(queue), "high default unknown low");
}

TEST(RequestQueueTest, TicketsNameOneRequestOnly) {
  RequestQueue queue;
  const auto first = queue.push(request("a"), kStart);
  queue.push(request("b"), kStart);
  EXPECT_EQ(queue.find(first)->request->id, "a");
  EXPECT_EQ(queue.remove(first)->id, "a");
  EXPECT_EQ(queue.remove(first), nullptr);
  queue.push(request("c"), kStart);  // takes the place of "a"
  EXPECT_EQ(queue.find(first), nullptr);
  EXPECT_EQ(ids(queue), "b c");
}

TEST(RequestQueueTest, EachLevelHasItsOwnBound) {
  RequestQueue queue({.priority_levels = 2,
                      .default_priority_level = 1,
                      .default_queue_policy = {.max_queue_size = 2},
                      .priority_queue_policies = {{2, {.max_queue_size = 1}}}});
  queue.push(request("a", 1), kStart);
  queue.push(request("b", 2), kStart);
  EXPECT_TRUE(queue.has_room(*request("c", 1)));
  EXPECT_FALSE(queue.has_room(*request("c", 2)));
  queue.push(request("c", 1), kStart);
  EXPECT_FALSE(queue.has_room(*request("d", 1)));
  queue.take(1);
  EXPECT_TRUE(queue.has_room(*request("d", 1)));
}

TEST(RequestQueueTest, RejectsAfterTheDefaultTimeout) {
  RequestQueue queue({.default_queue_policy = {.default_timeout = microseconds(100)}});
  queue.push(request("a"), at(0));
  queue.push(request("b"), at(50));
  EXPECT_EQ(queue.next_expiry(), at(100));
  EXPECT_EQ(expired(queue, at(99)), "");
  EXPECT_EQ(expired(queue, at(100)), "a");
  EXPECT_EQ(queue.next_expiry(), at(150));
  EXPECT_EQ(ids(queue), "b");
}

TEST(RequestQueueTest, DelayPutsBackBehindTheLevelsOthers) {
  RequestQueue queue({.priority_levels = 2,
                      .default_priority_level = 1,
                      .default_queue_policy = {.timeout_action = Action::kDelay,
                                               .default_timeout = microseconds(100)}});
  queue.push(request("a", 1), at(0));
  queue.push(request("low", 2), at(60));
  queue.push(request("b", 1), at(60));
  EXPECT_EQ(expired(queue, at(100)), "");
  EXPECT_EQ(ids(queue), "b a low");
  queue.push(request("c", 1), at(110));
  EXPECT_EQ(ids(queue), "b c a low");
  EXPECT_EQ(queue.next_expiry(), at(160));
}

TEST(RequestQueueTest, DelayedRequestsKeepTheirDeadline) {
  RequestQueue queue({.default_queue_policy = {.timeout_action = Action::kDelay,
                                               .default_timeout = microseconds(100)}});
  queue.push(request("a", 0, 0, at(300)), at(0));
  EXPECT_EQ(expired(queue, at(200)), "");
  EXPECT_EQ(queue.next_expiry(), at(300));
  EXPECT_EQ(expired(queue, at(300)), "a!");
  EXPECT_TRUE(queue.empty());
}

TEST(RequestQueueTest, DeadlinesCountWithoutAnyPolicy) {
  RequestQueue queue;
  queue.push(request("a", 0, 5, at(20)), at(0));  // its own timeout does not
  EXPECT_EQ(expired(queue, at(19)), "");
  EXPECT_EQ(expired(queue, at(20)), "a!");
}

struct OverrideCase {
  bool allowed;
  std::int64_t standard_us;
  std::int64_t own_us;
  std::int64_t expires_us;  // 0 = never
};

class TimeoutOverrideTest : public ::testing::TestWithParam<OverrideCase> {};

TEST_P(TimeoutOverrideTest, TheShorterCountsWhereAllowed) {
  const OverrideCase& c = GetParam();
  RequestQueue queue({.default_queue_policy = {.default_timeout = microseconds(c.standard_us),
                                               .allow_timeout_override = c.allowed}});
  queue.push(request("a", 0, c.own_us), kStart);
  EXPECT_EQ(queue.next_expiry(), c.expires_us == 0 ? kNever : at(c.expires_us));
}

INSTANTIATE_TEST_SUITE_P(
    All, TimeoutOverrideTest,
    ::testing::Values(OverrideCase{false, 100, 50, 100}, OverrideCase{true, 100, 50, 50},
                      OverrideCase{true, 100, 500, 100}, OverrideCase{true, 0, 50, 50},
                      OverrideCase{false, 0, 50, 0}, OverrideCase{true, 100, 0, 100},
                      OverrideCase{true, 0, 0, 0}));

TEST(ExpiryHeapTest, GivesTheEarliestAfterAnyRemovals) {
  std::mt19937 random(7);
  std::vector<Expiring> items(200);
  ExpiryHeap heap;
  for (Expiring& item : items) {
    item.expires = at(static_cast<std::int64_t>(random() % 50));
    heap.insert(item);
  }
  for (std::size_t i = 0; i < items.size(); i += 3) heap.remove(items[i]);
  heap.remove(items[0]);  // gone already
  TimePoint last = at(0);
  std::size_t count = 0;
  for (; !heap.empty(); ++count) {
    Expiring& first = heap.first();
    EXPECT_GE(first.expires, last);
    last = first.expires;
    heap.remove(first);
  }
  EXPECT_EQ(count, 200u - 67u);
}

}  // namespace
}  // namespace proa::core
