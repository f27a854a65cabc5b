#include "loadgen/data/make_payloads.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "base/testing/source_path.h"
#include "base/testing/temp_folder.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kAny = Shape::kAny;

ModelSignature model_of(std::vector<TensorSignature> inputs, std::int64_t max_batch_size = 0) {
  ModelSignature model;
  model.name = "m";
  model.max_batch_size = max_batch_size;
  model.inputs = std::move(inputs);
  return model;
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> read(tensor.data.size / sizeof(T));
  std::memcpy(read.data(), tensor.data.data(), tensor.data.size);
  return read;
}

std::vector<std::string_view> strings(const Tensor& tensor) {
  return *read_bytes_elements(tensor.data.bytes(), *tensor.shape.element_count());
}

std::string failure(const ModelSignature& model, const DataOptions& options) {
  const auto made = make_payloads(model, options);
  return made ? "no failure" : made.error().message;
}

TEST(MakePayloadsTest, RandomRequestsDifferAndRepeatWithTheirSeed) {
  const ModelSignature model = model_of({{"x", DataType::kFp32, {3, 4}}}, 8);
  const auto a = make_payloads(model, {.batch_size = 2});
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ(a->payloads.size(), 16U);
  EXPECT_EQ(a->distinct, 16U);
  EXPECT_EQ(a->description, "16 random requests (seed 1)");
  const Tensor& tensor = a->payloads[0].inputs[0].tensor;
  EXPECT_EQ(tensor.shape, (Shape{2, 3, 4}));
  for (const float value : values<float>(tensor)) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
  const auto again = make_payloads(model, {.batch_size = 2});
  EXPECT_EQ(values<float>(again->payloads[5].inputs[0].tensor),
            values<float>(a->payloads[5].inputs[0].tensor));
  const auto other = make_payloads(model, {.batch_size = 2, .seed = 2});
  EXPECT_NE(values<float>(other->payloads[5].inputs[0].tensor),
            values<float>(a->payloads[5].inputs[0].tensor));
}

TEST(MakePayloadsTest, EveryTypeCanBeMadeUp) {
  for (int type = 1; type <= 14; ++type) {
    const auto data_type = static_cast<DataType>(type);
    const auto made =
        make_payloads(model_of({{"x", data_type, {5}}}), {.string_length = 7, .distinct = 3});
    ASSERT_TRUE(made) << made.error().message;
    const Tensor& tensor = made->payloads[0].inputs[0].tensor;
    if (data_type == DataType::kBytes) {
      EXPECT_EQ(strings(tensor)[4].size(), 7U);
    } else {
      EXPECT_EQ(tensor.data.size, 5 * element_size(data_type));
    }
  }
}

TEST(MakePayloadsTest, HalfPrecisionNumbersAreFractions) {
  const auto made = make_payloads(model_of({{"x", DataType::kFp16, {1000}}}), {.distinct = 1});
  ASSERT_TRUE(made);
  std::set<std::uint16_t> seen;
  for (const auto bits : values<std::uint16_t>(made->payloads[0].inputs[0].tensor)) {
    EXPECT_LT(bits, 0x3C00);  // 1.0
    seen.insert(bits);
  }
  EXPECT_GT(seen.size(), 300U);
}

TEST(MakePayloadsTest, GivenStringsAreOneDistinctPayload) {
  const auto made =
      make_payloads(model_of({{"t", DataType::kBytes, {2}}}), {.string_data = "hello"});
  ASSERT_TRUE(made);
  EXPECT_THAT(strings(made->payloads[0].inputs[0].tensor),
              ::testing::ElementsAre("hello", "hello"));
  EXPECT_EQ(made->distinct, 1U);
}

TEST(MakePayloadsTest, ZerosAreOneRequest) {
  const auto made = make_payloads(model_of({{"x", DataType::kInt64, {2}}}, 4),
                                  {.input_data = {"zero"}, .batch_size = 3});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->payloads.size(), 1U);
  EXPECT_EQ(values<std::int64_t>(made->payloads[0].inputs[0].tensor),
            std::vector<std::int64_t>(6, 0));
}

