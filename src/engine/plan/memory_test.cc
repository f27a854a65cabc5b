#include "engine/plan/memory.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace proa::engine {
namespace {

bool overlap(const MemoryRequest& a, std::size_t a_offset, const MemoryRequest& b,
             std::size_t b_offset) {
  const bool in_time = a.first_step <= b.last_step && b.first_step <= a.last_step;
  const bool in_space = a_offset < b_offset + b.bytes && b_offset < a_offset + a.bytes;
  return in_time && in_space && a.bytes > 0 && b.bytes > 0;
}

void expect_sound(std::span<const MemoryRequest> requests, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), requests.size());
  EXPECT_GE(layout.arena_bytes, least_arena_bytes(requests));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % kArenaAlignment, 0u);
    EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.arena_bytes);
    for (std::size_t j = i + 1; j < requests.size(); ++j) {
      EXPECT_FALSE(overlap(requests[i], layout.offsets[i], requests[j], layout.offsets[j]))
          << i << " and " << j;
    }
  }
}

TEST(MemoryPlanTest, RandomLifetimesNeverOverlap) {
  std::mt19937 random(7);
  double worst = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryRequest> requests(1 + random() % 60);
    for (MemoryRequest& request : requests) {
      request.bytes = random() % 5 == 0 ? 0 : random() % 100000;
      request.first_step = static_cast<int>(random() % 50);
      request.last_step = request.first_step + static_cast<int>(random() % 8);
    }
    const MemoryLayout layout = plan_memory(requests);
    expect_sound(requests, layout);
    const auto least = std::max<std::size_t>(1, least_arena_bytes(requests));
    worst = std::max(worst, static_cast<double>(layout.arena_bytes) / static_cast<double>(least));
  }
  EXPECT_LT(worst, 1.5);  // greedy is not optimal, but near
}

TEST(MemoryPlanTest, AChainNeedsTwoBuffers) {
  std::vector<MemoryRequest> requests;
  for (int step = 0; step < 20; ++step) requests.push_back({1024, step, step + 1});
  EXPECT_EQ(plan_memory(requests).arena_bytes, 2048u);
}

TEST(MemoryPlanTest, SmallBuffersFillTheGapThatFitsBest) {
  // Two long-lived blocks leave gaps of 1024 and 512; the small buffer takes the tight one.
  const std::vector<MemoryRequest> requests = {
      {4096, 0, 9}, {2048, 0, 1}, {1024, 5, 6}, {512, 5, 6}};
  const MemoryLayout layout = plan_memory(requests);
  expect_sound(requests, layout);
  EXPECT_EQ(layout.arena_bytes, 6144u);
}

TEST(MemoryPlanTest, NothingNeedsNothing) { EXPECT_EQ(plan_memory({}).arena_bytes, 0u); }

}  // namespace
}  // namespace proa::engine
