#include "protocol/status_map.h"

#include "gtest/gtest.h"

namespace proa::protocol {
namespace {

TEST(StatusMapTest, AnswersWithTritonsStatuses) {
  EXPECT_EQ(http_status(ErrorCode::kUnknown), 400);
  EXPECT_EQ(http_status(ErrorCode::kInvalidArgument), 400);
  EXPECT_EQ(http_status(ErrorCode::kAlreadyExists), 400);
  EXPECT_EQ(http_status(ErrorCode::kCancelled), 400);
  EXPECT_EQ(http_status(ErrorCode::kNotFound), 404);
  EXPECT_EQ(http_status(ErrorCode::kUnimplemented), 501);
  EXPECT_EQ(http_status(ErrorCode::kUnavailable), 503);
  EXPECT_EQ(http_status(ErrorCode::kInternal), 500);
}

TEST(StatusMapTest, KnowsEveryCode) {
  for (int code = 1; code <= 14; ++code) {
    const auto error = static_cast<ErrorCode>(code);
    if (error_code_name(error) == "UNKNOWN" && error != ErrorCode::kUnknown) continue;
    EXPECT_EQ(grpc_status(error), code);
    EXPECT_EQ(http_status(error) == 500, error == ErrorCode::kInternal) << code;
  }
}

TEST(StatusMapTest, ShortensMessagesBetweenCharacters) {
  const std::string longest(kMaxMessageBytes, 'x');
  EXPECT_EQ(client_message(longest), longest);
  for (std::size_t lead = 0; lead < 3; ++lead) {
    std::string text(lead, 'x');
    for (int i = 0; i < 100'000; ++i) text += "\xe2\x82\xac";
    const std::string shown = client_message(text);
    EXPECT_LE(shown.size(), kMaxMessageBytes);
    EXPECT_GT(shown.size(), kMaxMessageBytes - 3);
    EXPECT_TRUE(shown.ends_with("\xac [shortened]")) << lead;
  }
}

TEST(StatusMapTest, WrapsMessagesInJson) {
  EXPECT_LT(json_error_body(std::string(1'000'000, 'x')).size(), kMaxMessageBytes + 20);
  EXPECT_EQ(json_error_body("no \"x\"\n"), R"({"error":"no \"x\"\n"})");
}

}  // namespace
}  // namespace proa::protocol
