#include "core/request_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/requests.h"

namespace proa::core {
namespace {

using ::testing::HasSubstr;

NamedInput input(std::string_view name, Shape shape, DataType type = DataType::kFp32) {
  const std::size_t bytes = dense_byte_size(type, shape).value_or(8);
  return {name, type, std::move(shape), BufferView(Buffer::allocate(bytes))};
}

class RequestBuilderTest : public ::testing::Test {
 protected:
  std::shared_ptr<Model> model(config::ModelConfig config) {
    auto made = Model::create(std::move(config), 1, std::make_unique<EchoModel>(Execution::kInline),
                              runtime_.options());
    return made.value();
  }

  // The batching model that most cases use: INPUT0 [-1, 16], OUTPUT0.
  std::shared_ptr<Model> batching() { return model(float_config(8, {16})); }

  std::string refusal(const std::shared_ptr<Model>& model, std::vector<NamedInput> inputs,
                      std::vector<std::string_view> outputs = {}) {
    auto built = build_request(model, inputs, outputs, "7");
    if (built) return "(accepted)";
    EXPECT_EQ(built.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(built.error().message, ::testing::StartsWith("[request id: 7] "));
    return built.error().message;
  }

 private:
  ModelRuntime runtime_;
};

TEST_F(RequestBuilderTest, PlacesInputsByTheModelsOrder) {
  auto config = float_config(8, {16});
  config.inputs.push_back({.name = "INPUT1", .type = DataType::kInt32, .dims = {Shape::kAny}});
  config.outputs.push_back({.name = "OUTPUT1", .type = DataType::kInt32, .dims = {4}});
  auto built = build_request(
      model(config),
      std::vector{input("INPUT1", {3, 5}, DataType::kInt32), input("INPUT0", {3, 16})},
      std::vector<std::string_view>{"OUTPUT1"}, "7");
  ASSERT_TRUE(built) << built.error().to_string();
  const Request& request = **built;
  EXPECT_EQ(request.id, "7");
  EXPECT_EQ(request.batch_size, 3);
  EXPECT_EQ(request.inputs[0].shape, Shape({3, 16}));
  EXPECT_EQ(request.inputs[1].type, DataType::kInt32);
  EXPECT_FALSE(request.wants_output(0));
  EXPECT_TRUE(request.wants_output(1));
}

TEST_F(RequestBuilderTest, OptionalInputsMayBeLeftOut) {
  auto config = float_config(8, {16});
  config.inputs.push_back({.name = "HINT", .type = DataType::kFp32, .dims = {1}, .optional = true});
  auto built = build_request(model(config), std::vector{input("INPUT0", {1, 16})}, {}, "");
  ASSERT_TRUE(built);
  EXPECT_EQ((*built)->inputs[1].type, DataType::kInvalid);
}

TEST_F(RequestBuilderTest, WithoutBatchingShapesAreWhole) {
  auto built =
      build_request(model(float_config(0, {16})), std::vector{input("INPUT0", {16})}, {}, "");
  ASSERT_TRUE(built);
  EXPECT_EQ((*built)->batch_size, 1);
}

TEST_F(RequestBuilderTest, InputsGetTheShapeTheModelWants) {
  auto config = float_config(8, {1, Shape::kAny});
  config.inputs[0].reshape.emplace().push_back(Shape::kAny);
  auto built = build_request(model(config), std::vector{input("INPUT0", {2, 1, 5})}, {}, "");
  ASSERT_TRUE(built);
  EXPECT_EQ((*built)->inputs[0].shape, Shape({2, 5}));
}

TEST_F(RequestBuilderTest, MissingInputsAreNamedInTritonsWords) {
  auto built = build_request(model(float_config(8, {16})), {}, {}, "");
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message,
            "[request id: <id_unknown>] expected 1 inputs but got 0 inputs for model 'echo'. Got "
            "input(s) [], but missing required input(s) ['INPUT0']. Please provide all required "
            "input(s).");
}

TEST_F(RequestBuilderTest, UnknownAndRepeatedInputs) {
  EXPECT_THAT(refusal(batching(), {input("INPUT9", {1, 16})}),
              HasSubstr("unexpected inference input 'INPUT9' for model 'echo'"));
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {1, 16}), input("INPUT0", {1, 16})}),
              HasSubstr("more than once"));
}

