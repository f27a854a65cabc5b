#include "loadgen/clients/http_response.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;
using Keep = HttpResponseReader::Keep;

// Feeds the bytes in pieces of `step`; the answer of the last piece.
Result<bool> feed(HttpResponseReader& reader, std::string_view bytes, std::size_t step) {
  Result<bool> complete = false;
  while (!bytes.empty()) {
    complete = reader.feed(bytes.substr(0, step));
    if (!complete) return complete;
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return complete;
}

TEST(HttpResponseReaderTest, ReadsWhateverThePieces) {
  struct Case {
    std::string_view bytes;
    int status;
    std::string_view body;
    bool keep_alive;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true},
      {"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, "", true},
      {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", true},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
      {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true},
      {"HTTP/1.1 503 Busy\r\nCONNECTION: close\r\nContent-Length: 4\r\n\r\nlate", 503, "late",
       false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
       "chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\n"
       "Trailer: t\r\n\r\n",
       200, "abc0123456789", true},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x",
       true},
  };
  for (const Case& c : cases) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, c.bytes.size()}) {
      HttpResponseReader reader;
      reader.start(Keep::kAll);
      const auto complete = feed(reader, c.bytes, step);
      ASSERT_TRUE(complete) << c.bytes << complete.error().message;
      EXPECT_TRUE(*complete) << c.bytes;
      EXPECT_EQ(reader.status(), c.status) << c.bytes;
      EXPECT_EQ(reader.body(), c.body) << c.bytes;
      EXPECT_EQ(reader.keep_alive(), c.keep_alive) << c.bytes;
    }
  }
}

TEST(HttpResponseReaderTest, WithoutLengthTheEndOfTheConnectionEndsIt) {
  HttpResponseReader reader;
  reader.start(Keep::kAll);
  EXPECT_FALSE(reader.begun());
  EXPECT_FALSE(reader.end_of_stream());
  EXPECT_FALSE(*reader.feed("HTTP/1.1 200 OK\r\n\r\nsome"));
  EXPECT_TRUE(reader.begun());
  EXPECT_TRUE(reader.end_of_stream());
  EXPECT_EQ(reader.body(), "some");
}

TEST(HttpResponseReaderTest, KeepsBodiesOfErrorsOnly) {
  HttpResponseReader reader;
  reader.start(Keep::kErrors);
  EXPECT_TRUE(
      *reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
                   "Inference-Header-Content-Length: 2\r\n\r\nabc"));
  EXPECT_EQ(reader.body(), "");
  EXPECT_EQ(reader.json_size(), 2U);
  reader.start(Keep::kErrors);
  EXPECT_TRUE(*reader.feed("HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nabc"));
  EXPECT_EQ(reader.body(), "abc");
}

TEST(HttpResponseReaderTest, RefusesWhatIsNotHttp) {
  for (const std::string_view bytes :
       {std::string_view("SSH-2.0-OpenSSH\r\n"), std::string_view("\0\0\x12\x04\0\0\0\0\0", 9),
        std::string_view("HTTP/2 200\r\n\r\n"), std::string_view("HTTP/1.1 abc\r\n\r\n"),
        std::string_view("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        std::string_view("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"),
        std::string_view("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string_view("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"),
        std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab")}) {
    HttpResponseReader reader;
    reader.start(Keep::kAll);
    const auto complete = feed(reader, bytes, bytes.size());
    ASSERT_FALSE(complete) << bytes;
    EXPECT_THAT(complete.error().message, HasSubstr("not HTTP/1.1"));
  }
}

}  // namespace
}  // namespace proa::loadgen
