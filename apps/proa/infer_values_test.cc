#include "infer_values.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kAny = Shape::kAny;

TensorDescription input(DataType type, Shape shape) { return {"x", type, std::move(shape)}; }

template <class Value>
std::vector<Value> values(const Tensor& tensor) {
  const auto* begin = reinterpret_cast<const Value*>(tensor.data.data());
  return {begin, begin + tensor.data.size / sizeof(Value)};
}

TEST(InferValuesTest, TakesArgumentsApart) {
  const auto argument = parse_input_argument("a:0=[1,2]:x=y");
  ASSERT_TRUE(argument);
  EXPECT_EQ(argument->name, "a:0");
  EXPECT_EQ(argument->value, "[1,2]:x=y");
  EXPECT_FALSE(parse_input_argument("=1"));
  EXPECT_FALSE(parse_input_argument("a"));
}

TEST(InferValuesTest, FindsTheShapeOfPlainValues) {
  struct Case {
    Shape pattern;
    bool batches;
    const char* text;
    Shape want;
  };
  const Case cases[] = {
      {{kAny, 4}, true, "1,2,3,4", {1, 4}},
      {{kAny, 2}, true, "1,2,3,4", {2, 2}},
      {{kAny, kAny}, true, "1,2,3", {1, 3}},
      {{2, 2}, false, "1,2,3,4", {2, 2}},
      {{kAny}, false, "7", {1}},
      {{}, false, "7", {}},
  };
  for (const Case& c : cases) {
    const auto tensor = make_input(input(DataType::kInt32, c.pattern), c.batches, c.text);
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(tensor->shape, c.want) << c.text;
  }
}

TEST(InferValuesTest, TakesTheShapeInFront) {
  auto tensor = make_input(input(DataType::kFp32, {kAny, kAny}), true, "[2,2]:1,-2.5,1e3,4");
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape, (Shape{2, 2}));
  EXPECT_THAT(values<float>(*tensor), ElementsAre(1, -2.5F, 1000, 4));
  tensor = make_input(input(DataType::kInt64, {kAny, kAny}), true, "[2,2]:7");
  ASSERT_TRUE(tensor);
  EXPECT_THAT(values<std::int64_t>(*tensor), ElementsAre(7, 7, 7, 7));
  // The batch dimension may be left out.
  tensor = make_input(input(DataType::kInt64, {kAny, 2}), true, "[2]:7,8");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (Shape{1, 2}));
}

TEST(InferValuesTest, ReadsBooleansAndTexts) {
  auto tensor = make_input(input(DataType::kBool, {kAny}), false, "true,0,False");
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_THAT(values<std::uint8_t>(*tensor), ElementsAre(1, 0, 0));
  tensor = make_input(input(DataType::kBytes, {kAny, 1}), true, "hello");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (Shape{1, 1}));
  EXPECT_THAT(*read_bytes_elements(tensor->data.bytes(), 1), ElementsAre("hello"));
}

TEST(InferValuesTest, SaysWhatWasWrittenAndWanted) {
  const auto reason = [](DataType type, Shape shape, const char* text) {
    const auto tensor = make_input(input(type, std::move(shape)), false, text);
    return tensor ? std::string("made") : tensor.error().message;
  };
  EXPECT_THAT(reason(DataType::kInt32, {2}, "1,two"),
              AllOf(HasSubstr("'x' (INT32 [2])"), HasSubstr("'two' is no INT32")));
  EXPECT_THAT(reason(DataType::kUint8, {1}, "256"), HasSubstr("no UINT8"));
  EXPECT_THAT(reason(DataType::kInt32, {2}, "1,2,3"), HasSubstr("write it in front"));
  EXPECT_THAT(reason(DataType::kInt32, {2}, "[3]:1,2,3"),
              HasSubstr("its shape is [3], the model wants [2]"));
  EXPECT_THAT(reason(DataType::kInt32, {2}, "[2,2]:1,2,3"), HasSubstr("3 values"));
  EXPECT_THAT(reason(DataType::kInt32, {2}, "[2"), HasSubstr("[2,3]:values"));
  EXPECT_THAT(reason(DataType::kFp16, {1}, "1"), HasSubstr(".npy"));
  EXPECT_THAT(reason(DataType::kFp32, {1}, "@/no/such.npy"), HasSubstr("/no/such.npy"));
  EXPECT_THAT(reason(DataType::kFp32, {1}, "@/etc/hostname"), HasSubstr("no .npy"));
  EXPECT_THAT(reason(DataType::kFp32, {kAny}, "[99999999999,99999999999]:0"),
              HasSubstr("too large"));
}

TEST(InferValuesTest, ConvertsNumbersThatFit) {
  const auto doubles = make_input(input(DataType::kFp64, {kAny}), false, "1,2,300");
  ASSERT_TRUE(doubles);
  EXPECT_THAT(values<float>(*convert_type(*doubles, DataType::kFp32)), ElementsAre(1, 2, 300));
  EXPECT_THAT(values<std::int16_t>(*convert_type(*doubles, DataType::kInt16)),
              ElementsAre(1, 2, 300));
  const auto bytes = convert_type(*doubles, DataType::kUint8);
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message, HasSubstr("element 2 is 300"));
  EXPECT_FALSE(convert_type(*doubles, DataType::kBytes));
  EXPECT_FALSE(convert_type(*doubles, DataType::kFp16));
}

TEST(InferValuesTest, RefusesTheFirstNumberBeyondAType) {
  const auto beyond = make_input(input(DataType::kFp64, {kAny}), false, "9223372036854775808");
  ASSERT_TRUE(beyond);
  EXPECT_FALSE(convert_type(*beyond, DataType::kInt64));
  EXPECT_TRUE(convert_type(*beyond, DataType::kUint64));
}

}  // namespace
}  // namespace proa
