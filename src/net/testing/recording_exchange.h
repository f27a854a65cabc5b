#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/exchange.h"

namespace proa::net {

// An Exchange without a socket: keeps what a handler answers, for tests of handlers.
//
//   EventLoop loop;
//   loop.poll();  // makes this thread the loop's thread
//   RecordingExchange exchange(loop);
//   handler->on_head(exchange, head); handler->on_data(...); handler->on_end();
//   loop.poll();  // runs answers posted from other threads
//   EXPECT_EQ(exchange.status, 200);
//
// Threading: confined to the test's thread.
class RecordingExchange final : public Exchange {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  using Exchange::Exchange;

  std::string_view peer() override { return "127.0.0.1:1"; }

  void respond(int code, std::span<const Header> with, std::span<Segment> parts) override {
    if (ended) return;
    send_headers(code, with);
    send_data(parts);
    ended = true;
  }
  void send_headers(int code, std::span<const Header> with) override {
    status = code;
    headers = copy(with);
  }
  void send_data(std::span<Segment> parts) override {
    for (Segment& part : parts) {
      body += part.bytes;
      body.append(reinterpret_cast<const char*>(part.view.data()), part.view.size);
      part = Segment();
    }
  }
  void end(std::span<const Header> with) override {
    trailers = copy(with);
    ended = true;
  }
  std::size_t unsent_bytes() const override { return unsent; }
  void reset(std::uint32_t http2_error) override { reset_code = http2_error; }
  void consume(std::size_t bytes) override { consumed += bytes; }

  // The client is gone: handles come out null from now on. Calls on_close() as a connection would.
  void close(ExchangeHandler& handler, CloseReason reason) {
    detach();
    handler.on_close(reason);
  }

  int status = 0;
  Headers headers;
  std::string body;
  Headers trailers;
  bool ended = false;
  std::optional<std::uint32_t> reset_code;
  std::size_t consumed = 0;
  std::size_t unsent = 0;  // what unsent_bytes() says

 private:
  static Headers copy(std::span<const Header> from) {
    Headers to;
    for (const Header& header : from) to.emplace_back(header.name, header.value);
    return to;
  }
};

}  // namespace proa::net
