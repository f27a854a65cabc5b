#include <thread>

#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/read_until.hpp"
#include "boost/asio/write.hpp"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predictor.h"

namespace proa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

std::string reply(int status, const std::string& body) {
  return fmt::format("HTTP/1.1 {} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}", status,
                     body.size(), body);
}

const std::string kLoading =
    reply(503, R"({"error":"'m' has no available versions: it is being loaded"})");
const std::string kMetadata = reply(200, R"({"name":"m","inputs":[],"outputs":[]})");
const std::string kConfig = reply(200, R"({"max_batch_size":4})");

// Answers one connection after the other with what it was given, once it listens.
class CannedServer {
 public:
  explicit CannedServer(std::vector<std::string> replies) : replies_(std::move(replies)) {
    acceptor_.open(asio::ip::tcp::v4());
    acceptor_.bind({asio::ip::make_address("127.0.0.1"), 0});
  }

  void listen() {
    acceptor_.listen();
    thread_ = std::jthread([this] {
      for (const std::string& bytes : replies_) {
        asio::ip::tcp::socket socket = acceptor_.accept();
        std::string request;
        asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n");
        asio::write(socket, asio::buffer(bytes));
      }
    });
  }

  std::string url() const {
    return fmt::format("http://127.0.0.1:{}", acceptor_.local_endpoint().port());
  }

 private:
  const std::vector<std::string> replies_;
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_{context_};
  std::jthread thread_;
};

ConnectOptions quick() {
  return {.timeout = std::chrono::seconds(20), .poll = std::chrono::milliseconds(1)};
}

TEST(HttpPredictorTest, WaitsWhileTheModelIsLoaded) {
  CannedServer server({kLoading, kLoading, kMetadata, kConfig});
  server.listen();
  std::vector<std::string> notices;
  ConnectOptions options = quick();
  options.notice = [&](std::string_view notice) { notices.emplace_back(notice); };
  const auto predictor = connect_to_server(server.url(), "m", "", options);
  ASSERT_TRUE(predictor) << predictor.error().message;
  EXPECT_TRUE((*predictor)->signature().batches);
  EXPECT_THAT(notices, ElementsAre(HasSubstr("model m is being loaded")));
}

TEST(HttpPredictorTest, WaitsForAServerThatStarts) {
  CannedServer server({kMetadata, kConfig});
  int notices = 0;
  ConnectOptions options = quick();
  options.notice = [&](std::string_view notice) {
    ++notices;
    EXPECT_THAT(std::string(notice), HasSubstr("nobody answers at " + server.url()));
    server.listen();
  };
  const auto predictor = connect_to_server(server.url(), "m", "", options);
  ASSERT_TRUE(predictor) << predictor.error().message;
  EXPECT_EQ(notices, 1);
}

TEST(HttpPredictorTest, SaysHowToStartAServer) {
  const CannedServer server({});
  ConnectOptions options = quick();
  options.refused_wait = std::chrono::milliseconds(0);
  const auto predictor = connect_to_server(server.url(), "m", "", options);
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("proa serve --model-repository DIR"));
}

TEST(HttpPredictorTest, GivesUpOnAModelThatLoadsForTooLong) {
  CannedServer server({kLoading});
  server.listen();
  ConnectOptions options = quick();
  options.poll = options.timeout;
  const auto predictor = connect_to_server(server.url(), "m", "", options);
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, AllOf(HasSubstr("being loaded"), HasSubstr("--timeout")));
}

TEST(HttpPredictorTest, GuessesThatAPortIsForGrpc) {
  // proa's gRPC port, and one that speaks nothing but HTTP/2.
  for (const std::string& bytes :
       {reply(404, R"({"error":"no such path: /v2/models/m"})"),
        std::string("\0\0\0\4\0\0\0\0\0\0\0\0\4\0\0\0\0\0 settings\r\n\r\n", 30)}) {
    CannedServer server({bytes});
    server.listen();
    const auto predictor = connect_to_server(server.url(), "m", "", quick());
    ASSERT_FALSE(predictor);
    EXPECT_THAT(predictor.error().message, HasSubstr("gRPC"));
  }
}

}  // namespace
}  // namespace proa
