#include "backends/cuda/partition.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Side G = Side::kGpu;
constexpr Side C = Side::kCpu;

std::vector<std::vector<int>> operators_of(const std::vector<Segment>& segments) {
  std::vector<std::vector<int>> lists;
  for (const Segment& segment : segments) lists.push_back(segment.operators);
  return lists;
}

TEST(MakeSegmentsTest, OneSideIsOneSegment) {
  const std::vector<PlacedOperator> chain = {{{}, G}, {{0}, G}, {{1}, G}};
  const auto segments = make_segments(chain, {2});
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments[0].side, G);
  EXPECT_THAT(segments[0].operators, ElementsAre(0, 1, 2));
  EXPECT_THAT(make_segments({}, {2}), IsEmpty());
}

TEST(MakeSegmentsTest, AnOperatorInTheMiddleCutsInThree) {
  const std::vector<PlacedOperator> chain = {{{}, G}, {{0}, C}, {{1}, G}};
  EXPECT_THAT(operators_of(make_segments(chain, {1})),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(MakeSegmentsTest, ABranchOnTheCpuWaitsUntilAllElseIsDone) {
  // 0 feeds 1 (CPU) and the long branch 2, 3; 4 joins them.
  const std::vector<PlacedOperator> diamond = {{{}, G}, {{0}, C}, {{0}, G}, {{2}, G}, {{1, 3}, G}};
  EXPECT_THAT(operators_of(make_segments(diamond, {1})),
              ElementsAre(ElementsAre(0, 2, 3), ElementsAre(1), ElementsAre(4)));
}

TEST(MakeSegmentsTest, BeginsWithTheSideThatNeedsFewerSegments) {
  // Two ready at the start; the GPU's wants nothing of the CPU's, the end wants both.
  const std::vector<PlacedOperator> graph = {{{}, C}, {{}, G}, {{0, 1}, G}};
  EXPECT_THAT(operators_of(make_segments(graph, {1})),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(MakeSegmentsTest, SmallClustersGoToTheCpu) {
  const std::vector<PlacedOperator> chain = {{{}, C}, {{0}, G}, {{1}, C}, {{2}, G}, {{3}, G}};
  EXPECT_THAT(operators_of(make_segments(chain, {2})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  // A network that is small as a whole stays where it is.
  const std::vector<PlacedOperator> one = {{{}, G}};
  EXPECT_EQ(make_segments(one, {4}).front().side, G);
}

TEST(MakeSegmentsTest, ASegmentMustPayForItsCrossings) {
  // In and out of the second segment on the GPU: twice crossing_us().
  const double crossings = 2 * crossing_us(1000);
  std::vector<PlacedOperator> chain = {
      {{}, G, 1e4, 1000}, {{0}, C, 0, 1000}, {{1}, G, crossings - 1, 1000}, {{2}, C, 0, 1000}};
  EXPECT_THAT(operators_of(make_segments(chain, {1, true})),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
  EXPECT_EQ(make_segments(chain, {1, false}).size(), 4u);
  // The last one stays where the configuration wanted it.
  chain[0].side = C;
  EXPECT_EQ(make_segments(chain, {1, true}).size(), 3u);
  chain[0].side = G;
  chain[2].saved_us = crossings + 1;
  EXPECT_EQ(make_segments(chain, {1, true}).size(), 4u);
}

TEST(MakeSegmentsTest, EveryOperatorRunsOnceAndAfterItsInputs) {
  std::vector<PlacedOperator> random;
  std::uint32_t state = 7;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  for (int i = 0; i < 60; ++i) {
    PlacedOperator made{{}, next() % 3 == 0 ? C : G};
    for (int input = 0; i > 0 && input < 2; ++input) {
      made.inputs.push_back(static_cast<int>(next() % static_cast<std::uint32_t>(i)));
    }
    random.push_back(made);
  }
  std::set<int> done;
  for (const Segment& segment : make_segments(random, {3})) {
    for (const int index : segment.operators) {
      for (const int input : random[static_cast<std::size_t>(index)].inputs) {
        EXPECT_TRUE(done.contains(input));
      }
      EXPECT_TRUE(done.insert(index).second);
    }
  }
  EXPECT_EQ(done.size(), random.size());
}

}  // namespace
}  // namespace proa::backends::cuda
