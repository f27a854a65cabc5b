#include "infer_output.h"

#include <cmath>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "infer_values.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

using ::testing::HasSubstr;

Tensor make(DataType type, const char* values) {
  return *make_input({"x", type, {Shape::kAny}}, false, values);
}

TEST(InferOutputTest, TellsScoresOfClassesFromOtherTensors) {
  EXPECT_TRUE(is_classification({"y", DataType::kFp32, {-1, 1000}}, true));
  EXPECT_TRUE(is_classification({"y", DataType::kFp32, {1000}}, false));
  EXPECT_TRUE(is_classification({"y", DataType::kFp32, {1, 1000}}, false));
  EXPECT_FALSE(is_classification({"y", DataType::kFp32, {-1, 7, 1000}}, true));
  EXPECT_FALSE(is_classification({"y", DataType::kFp32, {-1}}, true));
  EXPECT_FALSE(is_classification({"y", DataType::kFp32, {-1, 1}}, true));
  EXPECT_FALSE(is_classification({"y", DataType::kFp32, {-1, -1}}, true));
  EXPECT_FALSE(is_classification({"y", DataType::kBytes, {-1, 10}}, true));
}

TEST(InferOutputTest, PrintsClasses) {
  std::string bytes;
  append_bytes_element(bytes, "0.95:967:espresso: strong");
  append_bytes_element(bytes, "-1:2");
  Buffer buffer = Buffer::allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  const auto text = format_classes({DataType::kBytes, {1, 2}, BufferView(std::move(buffer))});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "      0.9500    967  espresso: strong\n     -1.0000      2\n");
}

TEST(InferOutputTest, HeadsAnOutput) {
  EXPECT_EQ(output_heading("outputs", DataType::kFp32, {1, 1000}),
            "output 'outputs' FP32 [1,1000]");
}

TEST(InferOutputTest, PrintsShortTensorsWhole) {
  EXPECT_EQ(format_tensor(make(DataType::kInt64, "1,-9007199254740993")),
            "  1, -9007199254740993\n");
  EXPECT_EQ(format_tensor(make(DataType::kFp32, "0.5,1e-9")), "  0.5, 1e-09\n");
  EXPECT_EQ(format_tensor(make(DataType::kBytes, "a,b")), "  \"a\", \"b\"\n");
  EXPECT_EQ(format_tensor({DataType::kFp32, {0, 4}, {}}), "  no elements\n");
}

TEST(InferOutputTest, PrintsTheEndsOfLongTensors) {
  EXPECT_EQ(format_tensor(make(DataType::kInt32, "1,2,3,4,5,6"), 4),
            "  1, 2, ..., 5, 6\n  smallest 1, largest 6, mean 3.5\n");
}

TEST(InferOutputTest, PrintsHalfPrecision) {
  const std::uint16_t bits[] = {0x3c00, 0xc000, 0x0001, 0x7c00};
  Buffer buffer = Buffer::allocate(sizeof bits);
  std::memcpy(buffer.data(), bits, sizeof bits);
  EXPECT_EQ(format_tensor({DataType::kFp16, {4}, BufferView(buffer)}),
            "  1, -2, 5.96046e-08, inf\n");
  const std::uint16_t brain[] = {0x3f80, 0xc000, 0, 0};
  std::memcpy(buffer.data(), brain, sizeof brain);
  EXPECT_EQ(format_tensor({DataType::kBf16, {4}, BufferView(buffer)}), "  1, -2, 0, 0\n");
}

TEST(InferOutputTest, TakesSoftmaxByRows) {
  Tensor tensor = make(DataType::kFp32, "0,0,1000,1000");
  tensor.shape = Shape{2, 2};
  const auto result = softmax(tensor);
  ASSERT_TRUE(result);
  EXPECT_EQ(format_tensor(*result), "  0.5, 0.5, 0.5, 0.5\n");
  EXPECT_FALSE(softmax(make(DataType::kInt32, "1")));
}

}  // namespace
}  // namespace proa
