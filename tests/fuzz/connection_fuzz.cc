// A whole conversation with a server on a socket. The first byte says whether HTTP/2's preface
// comes in front (bit 0), how the handler takes bodies and answers (bits 1 to 3) and, with the
// second byte, where the bytes are cut into two sends. The server must end the connection after the
// client has, and must not fall. Coverage counts the loop's thread too.
#include <atomic>
#include <memory>
#include <string>

#include "base/check.h"
#include "input.h"
#include "net/loop_group.h"
#include "net/testing/http1_client.h"

namespace {

using namespace proa;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Sends the body back, whole or in parts.
class EchoHandler final : public net::ExchangeHandler {
 public:
  explicit EchoHandler(std::uint8_t form) : form_(form) {}

  void on_head(net::Exchange& exchange, const net::RequestHead& head) override {
    exchange_ = &exchange;
    if (head.target == "/refuse") answer(400);
    if (in_parts()) exchange.send_headers(200, {});
  }
  std::span<std::byte> body_target(std::size_t wanted) override {
    if ((form_ & 4) == 0) return {};
    const std::size_t at = body_.size();
    body_.resize(at + std::min<std::size_t>(wanted, 64 << 10));
    return std::as_writable_bytes(std::span(body_)).subspan(at);
  }
  void on_data(std::span<const std::byte> data) override {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    if (manual_flow_control()) exchange_->consume(data.size());
    if (!in_parts()) {
      body_ += text;
      return;
    }
    net::Segment parts[] = {{std::string(text), {}}};
    exchange_->send_data(parts);
  }
  void on_end() override {
    if (in_parts()) {
      const net::Header trailers[] = {{"grpc-status", "0"}};
      exchange_->end(trailers);
    } else {
      answer(200);
    }
  }
  void on_close(net::CloseReason) override {}
  bool manual_flow_control() const override { return (form_ & 8) != 0; }

 private:
  bool in_parts() const { return (form_ & 2) != 0; }
  void answer(int status) {
    net::Segment parts[] = {{std::move(body_), {}}};
    exchange_->respond(status, {}, parts);
  }

  const std::uint8_t form_;
  net::Exchange* exchange_ = nullptr;
  std::string body_;
};

class Server {
 public:
  Server() : group_({.loops = 1, .tick = std::chrono::milliseconds(5)}) {
    net::ListenerOptions options;
    options.address = "127.0.0.1";
    options.limits.max_body_bytes = 1 << 20;
    options.factory = [this](const net::RequestHead&) {
      return std::make_unique<EchoHandler>(form_);
    };
    const auto opened = group_.listen(std::move(options));
    PROA_CHECK(opened.has_value(), "a free port on 127.0.0.1");
    port_ = (*opened)->port();
  }
  std::uint16_t port() const { return port_; }
  void set_form(std::uint8_t form) { form_ = form; }

 private:
  std::atomic<std::uint8_t> form_ = 0;
  net::LoopGroup group_;
  std::uint16_t port_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  fuzz::Input input(data, size);
  const std::uint8_t form = input.byte();
  const std::size_t cut = input.byte();
  const std::string bytes =
      std::string((form & 1) != 0 ? kPreface : "") + std::string(input.rest());
  server.set_form(form);
  net::Http1Client client(server.port());
  client.send(bytes.substr(0, cut));
  if (cut < bytes.size()) client.send(bytes.substr(cut));
  client.shut_down_write();
  client.read_to_end();
  return 0;
}
