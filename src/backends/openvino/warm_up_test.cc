#include "backends/openvino/warm_up.h"

#include <limits>
#include <thread>

#include "backends/openvino/background_warm_up.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/signature.h"
#include "backends/openvino/testing/models.h"
#include "base/testing/manual_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WarmUpOrderTest, PutsTheUsefulSizesFirst) {
  config::ModelConfig config;
  EXPECT_THAT(warm_up_order(config), ElementsAre(1));
  config.max_batch_size = 1;
  EXPECT_THAT(warm_up_order(config), ElementsAre(1));
  config.max_batch_size = 8;
  EXPECT_THAT(warm_up_order(config), ElementsAre(1, 8, 2, 4, 3, 5, 6, 7));
  config.dynamic_batching.emplace().preferred_batch_sizes = {3, 6};
  EXPECT_THAT(warm_up_order(config), ElementsAre(1, 8, 3, 6, 2, 4, 5, 7));
  config.max_batch_size = std::numeric_limits<std::int32_t>::max();
  config.dynamic_batching->preferred_batch_sizes = {1000, 5};
  const std::vector<std::int64_t> order = warm_up_order(config);
  EXPECT_EQ(order.size(), static_cast<std::size_t>(kLargestWarmSize));
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 4),
              ElementsAre(1, kLargestWarmSize, 5, 2));
}

class WarmUpTest : public ::testing::Test {
 protected:
  std::unique_ptr<WarmUp> make(const ov::PartialShape& shape) {
    const auto model = testing::affine_model(shape);
    config::ModelConfig config;
    config.max_batch_size = 8;
    const Signature signature = read_signature(*model);
    config.inputs.push_back(
        {.name = "x", .type = DataType::kFp32, .dims = signature.inputs[0].shape->without_first()});
    config.outputs.push_back({.name = "y",
                              .type = DataType::kFp32,
                              .dims = signature.outputs[0].shape->without_first()});
    return std::make_unique<WarmUp>(*runtime_.compile(model, {}), *bind(signature, config), 2);
  }

  Runtime runtime_;
};

TEST_F(WarmUpTest, NeedsKnownInnerExtents) {
  EXPECT_TRUE(make({-1, 4})->possible());
  EXPECT_FALSE(make({-1, -1})->possible());
}

TEST_F(WarmUpTest, CountsInputsAndOutputs) {
  constexpr std::int64_t kRow = 1 << 20;  // 4 MiB in, 4 MiB out
  const auto warm_up = make({-1, kRow});
  EXPECT_TRUE(warm_up->fits(8));
  EXPECT_FALSE(warm_up->fits(9));
  EXPECT_FALSE(warm_up->fits(std::numeric_limits<std::int64_t>::max()));
}

TEST_F(WarmUpTest, RunsTheFirstSizeWhateverTheBudget) {
  const auto warm_up = make({-1, 4});
  // A budget of nothing, on a clock that moves.
  class Ticking : public Clock {
   public:
    TimePoint now() const override { return now_ += std::chrono::milliseconds(1); }

   private:
    mutable TimePoint now_{};
  } clock;
  const auto left = warm_within(*warm_up, {1, 8, 2}, Duration(0), clock);
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, ElementsAre(8, 2));
}

TEST_F(WarmUpTest, RunsWhatFits) {
  const auto warm_up = make({-1, 4});
  class Ticking : public Clock {
   public:
    TimePoint now() const override { return now_ += std::chrono::milliseconds(1); }

   private:
    mutable TimePoint now_{};
  } clock;
  // 1 ms per row by this clock: 40 rows do not fit, 3 do.
  const auto left = warm_within(*warm_up, {1, 40, 3}, std::chrono::milliseconds(20), clock);
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, ElementsAre(40));
}

TEST_F(WarmUpTest, BackgroundFinishesWhileIdleAndStopsAtOnce) {
  {
    BackgroundWarmUp background(make({-1, 4}), {1, 2, 3});
    while (!background.finished()) std::this_thread::yield();
    background.busy();
    background.idle();
  }
  BackgroundWarmUp stopped(make({-1, 4}), {1, 2, 3});
  stopped.busy();  // never idle: the destructor must not wait for it
}

}  // namespace
}  // namespace proa::backends::openvino
