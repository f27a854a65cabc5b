#include "model_place.h"

#include "base/testing/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using ::testing::HasSubstr;

std::string place(const std::string& model, const std::string& url = "", bool in_process = false) {
  InferOptions options;
  options.model = model;
  options.url = url;
  options.in_process = in_process;
  const auto found = find_model_place(options);
  return found ? found->to_string() : found.error().message;
}

TEST(ModelPlaceTest, TakesABareNameForTheServersModel) {
  // The folder is there, and yet the server is asked.
  std::filesystem::current_path(source_path(""));
  ASSERT_TRUE(std::filesystem::exists("src"));
  EXPECT_EQ(place("src"), "at http://127.0.0.1:8000");
  EXPECT_EQ(place("resnet", "host:81/x/"), "at http://host:81/x");
  EXPECT_EQ(place("resnet", "[::1]"), "at http://[::1]:8000");
  EXPECT_EQ(place("odd.onnx", "host"), "at http://host:8000");
}

TEST(ModelPlaceTest, RunsPathsInThisProcess) {
  for (const char* path : {"./src", "models/net", "net.onnx", "net.xml", "net.savedmodel", "."}) {
    EXPECT_EQ(place(path), "in this process") << path;
  }
  EXPECT_EQ(place("src", "", true), "in this process");
}

TEST(ModelPlaceTest, SaysWhichFlagsMeanNothingThere) {
  EXPECT_THAT(place("src", "host", true), HasSubstr("--url names a server"));
  EXPECT_THAT(place("./src", "host"), HasSubstr("./src is a path"));
  InferOptions options;
  options.model = "net.onnx";
  options.version = "2";
  EXPECT_THAT(find_model_place(options).error().message, HasSubstr("--version chooses"));
  options.version = "";
  options.timeout_s = 60;
  EXPECT_THAT(find_model_place(options).error().message, HasSubstr("--timeout is how long"));
  options.model = "net";
  EXPECT_TRUE(find_model_place(options));
}

}  // namespace
}  // namespace proa
