#include "backends/openvino/completion.h"

#include "config/complete.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::HasSubstr;

TensorSignature tensor(std::string name, DataType type, Shape shape) {
  TensorSignature result;
  result.name = std::move(name);
  result.type = type;
  result.native_type = "f32";
  result.shape = std::move(shape);
  return result;
}

Signature image_model(std::int64_t batch) {
  return {{tensor("input", DataType::kFp32, {batch, 3, 224, 224})},
          {tensor("logits", DataType::kFp32, {batch, 1000})}};
}

TEST(CompletionTest, FillsAnEmptyConfigurationOfABatchingModel) {
  config::ModelConfig config;
  ASSERT_TRUE(complete_from_signature(image_model(Shape::kAny), false, config));
  EXPECT_EQ(config.max_batch_size, config::kDefaultMaxBatchSize);
  EXPECT_TRUE(config.dynamic_batching.has_value());
  ASSERT_EQ(config.inputs.size(), 1U);
  EXPECT_EQ(config.inputs[0].name, "input");
  EXPECT_EQ(config.inputs[0].type, DataType::kFp32);
  EXPECT_EQ(config.inputs[0].dims, (Shape{3, 224, 224}));
  ASSERT_EQ(config.outputs.size(), 1U);
  EXPECT_EQ(config.outputs[0].dims, (Shape{1000}));
}

TEST(CompletionTest, KeepsWholeShapesOfAModelWithAFixedFirstExtent) {
  config::ModelConfig config;
  ASSERT_TRUE(complete_from_signature(image_model(1), false, config));
  EXPECT_EQ(config.max_batch_size, 0);
  EXPECT_FALSE(config.dynamic_batching.has_value());
  EXPECT_EQ(config.inputs[0].dims, (Shape{1, 3, 224, 224}));
}

TEST(CompletionTest, NeedsAnOpenFirstExtentOnEveryTensor) {
  Signature signature = image_model(Shape::kAny);
  signature.outputs.push_back(tensor("score", DataType::kFp32, {1}));
  config::ModelConfig config;
  ASSERT_TRUE(complete_from_signature(signature, false, config));
  EXPECT_EQ(config.max_batch_size, 0);
  EXPECT_EQ(config.inputs[0].dims, (Shape{Shape::kAny, 3, 224, 224}));
}

TEST(CompletionTest, KeepsAGivenMaxBatchSize) {
  for (const std::int32_t given : {0, 1, 32}) {
    config::ModelConfig config;
    config.max_batch_size = given;
    ASSERT_TRUE(complete_from_signature(image_model(Shape::kAny), true, config));
    EXPECT_EQ(config.max_batch_size, given);
    EXPECT_FALSE(config.dynamic_batching.has_value());
    EXPECT_EQ(config.inputs[0].dims.rank(), given == 0 ? 4U : 3U);
  }
}

TEST(CompletionTest, DimsOfTheWholeShapeMeanNoBatching) {
  config::ModelConfig config;
  config.inputs.push_back({.name = "input", .dims = {8, 3, 224, 224}});
  ASSERT_TRUE(complete_from_signature(image_model(Shape::kAny), false, config));
  EXPECT_EQ(config.max_batch_size, 0);
  EXPECT_EQ(config.inputs[0].dims, (Shape{8, 3, 224, 224}));
  EXPECT_EQ(config.inputs[0].type, DataType::kFp32);
}

TEST(CompletionTest, NeverChangesWhatIsGiven) {
  config::ModelConfig config;
  config.inputs.push_back({.name = "input", .type = DataType::kUint8, .dims = {1, 2, 3}});
  config.outputs.push_back({.name = "logits", .label_filename = "labels.txt"});
  ASSERT_TRUE(complete_from_signature(image_model(Shape::kAny), false, config));
  EXPECT_EQ(config.inputs[0].type, DataType::kUint8);
  EXPECT_EQ(config.inputs[0].dims, (Shape{1, 2, 3}));
  EXPECT_EQ(config.outputs[0].label_filename, "labels.txt");
  EXPECT_EQ(config.outputs[0].dims, (Shape{1000}));
}

TEST(CompletionTest, AddsInputsThatAreMissingButKeepsAChoiceOfOutputs) {
  Signature signature = image_model(Shape::kAny);
  signature.inputs.push_back(tensor("mask", DataType::kBool, {Shape::kAny, 7}));
  signature.outputs.push_back(tensor("features", DataType::kFp32, {Shape::kAny, 1280}));
  config::ModelConfig config;
  config.inputs.push_back({.name = "mask"});
  config.outputs.push_back({.name = "features"});
  ASSERT_TRUE(complete_from_signature(signature, false, config));
  ASSERT_EQ(config.inputs.size(), 2U);
  EXPECT_EQ(config.inputs[0].name, "mask");
  EXPECT_EQ(config.inputs[1].name, "input");
  ASSERT_EQ(config.outputs.size(), 1U);
}

TEST(CompletionTest, GivesScalarsOneDimension) {
  const Signature signature{{tensor("x", DataType::kFp32, {Shape::kAny})},
                            {tensor("y", DataType::kFp32, {Shape::kAny})}};
  config::ModelConfig config;
  ASSERT_TRUE(complete_from_signature(signature, false, config));
  EXPECT_EQ(config.max_batch_size, config::kDefaultMaxBatchSize);
  EXPECT_EQ(config.inputs[0].dims, Shape{1});
  EXPECT_EQ(config.inputs[0].reshape, Shape{});
}

TEST(CompletionTest, NamesWhatItCannotComplete) {
  Signature strings = image_model(Shape::kAny);
  strings.inputs[0].type = DataType::kInvalid;
  strings.inputs[0].native_type = "string";
  config::ModelConfig config;
  Status status = complete_from_signature(strings, false, config);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(status.error().message, HasSubstr("'input' has element type string"));

  config = {};
  config.outputs.push_back({.name = "prob"});
  status = complete_from_signature(image_model(1), false, config);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              HasSubstr("output 'prob', but the model's outputs are: logits"));

  Signature open = image_model(1);
  open.outputs[0].shape.reset();
  config = {};
  status = complete_from_signature(open, false, config);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("rank of output 'logits'"));
}

}  // namespace
}  // namespace proa::backends::openvino
