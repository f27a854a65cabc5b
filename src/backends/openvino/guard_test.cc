#include "backends/openvino/guard.h"

#include <stdexcept>

#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

TEST(GuardTest, KeepsWhatAUserCanUse) {
  EXPECT_EQ(
      readable_reason("Exception from src/inference/src/cpp/core.cpp:84:\n"
                      "Check 'm_model->Parse(&file)' failed at src/frontends/x.cpp:563:\n"
                      "FrontEnd API failed with GeneralFailure:\nModel can't be parsed\n\n\n"),
      "Model can't be parsed");
  EXPECT_EQ(readable_reason("FrontEnd API failed with OpConversionFailure:\n"
                            "Model wasn't fully converted.\nSummary:\n"
                            "-- No conversion rule found for operations: Frob-17\n"),
            "No conversion rule found for operations: Frob-17");
  EXPECT_EQ(readable_reason("one\n  two\t\n"), "one; two");
  EXPECT_EQ(readable_reason("Check 'a' failed at b.cpp:1:\n"), "Check 'a' failed at b.cpp:1:");
  EXPECT_EQ(readable_reason(""), "OpenVINO gave no reason");
  EXPECT_EQ(readable_reason("a\x1b[31mb"), "a [31mb");
  EXPECT_LT(readable_reason(std::string(5000, 'x')).size(), 420U);
}

TEST(GuardTest, TurnsExceptionsIntoErrors) {
  const Status thrown = guarded(ErrorCode::kInvalidArgument, "reading",
                                []() -> void { throw std::runtime_error("broken"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(thrown.error().message, "reading: broken");
  const Result<int> value = guarded(ErrorCode::kInternal, "", []() -> Result<int> { return 7; });
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace proa::backends::openvino
