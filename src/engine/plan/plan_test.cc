#include "engine/plan/plan.h"

#include "engine/graph/text.h"
#include "engine/host/executor.h"
#include "engine/passes/pass.h"
#include "engine/testing/compare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A small network with every kind of step of ResNet-50.
constexpr std::string_view kNetwork = R"(graph net
input x : FP32[2,3,32,32]
const w0 : FP32[8,3,7,7] = random(1, -0.3, 0.3)
const w1 : FP32[16,8,1,1] = random(2, -0.5, 0.5)
const w2 : FP32[16,16,3,3] = random(3, -0.2, 0.2)
const b0 : FP32[1,8,1,1] = random(4, -1, 1)
const b1 : FP32[1,16,1,1] = random(5, -1, 1)
const f : FP32[16,10] = random(6, -1, 1)
const g : FP32[10] = random(7, -1, 1)
a = conv(x, w0) strides=[2,2] pads_begin=[3,3] pads_end=[3,3]
a1 = binary(a, b0)
a2 = unary(a1) act=relu
p = pool(a2) kernel=[3,3] strides=[2,2] pads_begin=[1,1] pads_end=[1,1]
c = conv(p, w1)
c1 = binary(c, b1)
d = conv(c1, w2) pads_begin=[1,1] pads_end=[1,1]
d1 = binary(d, b1)
s = binary(d1, c1)
r = unary(s) act=relu
m = reduce(r) axes=[2,3] keep_dims=true
h = reshape(m) dims=[2,16]
l = matmul(h, f)
y = binary(l, g)
output y
)";

Graph optimised(std::string_view text, Precision precision) {
  Graph graph = *parse_graph(text);
  PassOptions options;
  options.precision = precision;
  auto records = run_passes(graph, options);
  EXPECT_TRUE(records) << records.error().message;
  return graph;
}

std::vector<float> run_plan(const Plan& plan, const std::vector<float>& input) {
  HostExecutor executor(plan);
  const Buffer in = pack_floats(plan.graph.value(plan.graph.inputs[0]).type, input);
  const Value& out = plan.graph.value(plan.graph.outputs[0]);
  std::vector<std::byte> bytes(out.bytes());
  const std::span<const std::byte> input_bytes = in.bytes();
  const std::span<std::byte> output_bytes = bytes;
  const Status status = executor.run({&input_bytes, 1}, {&output_bytes, 1});
  EXPECT_TRUE(status);
  return unpack_floats(out.type, bytes, static_cast<std::size_t>(out.elements()));
}

TEST(PlanTest, HostRunOfThePlanEqualsTheGraph) {
  const Graph plain = *parse_graph(kNetwork);
  const HostTensor input{{2, 3, 32, 32}, random_numbers(9, 2 * 3 * 32 * 32, -1, 1)};
  const std::vector<float> wanted = run_graph(plain, {&input, 1})->front().data;
  for (const auto& [precision, tolerance] :
       {std::pair(Precision::kFp32, 1e-6), std::pair(Precision::kFp16, 3e-3)}) {
    auto plan = lower(optimised(kNetwork, precision), {});
    ASSERT_TRUE(plan) << plan.error().message;
    const std::vector<float> got = run_plan(*plan, input.data);
    EXPECT_LT(relative_l2(got, wanted), tolerance);
  }
}

TEST(PlanTest, ListsCandidatesInOrderAndReasonsOfTheOthers) {
  auto plan = lower(optimised(kNetwork, Precision::kFp16), {});
  ASSERT_TRUE(plan);
  std::vector<Implementation> first;
  for (const Step& step : plan->steps) first.push_back(step.candidates.front());
  using I = Implementation;
  EXPECT_THAT(first,
              ElementsAre(I::kPack, I::kCudnnPrecompiled, I::kPoolVector, I::kCudnnPrecompiled,
                          I::kCudnnPrecompiled, I::kSpatialMean, I::kCublasLt, I::kPointwise));
  EXPECT_THAT(plan->steps[3].candidates,
              ElementsAre(I::kCudnnPrecompiled, I::kCudnnRuntime, I::kCublasLt, I::kReference));
  EXPECT_THAT(print_plan(*plan), HasSubstr("not cublaslt: is a matrix product: 1x1, stride 1"));
}

