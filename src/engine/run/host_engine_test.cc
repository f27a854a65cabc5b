#include "engine/run/host_engine.h"

#include "engine/graph/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::ElementsAre;

Graph doubling() {
  auto graph = parse_graph(
      "input x : FP32[1,2]\n"
      "const two : FP32[1] = {2}\n"
      "y = binary(x, two) kind=multiply\n"
      "output y\n");
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

TEST(HostEngineTest, RunsTheSmallestBucketThatHoldsTheRows) {
  const auto engine = make_host_engine();
  auto model = engine->load(doubling(), {.buckets = {4, 1}});
  ASSERT_TRUE(model) << model.error().message;
  auto stream = (*model)->make_stream(2);
  ASSERT_TRUE(stream);
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(6);
  const auto bytes = std::as_bytes(std::span(in));
  const auto room = std::as_writable_bytes(std::span(out));
  ASSERT_TRUE((*stream)->start(0, 3, {&bytes, 1}, {&room, 1}));
  ASSERT_TRUE((*stream)->wait(0));
  EXPECT_THAT(out, ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_FALSE((*stream)->start(0, 5, {&bytes, 1}, {&room, 1}));
}

TEST(HostEngineTest, AnAbsentDeviceIsNotFound) {
  const auto model = make_host_engine()->load(doubling(), {.device = 1});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace proa::engine
