// Conversations with random damage: whatever comes, the server answers the next client. Meant for
// the sanitizers above all.
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "net/testing/http1_client.h"
#include "net/testing/http2_client.h"
#include "net/testing/test_server.h"

namespace proa::net {
namespace {

constexpr int kConversations = 300;

std::string damaged(std::string bytes, std::minstd_rand& random) {
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 5);
        break;
      case 2:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 20));
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
        break;
    }
  }
  return bytes;
}

void converse(TestServer& server, const std::string& bytes, std::minstd_rand& random) {
  Http1Client client(server.port());
  const std::size_t cut = random() % (bytes.size() + 1);
  client.send(bytes.substr(0, cut));
  client.send(bytes.substr(cut));
  client.shut_down_write();
  client.read_to_end();
}

TEST(MutationTest, SurvivesDamagedHttp1) {
  TestServer server;
  std::minstd_rand random(1);
  const std::string conversation =
      http1_request("POST", "/a", "first", "Expect: 100-continue\r\n") +
      "POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3;a=b\r\nsec\r\n3\r\nond\r\n"
      "0\r\nTrailer: 1\r\n\r\n" +
      http1_request("GET", "/c", "", "Connection: keep-alive\r\n") + "HEAD /d HTTP/1.0\r\n\r\n";
  for (int i = 0; i < kConversations; ++i) converse(server, damaged(conversation, random), random);
  EXPECT_EQ(Http1Client(server.port()).get("/").status, 200);
}

// What nghttp2's client writes for some requests.
std::string http2_conversation() {
  TestServer server;
  Http2Client client(server.port());
  std::string bytes;
  client.submit("POST", "/a", "first");
  const std::int32_t open = client.submit("POST", "/b", std::string(3000, 'x'), {}, true);
  client.ping();
  nghttp2_submit_window_update(client.raw(), NGHTTP2_FLAG_NONE, open, 1000);
  nghttp2_submit_rst_stream(client.raw(), NGHTTP2_FLAG_NONE, open, NGHTTP2_CANCEL);
  client.submit("GET", "/c", "", {{"te", "trailers"}});
  for (;;) {
    const std::uint8_t* data;
    const ssize_t size = nghttp2_session_mem_send(client.raw(), &data);
    if (size <= 0) break;
    bytes.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  return bytes;
}

TEST(MutationTest, SurvivesDamagedHttp2) {
  TestServer server;
  std::minstd_rand random(1);
  const std::string conversation = http2_conversation();
  const std::string preface = conversation.substr(0, 24);
  for (int i = 0; i < kConversations; ++i) {
    converse(server, preface + damaged(conversation.substr(24), random), random);
  }
  Http2Client client(server.port());
  EXPECT_EQ(client.post("/", "x").status, 200);
}

}  // namespace
}  // namespace proa::net
