#include "net/http_date.h"

#include "gtest/gtest.h"

namespace proa::net {
namespace {

TEST(HttpDateTest, WritesTheExampleOfTheSpecification) {
  EXPECT_EQ(http_date(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(1'709'164'799), "Wed, 28 Feb 2024 23:59:59 GMT");
}

TEST(HttpDateTest, TellsTheTimeThatItIs) {
  const std::time_t before = std::time(nullptr);
  const std::string now(http_date_now());
  const std::time_t after = std::time(nullptr);
  EXPECT_TRUE(now == http_date(before) || now == http_date(after)) << now;
}

}  // namespace
}  // namespace proa::net