TEST(MakePayloadsTest, OpenShapesMustBeGiven) {
  const ModelSignature model = model_of({{"ids", DataType::kInt64, {kAny, 2}}});
  EXPECT_THAT(failure(model, {}), HasSubstr("like --shape ids:8,2"));
  const auto made = make_payloads(model, {.shapes = {*parse_given_shape("ids:5,2")}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->payloads[0].inputs[0].tensor.shape, (Shape{5, 2}));
  EXPECT_THAT(failure(model, {.shapes = {{"ids", {5, 3}}}}), HasSubstr("does not fit"));
  EXPECT_THAT(failure(model, {.shapes = {{"id", {5, 2}}}}), HasSubstr("it has ids INT64 [-1,2]"));
}

TEST(MakePayloadsTest, TheBatchSizeMustSuitTheModel) {
  const std::vector<TensorSignature> inputs = {{"x", DataType::kFp32, {1}}};
  EXPECT_THAT(failure(model_of(inputs), {.batch_size = 2}), HasSubstr("no batch dimension"));
  EXPECT_THAT(failure(model_of(inputs, 4), {.batch_size = 5}), HasSubstr("at most 4"));
  EXPECT_THAT(failure(model_of(inputs, 4), {.batch_size = 0}), HasSubstr("1 or more"));
}

TEST(MakePayloadsTest, FewerRandomRequestsWhenMemoryIsShort) {
  const ModelSignature model = model_of({{"x", DataType::kFp32, {1000}}});
  const auto made = make_payloads(model, {.max_bytes = 10'000});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->payloads.size(), 2U);
  EXPECT_THAT(failure(model, {.input_data = {"zero"}, .max_bytes = 100}),
              HasSubstr("GB of memory"));
  // Batches that go round once take what their elements do, not that times the batch size.
  const ModelSignature batches = model_of({{"x", DataType::kFp32, {1000}}}, 8);
  const auto pairs = make_payloads(batches, {.batch_size = 2, .max_bytes = 32'000});
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(pairs->payloads.size(), 4U);
  // One element eight times.
  EXPECT_TRUE(
      make_payloads(batches, {.input_data = {"zero"}, .batch_size = 8, .max_bytes = 32'000}));
  EXPECT_FALSE(
      make_payloads(batches, {.input_data = {"zero"}, .batch_size = 8, .max_bytes = 31'999}));
}

TEST(MakePayloadsTest, JsonFilesAddUpAndBatchesGoRound) {
  const TempFolder folder;
  const auto first = folder.write("a.json", R"({"data": [{"x": [1]}, {"x": [2]}]})");
  const auto second = folder.write("b.json", R"({"data": [[{"x": [3]}, {"x": [4]}, {"x": [3]}]]})");
  const auto made = make_payloads(model_of({{"x", DataType::kInt32, {1}}}, 8),
                                  {.input_data = {first, second}, .batch_size = 2});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->streams.size(), 2U);
  EXPECT_EQ(made->streams[0].count, 1U);
  EXPECT_EQ(made->streams[1].first, 1U);
  EXPECT_EQ(made->streams[1].count, 3U);
  EXPECT_EQ(values<std::int32_t>(made->payloads[0].inputs[0].tensor), (std::vector{1, 2}));
  EXPECT_EQ(values<std::int32_t>(made->payloads[1].inputs[0].tensor), (std::vector{3, 4}));
  EXPECT_EQ(values<std::int32_t>(made->payloads[2].inputs[0].tensor), (std::vector{3, 3}));
  EXPECT_EQ(values<std::int32_t>(made->payloads[3].inputs[0].tensor), (std::vector{4, 3}));
  EXPECT_EQ(made->distinct, 4U);
}

TEST(MakePayloadsTest, UnlikeElementsDoNotShareABatch) {
  const TempFolder folder;
  const auto file = folder.write("a.json", R"({"data": [{"x": [1]}, {"x": [2, 3]}]})");
  const ModelSignature model = model_of({{"x", DataType::kInt32, {kAny}}}, 8);
  EXPECT_TRUE(make_payloads(model, {.input_data = {file}}));
  EXPECT_THAT(failure(model, {.input_data = {file}, .batch_size = 2}),
              HasSubstr("data[0] and " + file.string() + ": data[1] go into one batch, but 'x'"));
}

TEST(MakePayloadsTest, AFolderWithAFileForEachInputHoldsTensors) {
  const TempFolder folder;
  folder.write("x", std::string("\1\0\2\0", 4));
  folder.write("t", "one\ntwo\n");
  folder.write("y", std::string("\7\0", 2));
  ModelSignature model = model_of({{"x", DataType::kInt16, {2}}, {"t", DataType::kBytes, {2}}});
  model.outputs = {{"y", DataType::kInt16, {1}}};
  const auto made = make_payloads(model, {.input_data = {folder.path()}});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(values<std::int16_t>(made->payloads[0].inputs[0].tensor),
            (std::vector<std::int16_t>{1, 2}));
  EXPECT_THAT(strings(made->payloads[0].inputs[1].tensor), ::testing::ElementsAre("one", "two"));
  ASSERT_EQ(made->payloads[0].expected.size(), 1U);
  model.inputs[0].shape = {3};
  EXPECT_THAT(failure(model, {.input_data = {folder.path()}}), HasSubstr("4 bytes, but 'x' INT16"));
}

TEST(MakePayloadsTest, PicturesAreDecodedOrSentAsTheyAre) {
  const std::string cases = source_path("src/image/testing/cases").string();
  const TempFolder folder;
  std::filesystem::copy_file(cases + "/decode_rgb.png", folder.path() / "a.PNG");
  folder.write("notes.txt", "no picture");
  const DataOptions options{.input_data = {folder.path()}};
  const auto decoded = make_payloads(model_of({{"x", DataType::kFp32, {3, 8, 8}}}, 4), options);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->payloads[0].inputs[0].tensor.shape, (Shape{1, 3, 8, 8}));
  EXPECT_THAT(decoded->description, HasSubstr("1 picture of"));
  EXPECT_THAT(decoded->description, HasSubstr("centre crop 8x8"));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(folder.path() / "a.PNG"));
  const auto strings = make_payloads(model_of({{"x", DataType::kBytes, {1}}}), options);
  ASSERT_TRUE(strings) << strings.error().message;
  EXPECT_EQ(static_cast<std::int64_t>(strings->payloads[0].inputs[0].tensor.data.size), size + 4);
  const auto bytes = make_payloads(model_of({{"x", DataType::kUint8, {kAny}}}), options);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->payloads[0].inputs[0].tensor.shape, (Shape{size}));
}

TEST(MakePayloadsTest, WhatIsNoPictureIsNamed) {
  const TempFolder folder;
  const ModelSignature model = model_of({{"x", DataType::kFp32, {3, 8, 8}}});
  const DataOptions options{.input_data = {folder.path()}};
  EXPECT_THAT(failure(model, options), HasSubstr("has no .jpg, .jpeg, .png or .webp"));
  folder.write("broken.jpg", "this is text");
  EXPECT_THAT(failure(model, options), HasSubstr("broken.jpg: "));
  ModelSignature two = model;
  two.inputs.push_back({"size", DataType::kInt64, {2}});
  EXPECT_THAT(failure(two, options), HasSubstr("wants 'size' besides the picture input 'x'"));
  EXPECT_THAT(failure(model, {.input_data = {folder.path() / "none"}}), HasSubstr("none"));
  EXPECT_THAT(failure(model, {.input_data = {"random", "zero"}}), HasSubstr("2 times"));
}

}  // namespace
}  // namespace proa::loadgen
