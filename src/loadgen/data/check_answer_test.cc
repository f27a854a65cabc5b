#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "loadgen/payloads.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;

template <class T>
Tensor tensor_of(DataType type, const std::vector<T>& values) {
  Buffer buffer = Buffer::allocate(values.size() * sizeof(T));
  std::memcpy(buffer.data(), values.data(), buffer.size());
  return Tensor{type, Shape{static_cast<std::int64_t>(values.size())}, BufferView(buffer)};
}

Tensor strings(const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) append_bytes_element(bytes, value);
  Buffer buffer = Buffer::allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return Tensor{DataType::kBytes, Shape{static_cast<std::int64_t>(values.size())},
                BufferView(buffer)};
}

Status check(const Tensor& wanted, const Tensor& came, double tolerance = kDefaultTolerance) {
  Payload payload;
  payload.expected = {{"OUT", wanted}};
  return check_answer(payload, {{"other", came}, {"OUT", came}}, tolerance);
}

TEST(CheckAnswerTest, FloatsMayDifferWithinTheTolerance) {
  const Tensor wanted = tensor_of<float>(DataType::kFp32, {1.0F, 2000.0F, 0.0F});
  EXPECT_TRUE(check(wanted, tensor_of<float>(DataType::kFp32, {1.00005F, 2000.1F, 0.00005F})));
  const Status far = check(wanted, tensor_of<float>(DataType::kFp32, {1.0F, 2001.0F, 0.0F}));
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().message, "output 'OUT' element 1: validation_data wants 2000, 2001 came");
}

TEST(CheckAnswerTest, NotANumberIsEqualToItselfOnly) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor wanted = tensor_of<float>(DataType::kFp32, {nan});
  EXPECT_TRUE(check(wanted, wanted));
  EXPECT_FALSE(check(wanted, tensor_of<float>(DataType::kFp32, {0.0F})));
  EXPECT_FALSE(check(tensor_of<float>(DataType::kFp32, {0.0F}), wanted));
}

TEST(CheckAnswerTest, IntegersMustBeEqual) {
  const Tensor wanted = tensor_of<std::int64_t>(DataType::kInt64, {1'000'000, 7});
  EXPECT_TRUE(check(wanted, wanted));
  EXPECT_FALSE(check(wanted, tensor_of<std::int64_t>(DataType::kInt64, {1'000'001, 7})));
}

TEST(CheckAnswerTest, HalfPrecisionIsComparedAsNumbers) {
  // 1.0 and 1.0009765625, the next one.
  const Tensor one = tensor_of<std::uint16_t>(DataType::kFp16, {0x3C00});
  const Tensor next = tensor_of<std::uint16_t>(DataType::kFp16, {0x3C01});
  EXPECT_TRUE(check(one, next, 1e-2));
  EXPECT_FALSE(check(one, next, 1e-4));
}

TEST(CheckAnswerTest, StringsTellTheElement) {
  const Status status = check(strings({"a", "cat"}), strings({"a", "dog"}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "output 'OUT' element 1: validation_data wants 'cat', 'dog' came");
}

TEST(CheckAnswerTest, AnotherTypeOrShapeAndAMissingOutputAreErrors) {
  const Tensor wanted = tensor_of<std::int32_t>(DataType::kInt32, {1, 2});
  const Status shape = check(wanted, tensor_of<std::int32_t>(DataType::kInt32, {1}));
  ASSERT_FALSE(shape);
  EXPECT_THAT(shape.error().message, HasSubstr("wants INT32 [2], INT32 [1] came"));
  EXPECT_FALSE(check(wanted, tensor_of<std::uint32_t>(DataType::kUint32, {1, 2})));
  Payload payload;
  payload.expected = {{"OUT", wanted}};
  const Status missing = check_answer(payload, {}, kDefaultTolerance);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("not in the answer"));
}

}  // namespace
}  // namespace proa::loadgen
