#include "backends/image/image_backend.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/testing/source_path.h"
#include "core/batch.h"
#include "core/testing/model_runtime.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends {
namespace {

using config::ModelConfig;
using core::Batch;
using testing::ElementsAre;
using testing::HasSubstr;

// A picture of the image room's tests: 23 x 14 JPEG, 19 x 11 PNG.
std::string picture(const std::string& name) {
  std::ifstream file(source_path("src/image/testing/cases") / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ModelConfig image_config(std::map<std::string, std::string> parameters,
                         std::int32_t max_batch_size = 4) {
  ModelConfig config;
  config.name = "prepare";
  config.backend = "image";
  config.max_batch_size = max_batch_size;
  config.parameters = std::move(parameters);
  return config;
}

Tensor bytes_tensor(std::initializer_list<std::string> elements, bool batches) {
  std::string data;
  for (const std::string& element : elements) append_bytes_element(data, element);
  Buffer buffer = Buffer::allocate(data.size());
  std::memcpy(buffer.data(), data.data(), data.size());
  const auto count = static_cast<std::int64_t>(elements.size());
  return {DataType::kBytes, batches ? Shape{count, 1} : Shape{1}, BufferView(std::move(buffer))};
}

std::unique_ptr<core::Request> request_of(std::initializer_list<std::string> pictures,
                                          bool batches = true) {
  auto request = std::make_unique<core::Request>();
  request->inputs.push_back(bytes_tensor(pictures, batches));
  request->batch_size = static_cast<std::int64_t>(pictures.size());
  return request;
}

template <class Number>
std::vector<Number> numbers(const Tensor& tensor) {
  std::vector<Number> values(tensor.data.size / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size);
  return values;
}

class ImageBackendTest : public testing::Test {
 protected:
  std::unique_ptr<core::LoadedModel> load(ModelConfig config) {
    const Status completed = backend_->complete_config({}, true, config);
    EXPECT_TRUE(completed) << completed.error().message;
    auto loaded = backend_->load({}, config);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *std::move(loaded);
  }

  // Runs one batch of these requests to its end and gives its responses.
  static std::vector<core::Response> run(core::LoadedModel& model,
                                         std::vector<std::unique_ptr<core::Request>> requests) {
    const auto instance = *model.create_instance({});
    std::unique_ptr<Batch> ended;
    instance->start(std::make_unique<Batch>(std::move(requests)),
                    [&](std::unique_ptr<Batch> batch) { ended = std::move(batch); });
    EXPECT_NE(ended->inputs_ready, kNever);
    EXPECT_NE(ended->computed, kNever);
    return ended->take_responses();
  }

  static core::Response run_one(core::LoadedModel& model, std::unique_ptr<core::Request> request) {
    std::vector<std::unique_ptr<core::Request>> requests;
    requests.push_back(std::move(request));
    return std::move(run(model, std::move(requests))[0]);
  }

  std::string error_of(ModelConfig config) {
    const Status status = backend_->complete_config({}, true, config);
    return status ? "accepted" : status.error().message;
  }

  std::unique_ptr<core::Backend> backend_ = make_image_backend(&steady_clock());
};

TEST_F(ImageBackendTest, CompletesInputAndOutputs) {
  ModelConfig config = image_config({{"resize", "256"},
                                     {"crop", "224x192"},
                                     {"data_type", "FP16"},
                                     {"size_output", "original_size"},
                                     {"placement_output", "placement"}});
  ASSERT_TRUE(backend_->complete_config({}, true, config));
  ASSERT_EQ(config.inputs.size(), 1u);
  EXPECT_EQ(config.inputs[0].name, "encoded_image");
  EXPECT_EQ(config.inputs[0].type, DataType::kBytes);
  EXPECT_EQ(config.inputs[0].dims, Shape({1}));
  ASSERT_EQ(config.outputs.size(), 3u);
  EXPECT_EQ(config.outputs[0].name, "image");
  EXPECT_EQ(config.outputs[0].type, DataType::kFp16);
  EXPECT_EQ(config.outputs[0].dims, Shape({3, 192, 224}));
  EXPECT_EQ(config.outputs[1].type, DataType::kInt64);
  EXPECT_EQ(config.outputs[1].dims, Shape({2}));
  EXPECT_EQ(config.outputs[2].name, "placement");
  EXPECT_EQ(config.outputs[2].dims, Shape({4}));
}

TEST_F(ImageBackendTest, LeavesSidesOpenThatDependOnThePicture) {
  ModelConfig config = image_config({{"layout", "nhwc"}, {"channels", "gray"}});
  ASSERT_TRUE(backend_->complete_config({}, true, config));
  EXPECT_EQ(config.outputs[0].dims, Shape({-1, -1, 1}));
}

TEST_F(ImageBackendTest, MakesTheTensorsOfABatchOfPictures) {
  const auto model = load(image_config({{"resize", "8x6"}, {"scale", "1/255"}, {"mean", "0.5"}}));
  EXPECT_EQ(model->execution(), core::Execution::kBlocking);
  const auto response =
      run_one(*model, request_of({picture("decode_colour.jpg"), picture("decode_rgb.png")}));
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, Shape({2, 3, 6, 8}));
  EXPECT_EQ(response.outputs[0].type, DataType::kFp32);
  const auto values = numbers<float>(response.outputs[0]);
  EXPECT_LE(*std::ranges::max_element(values), 0.5F);
  EXPECT_GE(*std::ranges::min_element(values), -0.5F);
  const auto alone = run_one(*model, request_of({picture("decode_rgb.png")}));
  const auto second = numbers<float>(alone.outputs[0]);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), values.begin() + 3 * 6 * 8));
}