TEST(PlanTest, ArenaIsAsSmallAsLifetimesAllow) {
  auto plan = lower(optimised(kNetwork, Precision::kFp16), {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->arena_bytes, plan->least_arena_bytes);
  EXPECT_GT(plan->arena_bytes, 0u);
}

constexpr std::string_view kExpanded = R"(graph block
input i : FP16[1,8,8,16]
const w : FP16[32,1,1,16] = random(1, -0.5, 0.5)
const f : FP16[32,3,3,1] = random(2, -0.5, 0.5)
x = unary(i) act=abs
a = conv(x, w) layout=nhwc act=relu
y = conv(a, f) layout=nhwc groups=32 pads_begin=[1,1] pads_end=[1,1]
z = unary(y) act=abs
output z
)";

TEST(PlanTest, ListsWhatOneKernelMayComputeAndKeepsItsInputs) {
  auto plan = lower(*parse_graph(kExpanded), {});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->fusions.size(), 1u);
  const Fusion& fusion = plan->fusions.front();
  EXPECT_EQ(fusion.first, 1u);
  EXPECT_EQ(fusion.count, 2u);
  EXPECT_THAT(fusion.step.candidates, ElementsAre(Implementation::kExpand));
  const ValueId none = kNoValue, x = plan->steps[1].node.inputs[0];
  EXPECT_THAT(fusion.step.node.inputs, ElementsAre(x, 1, none, none, 2, none, none));
  EXPECT_EQ(parts_of(plan->graph, fusion.step.node, 2)[0]->output(), plan->steps[1].node.output());
  const ValueId y = fusion.step.node.output();
  const std::size_t taken = 0;
  place_memory(*plan, {&taken, 1});
  const Storage &from = plan->storage_of(x), &to = plan->storage_of(y);
  EXPECT_TRUE(from.offset + plan->graph.value(x).bytes() <= to.offset ||
              to.offset + plan->graph.value(y).bytes() <= from.offset);
}