TEST_F(RequestBuilderTest, DataTypeMustMatch) {
  EXPECT_THAT(
      refusal(batching(), {input("INPUT0", {1, 16}, DataType::kInt32)}),
      HasSubstr("inference input 'INPUT0' data-type is 'INT32', but model 'echo' expects 'FP32'"));
}

TEST_F(RequestBuilderTest, ShapesMustMatch) {
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {1, 17})}),
              HasSubstr("unexpected shape for input 'INPUT0' for model 'echo'. Expected [-1,16], "
                        "got [1,17]."));
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {16})}), HasSubstr("The model batches"));
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {1, 16, 1})}), HasSubstr("got [1,16,1]"));
  const auto any = model(float_config(8, {Shape::kAny}));
  EXPECT_THAT(refusal(any, {input("INPUT0", {1, -1})}), HasSubstr("negative or too large"));
  EXPECT_THAT(refusal(any, {input("INPUT0", {4, std::int64_t{1} << 62})}),
              HasSubstr("negative or too large"));
  EXPECT_EQ(refusal(any, {input("INPUT0", {1, 0})}), "(accepted)");
}

TEST_F(RequestBuilderTest, BytesMustFillTheShape) {
  NamedInput wrong = input("INPUT0", {1, 16});
  wrong.data = wrong.data.sub(0, 32);
  EXPECT_THAT(
      refusal(batching(), {wrong}),
      HasSubstr("input byte size mismatch for input 'INPUT0' for model 'echo'. Expected 64, "
                "got 32"));
}

TEST_F(RequestBuilderTest, MalformedBytesElements) {
  auto config = float_config(8, {1});
  config.inputs[0].type = DataType::kBytes;
  NamedInput wrong{"INPUT0", DataType::kBytes, {1, 1}, BufferView(Buffer::allocate(3))};
  EXPECT_THAT(refusal(model(config), {wrong}), HasSubstr("input 'INPUT0' for model 'echo': "));
}

TEST_F(RequestBuilderTest, BatchSizeHasBounds) {
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {9, 16})}),
              HasSubstr("inference request batch-size must be <= 8 for 'echo'"));
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {0, 16})}), HasSubstr("must be >= 1"));
  auto config = float_config(8, {16});
  config.inputs.push_back({.name = "INPUT1", .type = DataType::kFp32, .dims = {16}});
  EXPECT_THAT(refusal(model(config), {input("INPUT0", {2, 16}), input("INPUT1", {3, 16})}),
              HasSubstr("input 'INPUT1' batch size does not match other inputs for 'echo'"));
}

TEST_F(RequestBuilderTest, UnknownAndRepeatedOutputs) {
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {1, 16})}, {"OUTPUT9"}),
              HasSubstr("unexpected inference output 'OUTPUT9' for model 'echo'"));
  EXPECT_THAT(refusal(batching(), {input("INPUT0", {1, 16})}, {"OUTPUT0", "OUTPUT0"}),
              HasSubstr("requested more than once"));
}

TEST(QueueTimeoutTest, EveryOneGivesADeadline) {
  EXPECT_EQ(queue_timeout(0), std::chrono::microseconds(0));
  EXPECT_EQ(queue_timeout(1'500'000), std::chrono::milliseconds(1500));
  const Duration longest = queue_timeout(UINT64_MAX);
  EXPECT_GT(longest, std::chrono::years(146));
  EXPECT_GT(TimePoint() + longest + std::chrono::years(146), TimePoint());
  EXPECT_EQ(queue_timeout(INT64_MAX), longest);
}

}  // namespace
}  // namespace proa::core
