#include "loadgen/data/input_json.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kAny = Shape::kAny;

ModelSignature model() {
  ModelSignature model;
  model.name = "m";
  model.inputs = {{"x", DataType::kFp32, {2}}, {"t", DataType::kBytes, {kAny}, true}};
  model.outputs = {{"y", DataType::kInt32, {kAny}}};
  return model;
}

Result<std::vector<ElementStream>> read(std::string_view text) {
  return read_input_json(text, "in.json", model(), model().inputs);
}

std::string failure(std::string_view text) {
  const auto streams = read(text);
  return streams ? "no failure" : streams.error().message;
}

std::vector<float> floats(const NamedTensor& named) {
  std::vector<float> values(named.tensor.data.size / 4);
  std::memcpy(values.data(), named.tensor.data.data(), named.tensor.data.size);
  return values;
}

TEST(InputJsonTest, ObjectsAreOneStream) {
  const auto streams = read(R"({"data": [{"x": [1, 2.5]}, {"x": [[3, 4]]}], "note": 1})");
  ASSERT_TRUE(streams) << streams.error().message;
  ASSERT_EQ(streams->size(), 1U);
  ASSERT_EQ((*streams)[0].size(), 2U);
  EXPECT_EQ(floats((*streams)[0][0].inputs[0]), (std::vector{1.0F, 2.5F}));
  EXPECT_EQ(floats((*streams)[0][1].inputs[0]), (std::vector{3.0F, 4.0F}));
  EXPECT_EQ((*streams)[0][1].origin, "in.json: data[1]");
}

TEST(InputJsonTest, ArraysAreStreams) {
  const auto streams = read(R"({"data": [[{"x": [1, 2]}, {"x": [3, 4]}], [{"x": [5, 6]}]]})");
  ASSERT_TRUE(streams) << streams.error().message;
  ASSERT_EQ(streams->size(), 2U);
  EXPECT_EQ((*streams)[0].size(), 2U);
  EXPECT_EQ((*streams)[1][0].origin, "in.json: data[1][0]");
}

TEST(InputJsonTest, ContentShapeAndBase64) {
  // 1.0F and 2.0F; "hi" with and without its length.
  const auto streams = read(R"({"data": [
    {"t": {"shape": [2, 1], "content": ["a", "b"]}, "x": {"b64": "AACAPwAAAEA="}}]})");
  EXPECT_FALSE(streams);  // the shape has another rank
  const auto good = read(R"({"data": [
    {"t": {"content": ["a", "b"], "shape": [2]}, "x": {"b64": "AACAPwAAAEA="}},
    {"t": {"b64": "AgAAAGhp"}, "x": {"content": {"b64": "AACAPwAAAEA="}}},
    {"t": {"b64": "aGk="}, "x": {"content": [1, 2]}},
    {"t": ["a", "b", "c"], "x": [1, 2]}]})");
  ASSERT_TRUE(good) << good.error().message;
  const ElementStream& stream = (*good)[0];
  EXPECT_EQ(floats(stream[0].inputs[0]), (std::vector{1.0F, 2.0F}));
  EXPECT_EQ(stream[0].inputs[1].tensor.shape, (Shape{2}));
  for (const std::size_t i : {1U, 2U}) {
    const Tensor& text = stream[i].inputs[1].tensor;
    EXPECT_EQ(text.shape, (Shape{1}));
    EXPECT_EQ((*read_bytes_elements(text.data.bytes(), 1))[0], "hi");
  }
  EXPECT_EQ(stream[3].inputs[1].tensor.shape, (Shape{3}));
}

TEST(InputJsonTest, ValidationDataIsExpected) {
  const auto streams = read(R"({"validation_data": [{"y": [7, 8]}, {}],
                                "data": [{"x": [1, 2]}, {"x": [3, 4]}]})");
  ASSERT_TRUE(streams) << streams.error().message;
  ASSERT_EQ((*streams)[0][0].expected.size(), 1U);
  EXPECT_EQ((*streams)[0][0].expected[0].tensor.shape, (Shape{2}));
  EXPECT_TRUE((*streams)[0][1].expected.empty());
  EXPECT_THAT(failure(R"({"data": [{"x": [1, 2]}], "validation_data": []})"),
              HasSubstr("as many streams and entries"));
}

TEST(InputJsonTest, ErrorsNameFileEntryTensorAndPlace) {
  EXPECT_THAT(failure(R"({"data": [{"x": [1, 2]}, {"x": [1]}]})"),
              AllOf(HasSubstr("in.json: data[1].x: "), HasSubstr("[2]")));
  EXPECT_THAT(failure(R"({"data": [{"x": [1, "two"]}]})"),
              AllOf(HasSubstr("in.json: data[0].x: "), HasSubstr("line 1")));
  EXPECT_THAT(failure(R"({"data": [{"x": 3}]})"), HasSubstr("a list of values"));
  EXPECT_THAT(failure(R"({"data": [{"x": {"values": [1]}}]})"), HasSubstr("neither content nor"));
  EXPECT_THAT(failure(R"({"data": [{"x": {"b64": "AACAPw=="}}]})"),
              HasSubstr("b64 holds 4 bytes, but FP32 [2] takes 8"));
  EXPECT_THAT(failure(R"({"data": [{"x": {"b64": "?"}}]})"), HasSubstr("not base64"));
  EXPECT_THAT(failure(R"({"data": [{"x": {"content": [1, 2], "shape": [-1]}}]})"),
              HasSubstr("whole numbers"));
  EXPECT_THAT(failure(R"({"data": [{"xx": [1, 2]}]})"), HasSubstr("tensor 'xx'"));
  EXPECT_THAT(failure(R"({"data": [{"t": ["a"]}]})"),
              HasSubstr("in.json: data[0] has no input 'x', which the model wants (FP32 [2])"));
}

TEST(InputJsonTest, ErrorsOfTheFilesForm) {
  EXPECT_THAT(failure("[]"), HasSubstr("in.json: wanted an object with the member \"data\""));
  EXPECT_THAT(failure("{}"), HasSubstr("nothing in \"data\""));
  EXPECT_THAT(failure(R"({"data": []})"), HasSubstr("nothing in \"data\""));
  EXPECT_THAT(failure(R"({"data": [[]]})"), HasSubstr("data[0] is empty"));
  EXPECT_THAT(failure(R"({"data": [{"x": [1, 2]}, [{"x": [1, 2]}]]})"), HasSubstr("do not mix"));
  EXPECT_THAT(failure(R"({"data": [5]})"), AllOf(HasSubstr("in.json: "), HasSubstr("data[0]")));
  EXPECT_THAT(failure(R"({"data": [{"x": [1, 2]})"), HasSubstr("in.json: "));
}

}  // namespace
}  // namespace proa::loadgen