TEST_F(ImageBackendTest, FailsOnlyTheRequestOfABrokenPicture) {
  const auto model = load(image_config({{"resize", "8x6"}}));
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(request_of({picture("decode_colour.jpg")}));
  requests.push_back(
      request_of({picture("decode_rgb.png"), picture("decode_rgb.png").substr(0, 90)}));
  requests.push_back(request_of({picture("decode_lossy.webp")}));
  const auto responses = run(*model, std::move(requests));
  EXPECT_FALSE(responses[0].error);
  ASSERT_TRUE(responses[1].error);
  EXPECT_EQ(responses[1].error->code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(responses[1].error->message,
              HasSubstr("model 'prepare', input 'encoded_image', picture 2 of 2: the PNG picture"));
  EXPECT_FALSE(responses[2].error);
  EXPECT_EQ(responses[2].outputs[0].shape, Shape({1, 3, 6, 8}));
}

TEST_F(ImageBackendTest, TellsTheOriginalSizeAndThePlacement) {
  ModelConfig config = image_config({{"resize", "32x32"},
                                     {"resize_mode", "letterbox"},
                                     {"size_output", "size"},
                                     {"placement_output", "placement"}},
                                    0);
  const auto model = load(config);
  const auto response =
      run_one(*model, request_of({picture("decode_orientation_6.jpg")}, false));  // 14 x 23
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, Shape({3, 32, 32}));
  EXPECT_EQ(response.outputs[1].shape, Shape({2}));
  EXPECT_THAT(numbers<std::int64_t>(response.outputs[1]), ElementsAre(23, 14));
  EXPECT_THAT(numbers<float>(response.outputs[2]), ElementsAre(19 / 14.0F, 32 / 23.0F, 6.0F, 0.0F));
  config.parameters["size_order"] = "wh";
  config.outputs = {{.name = "size", .type = DataType::kFp32, .dims = {2}},
                    {.name = "pixels", .type = DataType::kFp32, .dims = {3, 32, 32}},
                    {.name = "placement", .type = DataType::kFp32, .dims = {4}}};
  const auto listed =
      run_one(*load(config), request_of({picture("decode_orientation_6.jpg")}, false));
  EXPECT_THAT(numbers<float>(listed.outputs[0]), ElementsAre(14, 23));
  EXPECT_EQ(listed.outputs[1].shape, Shape({3, 32, 32}));
}

TEST_F(ImageBackendTest, GivesOnlyTheOutputsThatAreAskedFor) {
  const auto model = load(image_config({{"size_output", "size"}}));
  auto request = request_of({picture("decode_rgb.png")});
  request->requested_outputs.push_back(1);
  const auto response = run_one(*model, std::move(request));
  EXPECT_EQ(response.outputs[0].type, DataType::kInvalid);
  EXPECT_EQ(response.outputs[1].shape, Shape({1, 2}));
}

TEST_F(ImageBackendTest, TakesBytesAsAVectorOfNumbers) {
  ModelConfig config = image_config({});
  config.inputs = {{.name = "file", .type = DataType::kUint8, .dims = {-1}}};
  const auto model = load(config);
  const std::string file = picture("decode_rgb.png");
  Buffer buffer = Buffer::allocate(2 * (file.size() + 3));
  std::memset(buffer.data(), 0, buffer.size());  // the shorter rows of a batch end in zeros
  std::memcpy(buffer.data(), file.data(), file.size());
  std::memcpy(buffer.data() + file.size() + 3, file.data(), file.size());
  auto request = std::make_unique<core::Request>();
  request->batch_size = 2;
  request->inputs.push_back({DataType::kUint8,
                             {2, static_cast<std::int64_t>(file.size() + 3)},
                             BufferView(std::move(buffer))});
  const auto response = run_one(*model, std::move(request));
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, Shape({2, 3, 11, 19}));
}

