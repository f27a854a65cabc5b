#include "config/backend_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

using testing::HasSubstr;

TEST(BackendNamesTest, TurnTritonsNamesIntoOurs) {
  for (const char* name : {"onnxruntime", "onnxruntime_onnx", "openvino", "paddle", "tensorflow",
                           "tensorflow_graphdef", "tensorflow_savedmodel", "tflite"}) {
    EXPECT_EQ(*resolve_backend_name(name), "openvino") << name;
    EXPECT_FALSE(default_model_files(name).empty()) << name;
  }
  EXPECT_EQ(*resolve_backend_name("identity"), "identity");
  EXPECT_EQ(*resolve_backend_name("somebody_elses"), "somebody_elses");
}

TEST(BackendNamesTest, PointToAWayOutOfWhatIsNotServed) {
  for (const char* name : {"tensorrt", "tensorrt_plan", "pytorch", "pytorch_libtorch", "fil"}) {
    const Error error = resolve_backend_name(name).error();
    EXPECT_EQ(error.code, ErrorCode::kUnimplemented);
    EXPECT_THAT(error.message, HasSubstr("openvino")) << name;
  }
  EXPECT_THAT(resolve_backend_name("dali").error().message, HasSubstr("is not built yet"));
}

TEST(BackendNamesTest, TellTheBackendOfAFile) {
  EXPECT_EQ(backend_of_model_file("model.onnx"), "onnxruntime");
  EXPECT_EQ(backend_of_model_file("resnet.v2.onnx"), "onnxruntime");
  EXPECT_EQ(backend_of_model_file("a.tflite"), "tflite");
  EXPECT_EQ(backend_of_model_file("model.plan"), "tensorrt");
  for (const char* name :
       {"", "model", "onnx", "model.bin", "labels.txt", "model.", "a.onnx.txt"}) {
    EXPECT_EQ(backend_of_model_file(name), "") << name;
  }
}

TEST(BackendNamesTest, FindTheModelAmongTheFiles) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(find_model_file(Names{"labels.txt", "model.xml", "model.bin"}), "model.xml");
  EXPECT_EQ(find_model_file(Names{"model.onnx", "other.onnx"}), "model.onnx");
  EXPECT_EQ(find_model_file(Names{"net.bin", "net.xml"}), "net.xml");
  EXPECT_EQ(find_model_file(Names{"a.onnx", "b.onnx"}), "");
  EXPECT_EQ(find_model_file(Names{}), "");
}

}  // namespace
}  // namespace proa::config