TEST(PlanTest, DoesNotFuseWhatOthersRead) {
  std::string text(kExpanded);
  text += "output a\n";
  auto plan = lower(*parse_graph(text), {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->fusions.empty());
}

TEST(PlanTest, SaysWhyItDoesNotFuse) {
  std::string text(kExpanded);
  text.replace(text.find("act=relu"), 8, "act=tanh");
  auto plan = lower(*parse_graph(text), {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(print_plan(*plan), HasSubstr("not expand: applies bounds only"));
}

// The end of a block with a projection, and the next block's first convolution. `y` has a second
// reader.
constexpr std::string_view kBlockEnd = R"(graph block
input i : FP16[1,8,8,64]
input h : FP16[1,4,4,64]
const p : FP16[256,1,1,64] = random(1, -0.5, 0.5)
const w : FP16[256,1,1,64] = random(2, -0.5, 0.5)
const v : FP16[64,1,1,256] = random(3, -0.5, 0.5)
x = unary(i) act=abs
r = conv(x, p) layout=nhwc strides=[2,2]
y = conv(h, w, _, r) layout=nhwc act=relu
z = conv(y, v) layout=nhwc act=relu
u = binary(y, y)
output z
output u
)";

TEST(PlanTest, AFusionMayKeepWhatLiesBetweenAndAddWhatItMakes) {
  auto plan = lower(*parse_graph(kBlockEnd), {});
  ASSERT_TRUE(plan) << plan.error().message;
  const ValueId none = kNoValue;
  const auto value = [&](std::size_t step) { return plan->steps[step].node.output(); };
  const ValueId x = value(0), y = value(2), z = value(3);
  const ValueId h = plan->graph.inputs[1];
  const auto constant = [&](std::size_t step) { return plan->steps[step].node.inputs[1]; };
  // The projection and the sum; with the next convolution; the sum and the next convolution.
  ASSERT_EQ(plan->fusions.size(), 3u);
  const Fusion &pair = plan->fusions[0], &all = plan->fusions[1], &end = plan->fusions[2];
  EXPECT_EQ(pair.first, 1u);
  EXPECT_EQ(pair.count, 2u);
  EXPECT_THAT(pair.step.node.outputs, ElementsAre(y));
  EXPECT_THAT(pair.step.node.inputs, ElementsAre(x, constant(1), none, none, h, constant(2), none));
  EXPECT_EQ(all.first, 1u);
  EXPECT_EQ(all.count, 3u);
  EXPECT_THAT(all.step.node.outputs, ElementsAre(z, y));
  EXPECT_THAT(all.step.node.inputs, ElementsAre(x, constant(1), none, none, h, constant(2), none,
                                                constant(3), none, none));
  EXPECT_THAT(all.step.signature, HasSubstr(" +> conv("));
  EXPECT_THAT(all.step.signature, HasSubstr(" >> conv("));
  EXPECT_EQ(end.first, 2u);
  EXPECT_THAT(end.step.node.outputs, ElementsAre(z, y));
  EXPECT_THAT(end.step.node.inputs,
              ElementsAre(h, constant(2), none, value(1), constant(3), none, none));
  for (const Fusion* each : {&pair, &all, &end}) {
    EXPECT_THAT(each->step.candidates, ElementsAre(Implementation::kBlockEnd));
  }
  const std::vector<const Node*> parts = parts_of(plan->graph, all.step.node, 3);
  EXPECT_EQ(parts[0]->output(), value(1));
  EXPECT_EQ(parts[1]->output(), y);
  EXPECT_EQ(parts[2]->output(), z);
}

TEST(PlanTest, WhatNobodyElseReadsIsNoOutputOfAFusion) {
  std::string text(kBlockEnd);
  text.replace(text.find("u = binary(y, y)"), 16, "u = unary(h) act=abs");
  auto plan = lower(*parse_graph(text), {});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->fusions.size(), 3u);
  EXPECT_THAT(plan->fusions[1].step.node.outputs, ElementsAre(plan->steps[3].node.output()));
  EXPECT_THAT(plan->fusions[1].step.signature, HasSubstr(" > conv("));
}

TEST(PlanTest, APaddedProjectionIsComputedAlone) {
  std::string text(kBlockEnd);
  text.replace(text.find("input h : FP16[1,4,4,64]"), 24, "input h : FP16[1,5,5,64]");
  text.replace(text.find("strides=[2,2]"), 13, "strides=[2,2] pads_end=[1,1]");
  auto plan = lower(*parse_graph(text), {});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->fusions.size(), 1u);
  EXPECT_EQ(plan->fusions[0].first, 2u);
}

// One kernel reads all inputs while it writes all outputs.
TEST(PlanTest, WhatATakenFusionTouchesLiesApart) {
  auto plan = lower(*parse_graph(kBlockEnd), {});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::size_t apart = plan->arena_bytes;
  for (std::size_t taken = 0; taken < plan->fusions.size(); ++taken) {
    place_memory(*plan, {&taken, 1});
    const Node& node = plan->fusions[taken].step.node;
    std::vector<ValueId> touched = node.inputs;
    std::erase_if(touched, [&](ValueId id) {
      return id == kNoValue || plan->storage_of(id).place != Storage::Place::kArena;
    });
    for (ValueId id : node.outputs) {
      if (plan->storage_of(id).place == Storage::Place::kArena) touched.push_back(id);
    }
    for (ValueId a : touched) {
      for (ValueId b : touched) {
        if (a == b) continue;
        const std::size_t from = plan->storage_of(a).offset, to = plan->storage_of(b).offset;
        EXPECT_TRUE(from + plan->graph.value(a).bytes() <= to ||
                    to + plan->graph.value(b).bytes() <= from)
            << taken << ": " << plan->graph.value(a).name << ", " << plan->graph.value(b).name;
      }
    }
  }
  place_memory(*plan, {});
  EXPECT_EQ(plan->arena_bytes, apart);
}

