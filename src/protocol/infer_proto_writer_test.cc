#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "protocol/infer_proto.h"
#include "protocol/testing/describe_request.h"
#include "protocol/testing/message_bytes.h"

namespace proa::protocol {
namespace {

using inference::ModelInferResponse;
using testing::StartsWith;

// A response with its tensors.
struct ResponseCase {
  std::vector<Tensor> tensors;
  InferResponse response;
};

ResponseCase random_response(std::mt19937_64& random, std::size_t largest) {
  ResponseCase result;
  const std::size_t count = random() % 5;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = random() % 3 == 0 ? random() % largest : random() % 100;
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    Shape shape;
    for (std::size_t rank = random() % 4; rank > 0; --rank) {
      shape.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    }
    result.tensors.push_back({DataType::kUint8, shape, buffer_of(bytes)});
  }
  result.response.model_name = "model";
  if (random() % 2 == 0) result.response.model_version = "12";
  if (random() % 2 == 0) result.response.id = "request-1";
  if (random() % 2 == 0) {
    result.response.parameters = {{"b", true},
                                  {"i", std::int64_t{-5}},
                                  {"u", UINT64_MAX},
                                  {"d", 0.5},
                                  {"s", std::string(200, 's')}};
  }
  for (const Tensor& tensor : result.tensors) {
    InferOutput output{.name = "out", .tensor = &tensor};
    if (random() % 2 == 0) output.parameters = {{"p", std::string("v")}};
    result.response.outputs.push_back(output);
  }
  return result;
}

void expect_equal(const ModelInferResponse& message, const InferResponse& response) {
  EXPECT_EQ(message.model_name(), response.model_name);
  EXPECT_EQ(message.model_version(), response.model_version);
  EXPECT_EQ(message.id(), response.id);
  EXPECT_EQ(describe(parameters_of(message.parameters())), describe(response.parameters));
  ASSERT_EQ(message.outputs_size(), static_cast<int>(response.outputs.size()));
  ASSERT_EQ(message.raw_output_contents_size(), static_cast<int>(response.outputs.size()));
  for (int i = 0; i < message.outputs_size(); ++i) {
    const InferOutput& output = response.outputs[i];
    EXPECT_EQ(message.outputs(i).name(), output.name);
    EXPECT_EQ(message.outputs(i).datatype(), "UINT8");
    EXPECT_THAT(message.outputs(i).shape(), testing::ElementsAreArray(output.tensor->shape.dims()));
    EXPECT_EQ(describe(parameters_of(message.outputs(i).parameters())),
              describe(output.parameters));
    EXPECT_EQ(message.raw_output_contents(i), text_of(output.tensor->data));
  }
}

TEST(InferProtoWriterTest, WritesWhatProtobufReads) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    const ResponseCase given = random_response(random, 3 * kReferenceFromBytes);
    const auto plain = write_infer_response(given.response, {.stream = false, .grpc_frame = false});
    ASSERT_TRUE(plain);
    ModelInferResponse message;
    ASSERT_TRUE(message.ParseFromString(text_of(*plain)));
    expect_equal(message, given.response);

    const auto stream = write_infer_response(given.response, {.stream = true, .grpc_frame = true});
    ASSERT_TRUE(stream);
    const std::string framed = text_of(*stream);
    inference::ModelStreamInferResponse wrapped;
    ASSERT_TRUE(wrapped.ParseFromString(framed.substr(5)));
    EXPECT_EQ(wrapped.error_message(), "");
    expect_equal(wrapped.infer_response(), given.response);
  }
}

TEST(InferProtoWriterTest, ReferencesLargeTensorsAndCopiesSmallOnes) {
  const Tensor small{DataType::kUint8, {10}, buffer_of(std::string(10, 's'))};
  const Tensor large{DataType::kUint8, {70000}, buffer_of(std::string(70000, 'l'))};
  InferResponse response;
  response.outputs = {{.name = "a", .tensor = &large},
                      {.name = "b", .tensor = &small},
                      {.name = "c", .tensor = &large}};
  const auto message = write_infer_response(response, {});
  ASSERT_TRUE(message);
  ASSERT_EQ(message->parts.size(), 4U);
  EXPECT_EQ(message->parts[1].view.data(), large.data.data());
  EXPECT_EQ(message->parts[3].view.data(), large.data.data());
  EXPECT_LT(message->parts[0].bytes.size() + message->parts[2].bytes.size(), 200U);
}

TEST(InferProtoWriterTest, FramesTheMessageForGrpc) {
  const Tensor large{DataType::kUint8, {70000}, buffer_of(std::string(70000, 'l'))};
  InferResponse response;
  response.outputs = {{.name = "a", .tensor = &large}};
  const auto message = write_infer_response(response, {});
  ASSERT_TRUE(message);
  const std::string bytes = text_of(*message);
  const auto byte = [&](int i) { return static_cast<unsigned char>(bytes[i]); };
  EXPECT_EQ(byte(0), 0);
  EXPECT_EQ(static_cast<std::size_t>(byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4)),
            bytes.size() - 5);
}

TEST(InferProtoWriterTest, RefusesAMessageOfTwoGigabytes) {
  std::byte nothing{};
  const BufferView huge(Buffer::wrap(&nothing, std::size_t{1} << 31, [] {}));
  const Tensor tensor{DataType::kUint8, {std::int64_t{1} << 31}, huge};
  InferResponse response;
  response.model_name = "m";
  response.outputs = {{.name = "a", .tensor = &tensor}};
  const auto message = write_infer_response(response, {});
  ASSERT_FALSE(message);
  EXPECT_THAT(message.error().message, StartsWith("the response of model 'm' takes 21474"));
}

TEST(InferProtoWriterTest, WritesStreamErrors) {
  inference::ModelStreamInferResponse message;
  InferResponse response;
  response.model_name = "m";
  response.id = "7";
  response.parameters = {{"triton_final_response", true}};
  ASSERT_TRUE(message.ParseFromString(text_of(write_stream_error("no luck", response, false))));
  EXPECT_EQ(message.error_message(), "no luck");
  EXPECT_EQ(message.infer_response().id(), "7");
  EXPECT_EQ(message.infer_response().model_name(), "m");
  EXPECT_TRUE(message.infer_response().parameters().at("triton_final_response").bool_param());
  const std::string framed = text_of(write_stream_error("e", InferResponse()));
  EXPECT_EQ(framed, std::string("\0\0\0\0\3\x0a\1e", 8));
}

}  // namespace
}  // namespace proa::protocol
