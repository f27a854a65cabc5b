#include "protocol/classification.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

using testing::ElementsAre;

template <class T>
Tensor tensor_of(DataType type, const Shape& shape, const std::vector<T>& elements) {
  Buffer buffer = Buffer::allocate(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(buffer.data(), elements.data(), elements.size() * sizeof(T));
  return {type, shape, BufferView(std::move(buffer))};
}

std::vector<std::string> strings_of(const Result<Tensor>& tensor) {
  if (!tensor) return {"error: " + tensor.error().message};
  const auto elements =
      read_bytes_elements(tensor->data.bytes(), tensor->shape.element_count().value());
  EXPECT_TRUE(elements);
  return {elements->begin(), elements->end()};
}

TEST(ClassificationTest, RanksEachRowOfABatch) {
  const Tensor output =
      tensor_of<float>(DataType::kFp32, {2, 3}, {0.1F, 0.7F, 0.2F, 0.5F, 0.25F, 0.25F});
  const std::vector<std::string> labels = {"cat", "dog"};
  const auto result = classify(output, 2, labels, true);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->shape, Shape({2, 2}));
  EXPECT_THAT(strings_of(result),
              ElementsAre("0.700000:1:dog", "0.200000:2", "0.500000:0:cat", "0.250000:1:dog"));
}

TEST(ClassificationTest, RanksAnUnbatchedOutputAsAWhole) {
  const Tensor output = tensor_of<std::int64_t>(DataType::kInt64, {2, 2}, {-5, INT64_MAX, 3, 3});
  const auto result = classify(output, 9, {}, false);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->shape, Shape({4}));
  EXPECT_THAT(strings_of(result), ElementsAre("9223372036854775807:1", "3:2", "3:3", "-5:0"));
}

TEST(ClassificationTest, PutsNanLastAndKeepsTheOrderOfEqualValues) {
  const Tensor output =
      tensor_of<double>(DataType::kFp64, {7}, {NAN, 1.0, -INFINITY, 1.0, -NAN, INFINITY, 1.0});
  EXPECT_THAT(
      strings_of(classify(output, 7, {}, false)),
      ElementsAre("inf:5", "1.000000:1", "1.000000:3", "1.000000:6", "-inf:2", "nan:0", "nan:4"));
  EXPECT_THAT(strings_of(classify(output, 2, {}, false)), ElementsAre("inf:5", "1.000000:1"));
}

TEST(ClassificationTest, RanksEveryNumericType) {
  EXPECT_THAT(
      strings_of(classify(tensor_of<std::uint8_t>(DataType::kBool, {2}, {0, 1}), 1, {}, false)),
      ElementsAre("1:1"));
  EXPECT_THAT(
      strings_of(classify(tensor_of<std::int8_t>(DataType::kInt8, {2}, {-1, -2}), 1, {}, false)),
      ElementsAre("-1:0"));
  EXPECT_THAT(strings_of(classify(tensor_of<std::uint64_t>(DataType::kUint64, {2}, {1, UINT64_MAX}),
                                  1, {}, false)),
              ElementsAre("18446744073709551615:1"));
  // 0.5, -2, the smallest subnormal, infinity
  EXPECT_THAT(strings_of(classify(
                  tensor_of<std::uint16_t>(DataType::kFp16, {4}, {0x3800, 0xc000, 0x0001, 0x7c00}),
                  4, {}, false)),
              ElementsAre("inf:3", "0.500000:0", "0.000000:2", "-2.000000:1"));
  EXPECT_THAT(strings_of(classify(tensor_of<std::uint16_t>(DataType::kBf16, {2}, {0x3f80, 0x4000}),
                                  2, {}, false)),
              ElementsAre("2.000000:1", "1.000000:0"));
}

TEST(ClassificationTest, HandlesEmptyOutputs) {
  const auto none = classify(tensor_of<float>(DataType::kFp32, {0, 5}, {}), 3, {}, true);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->shape, Shape({0, 0}));
  const auto narrow = classify(tensor_of<float>(DataType::kFp32, {2, 0}, {}), 3, {}, true);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->shape, Shape({2, 0}));
}

TEST(ClassificationTest, RefusesWhatItCannotRank) {
  const Tensor text{DataType::kBytes, {1}, {}};
  EXPECT_THAT(strings_of(classify(text, 1, {}, false)),
              ElementsAre("error: an output of type BYTES cannot be classified: only numbers can"));
  const Tensor scalar = tensor_of<float>(DataType::kFp32, {}, {1});
  EXPECT_FALSE(classify(scalar, 1, {}, true));
  EXPECT_THAT(strings_of(classify(scalar, 1, {}, false)), ElementsAre("1.000000:0"));
  const Tensor wide{DataType::kUint8, {2, 600000}, BufferView(Buffer::allocate(1200000))};
  EXPECT_FALSE(classify(wide, 600000, {}, true));
}

}  // namespace
}  // namespace proa::protocol
