#include "http_client.h"

#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "gtest/gtest.h"

namespace proa {
namespace {

TEST(ServerUrlTest, TakesTheUsualForms) {
  struct Case {
    const char* url;
    const char* host;
    const char* port;
    const char* prefix;
  };
  const Case cases[] = {
      {"http://127.0.0.1:8000", "127.0.0.1", "8000", ""},
      {"localhost", "localhost", "8000", ""},
      {"host:81/", "host", "81", ""},
      {"http://host/a/b/", "host", "8000", "/a/b"},
      {"[::1]:9000", "::1", "9000", ""},
      {"http://[::1]", "::1", "8000", ""},
  };
  for (const Case& c : cases) {
    const auto address = parse_server_url(c.url);
    ASSERT_TRUE(address) << c.url;
    EXPECT_EQ(address->host, c.host);
    EXPECT_EQ(address->port, c.port);
    EXPECT_EQ(address->prefix, c.prefix);
  }
}

TEST(ServerUrlTest, RefusesOthers) {
  for (const char* url :
       {"", "http://", ":8000", "host:0", "host:port", "host:70000", "host:80x"}) {
    const auto address = parse_server_url(url);
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(parse_server_url("https://host").error().code, ErrorCode::kUnimplemented);
}

TEST(HttpClientTest, SaysThatNobodyListens) {
  // Taken, but nobody listens there.
  namespace asio = boost::asio;
  asio::io_context context;
  const asio::ip::tcp::socket bound(
      context, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  const std::string port = std::to_string(bound.local_endpoint().port());
  HttpClient client({"127.0.0.1", port, ""}, std::chrono::seconds(5));
  const auto reply = client.get("/v2");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(reply.error().message.find("127.0.0.1:" + port), std::string::npos);
}

}  // namespace
}  // namespace proa