TEST(PlanTest, WhatLiesBetweenTakesNoMemory) {
  auto plan = lower(*parse_graph(kBlockEnd), {});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::size_t all = 1;  // the projection, the sum and the next convolution
  place_memory(*plan, {&all, 1});
  EXPECT_EQ(plan->storage_of(plan->steps[1].node.output()).place, Storage::Place::kNowhere);
  EXPECT_EQ(plan->storage_of(plan->steps[2].node.output()).place, Storage::Place::kArena);
}

TEST(PlanTest, AProjectionThatOthersReadIsComputedAlone) {
  std::string text(kBlockEnd);
  text.replace(text.find("binary(y, y)"), 12, "binary(y, r)");
  auto plan = lower(*parse_graph(text), {});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->fusions.size(), 1u);
  EXPECT_EQ(plan->fusions[0].first, 2u);
}

TEST(PlanTest, ReshapesCostNothing) {
  auto plan = lower(*parse_graph("input x : FP32[2,6]\na = unary(x) act=exp\nb = reshape(a) "
                                 "dims=[3,4]\ny = unary(b) act=abs\noutput y\n"),
                    {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(plan->storage_of(1).offset, plan->storage_of(2).offset);
}

TEST(PlanTest, OutputsThatHaveNoStepAreCopied) {
  for (std::string_view text : {"input x : FP32[2,6]\noutput x\n",
                                "input x : FP32[2,6]\ny = reshape(x) dims=[12]\noutput y\n",
                                "input x : FP32[2,6]\nconst c : FP32[12] = fill(2)\noutput c\n"}) {
    auto plan = lower(*parse_graph(text), {});
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->steps.size(), 1u) << text;
    const std::vector<float> input = random_numbers(3, 12, -1, 1);
    const bool constant = text.find("const") != std::string_view::npos;
    EXPECT_EQ(run_plan(*plan, input), constant ? std::vector<float>(12, 2.0f) : input);
  }
}

TEST(PlanTest, AReshapedOutputIsWrittenByItsProducer) {
  auto plan = lower(*parse_graph("input x : FP32[2,6]\na = unary(x) act=exp\nb = unary(a) "
                                 "act=negative\ny = reshape(a) dims=[12]\noutput y\noutput b\n"),
                    {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(plan->storage_of(1).place, Storage::Place::kOutput);
}

TEST(PlanTest, SaysWhyNothingComputesAStep) {
  auto plan = lower(*parse_graph("input x : FP64[2]\ny = unary(x) act=exp\noutput y\n"), {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(plan.error().message, HasSubstr("reference knows FP16, FP32"));
}

TEST(PlanTest, AStemOfOtherTypesThanItsKernelReadsIsRefused) {
  constexpr const char* kStem = R"(
input x : FP32[1,3,20,24]
const w : FP16[64,7,7,4] = random(1, -0.1, 0.1)
const b : FP16[64] = random(2, -1, 1)
y = stem(x, w, b) act=relu
output y
)";
  const auto plan = lower(*parse_graph(kStem), {});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("wants constant FP16 weights and a bias"));
}

TEST(HostExecutorTest, NamesAWrongInput) {
  auto plan = lower(*parse_graph("input x : FP32[2]\ny = unary(x)\noutput y\n"), {});
  ASSERT_TRUE(plan);
  std::vector<std::byte> bytes(4);
  const std::span<const std::byte> in = bytes;
  const std::span<std::byte> out = bytes;
  const Status status = HostExecutor(*plan).run({&in, 1}, {&out, 1});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("input 'x' is FP32[2], 8 bytes; 4 bytes came"));
}

}  // namespace
}  // namespace proa::engine