TEST_F(ImageBackendTest, RefusesPicturesOfTwoSizesInOneRequest) {
  const auto model = load(image_config({}));
  const auto response =
      run_one(*model, request_of({picture("decode_colour.jpg"), picture("decode_rgb.png")}));
  ASSERT_TRUE(response.error);
  EXPECT_THAT(response.error->message,
              HasSubstr("picture 2 of 2: its tensor is 19 x 11 and that of picture 1 is 23 x 14"));
}

TEST_F(ImageBackendTest, ReducesJpegsOnlyAsFarAsTheResizeAllows) {
  const std::string file = picture("decode_full_chroma.jpg");  // 23 x 14
  const auto pixels = [&](std::map<std::string, std::string> parameters) {
    parameters["filter"] = "nearest";
    const auto model = load(image_config(std::move(parameters)));
    return numbers<float>(run_one(*model, request_of({file})).outputs[0]);
  };
  EXPECT_EQ(pixels({{"resize", "20x12"}, {"jpeg_scaled_decode", "1/8"}}),
            pixels({{"resize", "20x12"}}));
  EXPECT_NE(pixels({{"resize", "4x3"}, {"jpeg_scaled_decode", "1/4"}}),
            pixels({{"resize", "4x3"}}));
}

TEST_F(ImageBackendTest, AnswersACancelledRequestWithoutReadingIt) {
  const auto model = load(image_config({}));
  auto request = request_of({"rubbish"});
  request->cancellation = std::make_shared<CancellationToken>();
  request->cancellation->cancel();
  const auto response = run_one(*model, std::move(request));
  ASSERT_TRUE(response.error);
  EXPECT_EQ(response.error->code, ErrorCode::kCancelled);
}

TEST_F(ImageBackendTest, ChecksWhatTheConfigurationLists) {
  const auto refused = [&](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = image_config({{"resize", "8x6"}});
    config.inputs = {{.name = "file", .type = DataType::kBytes, .dims = {1}}};
    config.outputs = {{.name = "x", .type = DataType::kFp32, .dims = {3, 6, 8}}};
    change(config);
    return error_of(std::move(config));
  };
  EXPECT_EQ(refused([](ModelConfig&) {}), "accepted");
  EXPECT_EQ(refused([](ModelConfig& c) { c.outputs[0].type = DataType::kUint8; }), "accepted");
  EXPECT_EQ(refused([](ModelConfig& c) { c.inputs[0].type = DataType::kFp32; }),
            "model 'prepare': input 'file' is FP32 [1]; it must be TYPE_STRING [ 1 ] (a picture's "
            "file is one element) or TYPE_UINT8 [ -1 ] (it is a vector of bytes), without reshape");
  EXPECT_THAT(refused([](ModelConfig& c) { c.inputs.push_back(c.inputs[0]); }),
              HasSubstr("2 inputs are listed"));
  EXPECT_THAT(refused([](ModelConfig& c) { c.outputs[0].dims = {3, 8, 6}; }),
              HasSubstr("output 'x' is FP32 [3,8,6]; what the parameters make is FP32 [3,6,8]"));
  EXPECT_THAT(refused([](ModelConfig& c) { c.outputs[0].dims = {6, 8}; }), HasSubstr("[6,8]"));
  EXPECT_THAT(refused([](ModelConfig& c) { c.outputs.push_back(c.outputs[0]); }),
              HasSubstr("is none that the parameters name: 'x' carries the picture"));
  EXPECT_THAT(refused([](ModelConfig& c) { c.parameters["size_output"] = "size"; }),
              HasSubstr("parameter 'size_output' is \"size\", but the outputs that are listed"));
  EXPECT_THAT(refused([](ModelConfig& c) {
                c.parameters["size_output"] = "size";
                c.outputs.push_back({.name = "size", .type = DataType::kInt8, .dims = {2}});
              }),
              HasSubstr("output 'size' is INT8 [2]; the picture's size is INT64, INT32 or FP32"));
}

TEST(ImageModelTest, RunsBehindAScheduler) {
  core::Answers answers;
  core::ModelRuntime runtime;
  const auto backend = make_image_backend(&steady_clock());
  ModelConfig config = image_config({{"resize", "8x6"}});
  ASSERT_TRUE(backend->complete_config({}, true, config));
  const auto model = core::Model::create(config, 1, *backend->load({}, config), runtime.options());
  ASSERT_TRUE(model);
  for (const char* name : {"decode_colour.jpg", "decode_rgb.ppm"}) {
    auto request = request_of({picture(name)});
    request->id = name;
    request->model = *model;
    request->sink = answers.sink(name);
    (*model)->infer(std::move(request));
  }
  answers.wait_for(2);
  EXPECT_EQ(answers.of("decode_colour.jpg").outputs[0].shape, Shape({1, 3, 6, 8}));
  EXPECT_THAT(answers.of("decode_rgb.ppm").error->message,
              HasSubstr("begin like neither JPEG, PNG nor WebP"));
}

}  // namespace
}  // namespace proa::backends
