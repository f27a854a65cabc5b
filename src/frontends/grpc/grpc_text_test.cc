#include "frontends/grpc/grpc_text.h"

#include <chrono>

#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using namespace std::chrono_literals;

TEST(GrpcTimeoutTest, ReadsEveryUnit) {
  EXPECT_EQ(parse_grpc_timeout("2H"), Duration(2h));
  EXPECT_EQ(parse_grpc_timeout("3M"), Duration(3min));
  EXPECT_EQ(parse_grpc_timeout("4S"), Duration(4s));
  EXPECT_EQ(parse_grpc_timeout("20m"), Duration(20ms));
  EXPECT_EQ(parse_grpc_timeout("7u"), Duration(7us));
  EXPECT_EQ(parse_grpc_timeout("99999999n"), Duration(99999999ns));
  EXPECT_EQ(parse_grpc_timeout("0n"), Duration(0));
}

TEST(GrpcTimeoutTest, CutsWhatIsBeyondTheClock) {
  const auto timeout = parse_grpc_timeout("99999999H");
  ASSERT_TRUE(timeout);
  EXPECT_GT(*timeout, Duration(24h * 36500));
}

TEST(GrpcTimeoutTest, RefusesAnythingElse) {
  for (const char* text : {"", "S", "1", "1s", "-1S", "+1S", "1.5S", " 1S", "123456789S", "1SS"}) {
    EXPECT_FALSE(parse_grpc_timeout(text)) << text;
  }
}

TEST(GrpcMessageTest, EncodesWhatIsNotPrintable) {
  EXPECT_EQ(encode_grpc_message("model 'a' [1,2]"), "model 'a' [1,2]");
  EXPECT_EQ(encode_grpc_message("100%\n\xc3\xa4\x7f"), "100%25%0A%C3%A4%7F");
}

TEST(GrpcContentTypeTest, TakesProtobufOnly) {
  EXPECT_TRUE(is_grpc_content_type("application/grpc"));
  EXPECT_TRUE(is_grpc_content_type("application/grpc+proto"));
  EXPECT_TRUE(is_grpc_content_type("application/grpc;charset=utf-8"));
  EXPECT_FALSE(is_grpc_content_type("application/grpc-web"));
  EXPECT_FALSE(is_grpc_content_type("application/grpc+json"));
  EXPECT_FALSE(is_grpc_content_type("application/json"));
}

}  // namespace
}  // namespace proa::frontends
