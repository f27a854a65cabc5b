#include "backends/openvino/model_reader.h"

#include <random>

#include "backends/openvino/openvino_backend.h"
#include "backends/openvino/signature.h"
#include "backends/openvino/testing/models.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openvino/core/model.hpp"

namespace proa::backends::openvino {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ModelReaderTest, TellsFormatsByName) {
  const TempFolder folder;
  const auto& root = folder.path();
  const std::pair<const char*, ModelFormat> cases[] = {
      {"a.onnx", ModelFormat::kOnnx},
      {"a.xml", ModelFormat::kIr},
      {"a.tflite", ModelFormat::kTensorFlowLite},
      {"a.graphdef", ModelFormat::kTensorFlow},
      {"a.pdmodel", ModelFormat::kPaddle},
  };
  for (const auto& [name, format] : cases) {
    testing::write_file(root / name, "");
    const auto file = find_model_file(root / name);
    ASSERT_TRUE(file) << name;
    EXPECT_EQ(file->format, format) << name;
  }
  testing::write_file(root / "model.savedmodel" / "saved_model.pb", "");
  EXPECT_EQ(find_model_file(root / "model.savedmodel")->format, ModelFormat::kTensorFlow);
  testing::write_file(root / "folder.onnx" / "model.onnx", "");
  EXPECT_EQ(find_model_file(root / "folder.onnx")->path, root / "folder.onnx" / "model.onnx");
}

TEST(ModelReaderTest, NamesThePathItCannotUse) {
  const TempFolder folder;
  const auto missing = find_model_file(folder.path() / "no.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("no.onnx"));

  testing::write_file(folder.path() / "model.plan", "");
  const auto unknown = find_model_file(folder.path() / "model.plan");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, AllOf(HasSubstr("model.plan"), HasSubstr(".onnx")));
}

TEST(ModelReaderTest, ReadsOnnxAndIr) {
  const TempFolder folder;
  testing::write_file(folder.path() / "dense.onnx", testing::onnx_dense_layer());
  auto model = read_model({folder.path() / "dense.onnx", ModelFormat::kOnnx});
  ASSERT_TRUE(model) << model.error().message;
  Signature signature = read_signature(**model);
  ASSERT_EQ(signature.inputs.size(), 1U);
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.inputs[0].to_string(), "FP32 [-1,4]");
  EXPECT_EQ(signature.outputs[0].name, "y");
  EXPECT_EQ(signature.outputs[0].copy_of_input, -1);

  testing::write_ir(testing::sum_and_copy_model({-1, 2}), folder.path() / "sum.xml");
  model = read_model({folder.path() / "sum.xml", ModelFormat::kIr});
  ASSERT_TRUE(model) << model.error().message;
  signature = read_signature(**model);
  EXPECT_EQ(signature.outputs[find_tensor(signature.outputs, "kept")].copy_of_input, 0);
  EXPECT_EQ(signature.outputs[find_tensor(signature.outputs, "sum")].copy_of_input, -1);
}

TEST(ModelReaderTest, ReadsAFrozenTensorFlowGraph) {
  const TempFolder folder;
  testing::write_file(folder.path() / "model.graphdef", testing::tensorflow_graph());
  const auto model = read_model({folder.path() / "model.graphdef", ModelFormat::kTensorFlow});
  ASSERT_TRUE(model) << model.error().message;
  const Signature signature = read_signature(**model);
  EXPECT_EQ(find_tensor(signature.inputs, "x"), 0);
  EXPECT_EQ(find_tensor(signature.outputs, "y"), 0);
  EXPECT_EQ(signature.inputs[0].to_string(), "FP32 [-1,4]");
}

TEST(ModelReaderTest, SaysWhyAFileIsNotRead) {
  const TempFolder folder;
  const auto reason = [&](const char* name, const std::string& bytes, ModelFormat format) {
    testing::write_file(folder.path() / name, bytes);
    const auto model = read_model({folder.path() / name, format});
    return model ? std::string("read") : model.error().message;
  };
  EXPECT_THAT(reason("unknown.onnx", testing::onnx_unknown_operator(), ModelFormat::kOnnx),
              AllOf(HasSubstr("unknown.onnx"), HasSubstr("cannot convert; export it again"),
                    HasSubstr("onnxsim"), HasSubstr("FrobnicateTensor"), Not(HasSubstr("Summary")),
                    Not(HasSubstr("src/frontends"))));
  EXPECT_THAT(reason("short.onnx", testing::onnx_dense_layer().substr(0, 100), ModelFormat::kOnnx),
              AllOf(HasSubstr("short.onnx as ONNX"), HasSubstr("damaged or incomplete (100 bytes)"),
                    HasSubstr("can't be parsed")));
  EXPECT_THAT(reason("text.xml", "hello", ModelFormat::kIr), HasSubstr("text.xml"));
  EXPECT_THAT(reason("empty.tflite", "", ModelFormat::kTensorFlowLite),
              HasSubstr("empty.tflite as TensorFlow Lite: the file is empty"));
  EXPECT_THAT(reason("noise.tflite", std::string(300, 'x'), ModelFormat::kTensorFlowLite),
              HasSubstr("damaged or incomplete (300 bytes)"));
  EXPECT_THAT(reason("empty.onnx", "", ModelFormat::kOnnx), HasSubstr("the file is empty"));
  EXPECT_THAT(reason("bad.pb", "\x01\x02", ModelFormat::kTensorFlow), HasSubstr("bad.pb"));
}

// Whatever bytes come, the backend answers with an error or a model that runs.
TEST(ModelReaderTest, SurvivesDamagedOnnxFiles) {
  const TempFolder folder;
  const std::string whole = testing::onnx_dense_layer();
  const auto backend = create_openvino_backend({.processors = 1});
  std::mt19937 random(20260129);
  int errors = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    if (round % 2 == 0) {
      bytes.resize(random() % whole.size());
    } else {
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
        bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
      }
    }
    testing::write_file(folder.path() / "1" / "model.onnx", bytes);
    const core::ModelFiles files{folder.path(), folder.path() / "1", 1};
    config::ModelConfig config;
    config.name = "damaged";
    config.default_model_filename = "model.onnx";
    Status status = backend->complete_config(files, false, config);
    if (status) {
      if (const auto loaded = backend->load(files, config); !loaded) status = loaded.error();
    }
    if (status) continue;
    ++errors;
    EXPECT_THAT(status.error().message, HasSubstr("model.onnx")) << "round " << round;
  }
  EXPECT_GT(errors, 150);
}

}  // namespace
}  // namespace proa::backends::openvino
