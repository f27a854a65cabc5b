#include "core/batch.h"

#include <gtest/gtest.h>

#include "core/testing/requests.h"
#include "tensor/bytes_tensor.h"

namespace proa::core {
namespace {

Batch batch_of(std::vector<std::unique_ptr<Request>> requests) {
  return Batch(std::move(requests));
}

Batch two_requests() {
  std::vector<std::unique_ptr<Request>> requests;
  requests.push_back(float_request("a", 1, 2, 10));
  requests.push_back(float_request("b", 2, 2, 20));
  return batch_of(std::move(requests));
}

TEST(BatchTest, SingleRequestIsNotCopied) {
  std::vector<std::unique_ptr<Request>> requests;
  requests.push_back(float_request("a", 3));
  const Tensor* input = &requests[0]->inputs[0];
  Batch batch = batch_of(std::move(requests));
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.single_input(0), input);
  EXPECT_EQ(batch.input_shape(0), Shape({3, 2}));

  const std::byte* bytes = input->data.data();
  batch.set_output(0, *input);
  auto responses = batch.take_responses();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].outputs[0].data.data(), bytes);
}

TEST(BatchTest, GathersRowsInOrder) {
  Batch batch = two_requests();
  EXPECT_EQ(batch.size(), 3);
  EXPECT_EQ(batch.single_input(0), nullptr);
  EXPECT_EQ(batch.input_shape(0), Shape({3, 2}));
  EXPECT_TRUE(batch.has_input(0));
  EXPECT_FALSE(batch.has_input(1));
  ASSERT_EQ(batch.input_bytes(0), 6 * sizeof(float));
  Tensor whole = float_tensor({3, 2});
  batch.gather(0, whole.data.bytes());
  EXPECT_EQ(floats(whole), (std::vector<float>{10, 11, 20, 21, 22, 23}));
}

TEST(BatchTest, SplitsOutputsByRows) {
  Batch batch = two_requests();
  batch.set_output(0, float_tensor({3, 1}, 5));
  auto responses = batch.take_responses();
  EXPECT_EQ(floats(responses[0].outputs[0]), (std::vector<float>{5}));
  EXPECT_EQ(floats(responses[1].outputs[0]), (std::vector<float>{6, 7}));
  EXPECT_EQ(responses[1].outputs[0].shape, Shape({2, 1}));
}

TEST(BatchTest, CopiesSmallSlicesAndSharesLargeOnes) {
  constexpr std::int64_t kWidth = Batch::kShareSliceBytes / sizeof(float) / 2;
  Batch batch = two_requests();
  const Tensor whole = float_tensor({3, kWidth});
  batch.set_output(0, whole);
  auto responses = batch.take_responses();
  const std::byte* begin = whole.data.data();
  const auto inside = [&](const Tensor& slice) {
    return slice.data.data() >= begin && slice.data.data() < begin + whole.data.size;
  };
  EXPECT_FALSE(inside(responses[0].outputs[0]));  // 32 KiB
  EXPECT_TRUE(inside(responses[1].outputs[0]));   // 64 KiB
  EXPECT_EQ(floats(responses[0].outputs[0]).back(), static_cast<float>(kWidth - 1));
}

TEST(BatchTest, SplitsBytesOutputsByElements) {
  Batch batch = two_requests();
  std::string text;
  for (const char* word : {"a", "", "long", "bc", "d", "ef"}) append_bytes_element(text, word);
  Buffer buffer = Buffer::allocate(text.size());
  std::memcpy(buffer.data(), text.data(), text.size());
  batch.set_output(0, Tensor{DataType::kBytes, {3, 2}, BufferView(std::move(buffer))});
  auto responses = batch.take_responses();
  const auto first = read_bytes_elements(responses[0].outputs[0].data.bytes(), 2);
  const auto second = read_bytes_elements(responses[1].outputs[0].data.bytes(), 4);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, (std::vector<std::string_view>{"a", ""}));
  EXPECT_EQ(*second, (std::vector<std::string_view>{"long", "bc", "d", "ef"}));
}

TEST(BatchTest, GivesOnlyRequestedOutputs) {
  std::vector<std::unique_ptr<Request>> requests;
  for (const char* id : {"a", "b"}) requests.push_back(float_request(id));
  requests[0]->requested_outputs.push_back(1);
  Batch batch = batch_of(std::move(requests));
  batch.set_output(0, float_tensor({2, 1}, 1));
  batch.set_output(1, float_tensor({2, 1}, 3));
  auto responses = batch.take_responses();
  EXPECT_EQ(responses[0].outputs[0].type, DataType::kInvalid);
  EXPECT_EQ(floats(responses[0].outputs[1]), (std::vector<float>{3}));
  EXPECT_EQ(floats(responses[1].outputs[0]), (std::vector<float>{2}));
}

TEST(BatchTest, SingleRequestGetsOnlyRequestedOutputs) {
  std::vector<std::unique_ptr<Request>> requests;
  requests.push_back(float_request("a"));
  requests[0]->requested_outputs.push_back(1);
  Batch batch = batch_of(std::move(requests));
  batch.set_output(0, float_tensor({1, 1}));
  batch.set_output(1, float_tensor({1, 1}));
  auto responses = batch.take_responses();
  EXPECT_EQ(responses[0].outputs[0].type, DataType::kInvalid);
  EXPECT_EQ(responses[0].outputs[1].type, DataType::kFp32);
}

TEST(BatchTest, FailsRequestsWithoutResponseOfTheirOwn) {
  Batch batch = two_requests();
  batch.set_response(1, Response{.outputs = {float_tensor({2, 1}, 7)}});
  batch.fail(error::internal("broken"));
  auto responses = batch.take_responses();
  ASSERT_TRUE(responses[0].error);
  EXPECT_EQ(responses[0].error->message, "broken");
  EXPECT_FALSE(responses[1].error);
  EXPECT_EQ(floats(responses[1].outputs[0]), (std::vector<float>{7, 8}));
}

TEST(BatchTest, OutputWithoutBatchDimensionIsAnError) {
  Batch batch = two_requests();
  batch.set_output(0, float_tensor({2, 1}));
  auto responses = batch.take_responses();
  for (const Response& response : responses) {
    ASSERT_TRUE(response.error);
    EXPECT_EQ(response.error->code, ErrorCode::kInternal);
  }
}

}  // namespace
}  // namespace proa::core
