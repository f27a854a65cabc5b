#include "backends/openvino/binding.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kAny = Shape::kAny;

TensorSignature tensor(std::string name, Shape shape, DataType type = DataType::kFp32) {
  TensorSignature result;
  result.name = std::move(name);
  result.type = type;
  result.shape = std::move(shape);
  return result;
}

config::Tensor configured(std::string name, Shape dims, DataType type = DataType::kFp32) {
  return {.name = std::move(name), .type = type, .dims = std::move(dims)};
}

config::ModelConfig configuration(std::int32_t max_batch_size, std::vector<config::Tensor> inputs,
                                  std::vector<config::Tensor> outputs) {
  config::ModelConfig config;
  config.max_batch_size = max_batch_size;
  config.inputs = std::move(inputs);
  config.outputs = std::move(outputs);
  return config;
}

TEST(BindingTest, LeavesADynamicModelAsItIs) {
  const Signature signature{{tensor("x", {kAny, 3})}, {tensor("y", {kAny, 5})}};
  const auto binding =
      bind(signature, configuration(8, {configured("x", {3})}, {configured("y", {5})}));
  ASSERT_TRUE(binding);
  EXPECT_FALSE(binding->must_reshape);
  EXPECT_FALSE(binding->opens_batch_dimension);
  EXPECT_THAT(binding->port_shapes, ElementsAre(Shape{kAny, 3}));
}

TEST(BindingTest, NarrowsOpenExtentsToTheConfiguredOnes) {
  const Signature signature{{tensor("x", {kAny, 3, kAny, kAny})}, {tensor("y", {kAny, 5})}};
  const auto binding =
      bind(signature, configuration(8, {configured("x", {3, 224, kAny})}, {configured("y", {5})}));
  ASSERT_TRUE(binding);
  EXPECT_TRUE(binding->must_reshape);
  EXPECT_FALSE(binding->opens_batch_dimension);
  EXPECT_THAT(binding->port_shapes, ElementsAre(Shape{kAny, 3, 224, kAny}));
}

TEST(BindingTest, OpensAFixedFirstExtentOnlyWhenBatchesAreConfigured) {
  const Signature signature{{tensor("x", {1, 3})}, {tensor("y", {1, 5})}};
  auto batching = bind(signature, configuration(4, {configured("x", {3})}, {configured("y", {5})}));
  ASSERT_TRUE(batching);
  EXPECT_TRUE(batching->opens_batch_dimension);
  EXPECT_THAT(batching->port_shapes, ElementsAre(Shape{kAny, 3}));

  batching = bind(signature, configuration(1, {configured("x", {3})}, {configured("y", {5})}));
  ASSERT_TRUE(batching);
  EXPECT_FALSE(batching->opens_batch_dimension);
  EXPECT_FALSE(batching->must_reshape);

  const auto whole =
      bind(signature, configuration(0, {configured("x", {1, 3})}, {configured("y", {1, 5})}));
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->must_reshape);
}

TEST(BindingTest, FindsTensorsInAnyOrderAndWithoutPortNumber) {
  const Signature signature{{tensor("a:0", {kAny, 1}), tensor("b:0", {kAny, 2})},
                            {tensor("y:0", {kAny, 1}), tensor("y:1", {kAny, 2})}};
  const auto binding =
      bind(signature, configuration(8, {configured("b", {2}), configured("a:0", {1})},
                                    {configured("y:1", {2}), configured("y", {1})}));
  ASSERT_TRUE(binding);
  EXPECT_EQ(binding->inputs[0].port, 1U);
  EXPECT_EQ(binding->inputs[1].port, 0U);
  EXPECT_EQ(binding->outputs[0].port, 1U);
  EXPECT_EQ(binding->outputs[1].port, 0U);
}

TEST(BindingTest, KnowsOutputsThatAreInputs) {
  Signature signature{{tensor("a", {kAny, 1}), tensor("b", {kAny, 1})}, {tensor("y", {kAny, 1})}};
  signature.outputs[0].copy_of_input = 1;
  const auto binding =
      bind(signature,
           configuration(8, {configured("b", {1}), configured("a", {1})}, {configured("y", {1})}));
  ASSERT_TRUE(binding);
  EXPECT_EQ(binding->outputs[0].copy_of_input, 0);
}

TEST(BindingTest, NamesBothSidesOfAContradiction) {
  const Signature signature{{tensor("x", {kAny, 3, 224, 224})}, {tensor("y", {kAny, 1000})}};
  const auto error_of = [&](std::int32_t max_batch_size, config::Tensor input,
                            config::Tensor output) {
    const auto binding = bind(signature, configuration(max_batch_size, {input}, {output}));
    return binding ? std::string("no error") : binding.error().message;
  };
  const auto y = configured("y", {1000});
  EXPECT_THAT(error_of(8, configured("x", {3, 256, 256}), y),
              AllOf(HasSubstr("'x' is FP32 [-1,3,256,256]"), HasSubstr("FP32 [-1,3,224,224]")));
  EXPECT_THAT(error_of(8, configured("x", {3, 224, 224}, DataType::kUint8), y),
              AllOf(HasSubstr("UINT8"), HasSubstr("FP32")));
  EXPECT_THAT(error_of(8, configured("x", {1, 3, 224, 224}), y), HasSubstr("drop their first"));
  EXPECT_THAT(error_of(0, configured("x", {3, 224, 224}), y), HasSubstr("whole shapes"));
  EXPECT_THAT(error_of(8, configured("z", {3, 224, 224}), y),
              AllOf(HasSubstr("'z'"), HasSubstr("are: x")));
  EXPECT_THAT(error_of(8, configured("x", {3, 224, 224}), configured("y", {10})),
              AllOf(HasSubstr("output 'y'"), HasSubstr("[-1,10]"), HasSubstr("[-1,1000]")));
}

TEST(BindingTest, RefusesMissingOptionalAndRaggedInputs) {
  const Signature signature{{tensor("a", {kAny, 1}), tensor("b", {kAny, 1})}, {}};
  auto binding = bind(signature, configuration(8, {configured("a", {1})}, {}));
  ASSERT_FALSE(binding);
  EXPECT_THAT(binding.error().message, HasSubstr("input 'b' (FP32 [-1,1]) is missing"));

  auto optional = configured("b", {1});
  optional.optional = true;
  binding = bind(signature, configuration(8, {configured("a", {1}), optional}, {}));
  ASSERT_FALSE(binding);
  EXPECT_EQ(binding.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(binding.error().message, HasSubstr("'b' is optional"));
}

TEST(BindingTest, TakesTheReshapeAsTheModelsSide) {
  const Signature signature{{tensor("x", {kAny})}, {tensor("y", {kAny, 2, 3})}};
  config::ModelConfig config = configuration(8, {configured("x", {1})}, {configured("y", {6})});
  config.inputs[0].reshape = Shape{};
  config.outputs[0].reshape = Shape{2, 3};
  const auto binding = bind(signature, config);
  ASSERT_TRUE(binding) << binding.error().message;
  EXPECT_EQ(binding->inputs[0].model_shape, Shape{kAny});
  EXPECT_EQ(binding->outputs[0].model_shape, (Shape{kAny, 2, 3}));
}

}  // namespace
}  // namespace proa::backends::openvino
