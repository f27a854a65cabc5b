#include "backends/cuda/split.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openvino/core/model.hpp"
#include "openvino/op/ops.hpp"

namespace proa::backends::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// relu > cumsum (the engine has none) > tanh > add of the relu.
std::shared_ptr<ov::Model> with_cumsum(const ov::PartialShape& shape) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, shape);
  auto first = std::make_shared<ov::op::v0::Relu>(x);
  first->set_friendly_name("first");
  auto axis = ov::op::v0::Constant::create(ov::element::i64, {}, {1});
  auto running = std::make_shared<ov::op::v0::CumSum>(first, axis);
  running->set_friendly_name("running");
  auto curved = std::make_shared<ov::op::v0::Tanh>(running);
  auto sum = std::make_shared<ov::op::v1::Add>(curved, first);
  return std::make_shared<ov::Model>(ov::OutputVector{sum}, ov::ParameterVector{x});
}

TEST(SplitTest, CutsAroundWhatTheEngineLacks) {
  const auto split = split_model(with_cumsum({-1, 4}), {.min_cluster_ops = 1, .by_cost = false});
  ASSERT_TRUE(split) << split.error().message;
  ASSERT_EQ(split->parts.size(), 3u);
  EXPECT_EQ(split->parts[1].side, Side::kCpu);
  EXPECT_EQ(split->parts[1].operators, 1);
  // The relu's result crosses once and is read twice.
  EXPECT_EQ(split->parts[0].outputs, split->parts[1].inputs);
  EXPECT_EQ(split->parts[2].inputs.size(), 2u);
  EXPECT_EQ(split->tensors[0].bytes(3), 3u * 4 * 4);
  EXPECT_FALSE(split->on_gpu_alone());
  EXPECT_THAT(report_text(*split),
              AllOf(HasSubstr("3 operators on the GPU, 1 on the CPU"),
                    HasSubstr("1 x CumSum: no counterpart in the engine ('running')")));
  EXPECT_THAT(report_json(*split),
              AllOf(HasSubstr("\"operator\":\"CumSum\""), HasSubstr("\"device\":\"CPU\"")));
}

TEST(SplitTest, AWholeModelIsOnePart) {
  const auto split = split_model(with_cumsum({2, 4}), {.min_cluster_ops = 3, .by_cost = false});
  // Relu alone, and Tanh with Add, are too small: nothing is left for the GPU.
  ASSERT_FALSE(split);
  EXPECT_THAT(split.error().message, AllOf(HasSubstr("CumSum"), HasSubstr("min_cluster_ops = 3")));

  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 4});
  const auto whole = split_model(
      std::make_shared<ov::Model>(ov::OutputVector{std::make_shared<ov::op::v0::Relu>(x)},
                                  ov::ParameterVector{x}),
      {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(whole->on_gpu_alone());
}

TEST(SplitTest, WhatNoKernelComputesRunsOnTheCpu) {
  // A mask of UINT16 that becomes floats, and sums of INT64 numbers.
  auto mask = std::make_shared<ov::op::v0::Parameter>(ov::element::u16, ov::PartialShape{-1, 4});
  auto floats = std::make_shared<ov::op::v0::Convert>(mask, ov::element::f32);
  floats->set_friendly_name("floats");
  auto ids = std::make_shared<ov::op::v0::Parameter>(ov::element::i64, ov::PartialShape{-1, 4});
  auto next = std::make_shared<ov::op::v1::Add>(
      ids, ov::op::v0::Constant::create(ov::element::i64, {1}, {1}));
  next->set_friendly_name("next");
  auto sum = std::make_shared<ov::op::v1::Add>(
      floats, std::make_shared<ov::op::v0::Convert>(next, ov::element::f32));
  const auto split = split_model(
      std::make_shared<ov::Model>(ov::OutputVector{std::make_shared<ov::op::v0::Tanh>(sum)},
                                  ov::ParameterVector{mask, ids}),
      {.min_cluster_ops = 1, .by_cost = false});
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_THAT(report_text(*split),
              AllOf(HasSubstr("('floats')"), HasSubstr("('next')"),
                    HasSubstr("does not hold all integers of 32 and 64 bits")));
}

TEST(SplitTest, TheConfigurationPlacesOperators) {
  for (const PlacementOptions& options : {PlacementOptions{1, {"Tanh", "CumSum"}, {}, false},
                                          PlacementOptions{1, {}, {"first"}, false}}) {
    const auto split = split_model(with_cumsum({-1, 4}), options);
    ASSERT_TRUE(split) << split.error().message;
    EXPECT_THAT(report_text(*split), HasSubstr("placed there by the configuration"));
  }
}

TEST(SplitTest, ShapesThatDependOnDataDoNotCross) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{2, 4});
  auto relu = std::make_shared<ov::op::v0::Relu>(x);
  auto found = std::make_shared<ov::op::v3::NonZero>(relu);
  const auto split =
      split_model(std::make_shared<ov::Model>(ov::OutputVector{found}, ov::ParameterVector{x}),
                  {.min_cluster_ops = 1, .by_cost = false});
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(split.error().message, HasSubstr("depends on data"));
}

TEST(SplitTest, SizesComputedFromShapesGoWithTheirReaders) {
  // Reshape to [batch, -1] through ShapeOf, behind an operator of the CPU.
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 2, 3});
  auto axis = ov::op::v0::Constant::create(ov::element::i64, {}, {1});
  auto running = std::make_shared<ov::op::v0::CumSum>(x, axis);
  auto shape = std::make_shared<ov::op::v3::ShapeOf>(running);
  auto zero = ov::op::v0::Constant::create(ov::element::i64, {1}, {0});
  auto rows = std::make_shared<ov::op::v8::Gather>(
      shape, zero, ov::op::v0::Constant::create(ov::element::i64, {}, {0}));
  auto rest = ov::op::v0::Constant::create(ov::element::i64, {1}, {-1});
  auto wanted = std::make_shared<ov::op::v0::Concat>(ov::OutputVector{rows, rest}, 0);
  auto flat = std::make_shared<ov::op::v1::Reshape>(running, wanted, false);
  auto y = std::make_shared<ov::op::v0::Relu>(flat);
  const auto split =
      split_model(std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}),
                  {.min_cluster_ops = 1, .by_cost = false});
  ASSERT_TRUE(split) << split.error().message;
  ASSERT_EQ(split->parts.size(), 2u);
  EXPECT_EQ(split->parts[1].inputs.size(), 1u);
  EXPECT_EQ(split->parts[1].operators, 2);
}

}  // namespace
}  // namespace proa::backends::cuda
