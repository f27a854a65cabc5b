#include "backend_config.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BackendConfigTest, FollowsTheDefaultBatchSize) {
  for (const char* text : {"default-max-batch-size=16", "onnxruntime,default-max-batch-size=16"}) {
    BackendConfig config;
    ASSERT_TRUE(read_backend_config(text, config));
    EXPECT_EQ(config.default_max_batch_size, 16) << text;
    EXPECT_THAT(config.warnings, IsEmpty());
  }
}

TEST(BackendConfigTest, WarnsOfWhatHasNoEffect) {
  BackendConfig config;
  ASSERT_TRUE(read_backend_config("tensorrt,coalesce-request-input=true", config));
  ASSERT_TRUE(read_backend_config("python,default-max-batch-size=16", config));
  EXPECT_EQ(config.default_max_batch_size, 4);
  EXPECT_THAT(config.warnings,
              ElementsAre(HasSubstr("tensorrt,coalesce-request-input=true is ignored"),
                          HasSubstr("python,default-max-batch-size=16 is ignored")));
}

TEST(BackendConfigTest, RefusesWhatItCannotRead) {
  BackendConfig config;
  for (const char* text :
       {"default-max-batch-size", "default-max-batch-size=many", "default-max-batch-size=-1", ""}) {
    EXPECT_FALSE(read_backend_config(text, config)) << text;
  }
}

TEST(GpuLimitTest, ReadsADeviceAndItsShare) {
  std::map<int, double> limits;
  ASSERT_TRUE(read_gpu_limit("0:0.9", limits));
  ASSERT_TRUE(read_gpu_limit("3:1", limits));
  EXPECT_THAT(limits, ElementsAre(std::pair(0, 0.9), std::pair(3, 1.0)));
  for (const char* text : {"", "0", "0:", ":0.5", "-1:0.5", "0:1.5", "0:-0.1", "0:nan", "a:0.5"}) {
    const Status status = read_gpu_limit(text, limits);
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, HasSubstr("GPU:SHARE"));
  }
}

}  // namespace
}  // namespace proa
