#include "engine/run/load_library.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::HasSubstr;

TEST(LoadLibraryTest, MissingLibrariesAreNamedWithWhatToInstall) {
  const auto explain = [](std::string_view reason) {
    return explain_load_failure("libproa_cuda.so", reason);
  };
  EXPECT_THAT(explain("libcudnn.so.9: cannot open shared object file"), HasSubstr("cuDNN 9"));
  EXPECT_THAT(explain("libcublasLt.so.13: cannot open shared object file"), HasSubstr("cuBLAS"));
  EXPECT_THAT(explain("libcudart.so.13: cannot open shared object file"), HasSubstr("CUDA 13"));
  EXPECT_THAT(explain("libproa_cuda.so: cannot open shared object file"),
              HasSubstr("-DPROA_CUDA=ON"));
  EXPECT_THAT(explain("something else"), HasSubstr("something else"));
}

TEST(LoadLibraryTest, AnAbsentLibraryIsUnavailable) {
  const auto engine = load_device_engine("/nowhere/libproa_cuda.so");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(engine.error().message, HasSubstr("has no GPU engine"));
}

TEST(LoadLibraryTest, ALibraryWithoutTheFunctionIsUnavailable) {
  const auto engine = load_device_engine("libdl.so.2");
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr(kEngineSymbol));
}

}  // namespace
}  // namespace proa::engine
