#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/exchange.h"
#include "net/testing/recording_exchange.h"

namespace proa::frontends {

// One request played into a handler without a socket, the way a connection does it. Feeds HTTP/1.1
// bodies with a length into body_target(), everything else into on_data().
// Threading: confined to the test's thread, which is the loop's.
class ExchangeDriver {
 public:
  struct Head {
    std::string method = "GET";
    std::string target = "/";
    std::vector<std::pair<std::string, std::string>> headers = {};
    int http_major = 1;
    std::int64_t content_length = -1;
  };

  ExchangeDriver(net::EventLoop& loop, const net::HandlerFactory& factory, const Head& head)
      : exchange(loop), in_place_(head.http_major == 1 && head.content_length > 0) {
    net::RequestHead net_head{.method = head.method,
                              .target = head.target,
                              .authority = "localhost",
                              .http_major = head.http_major,
                              .content_length = head.content_length};
    std::vector<net::Header> headers;
    for (const auto& [name, value] : head.headers) headers.push_back({name, value});
    net_head.headers = headers;
    missing_ = static_cast<std::size_t>(std::max<std::int64_t>(head.content_length, 0));
    handler_ = factory(net_head);
    handler_->on_head(exchange, net_head);
  }
  ~ExchangeDriver() { close(net::CloseReason::kFinished); }

  // The next bytes of the body.
  void data(std::string_view bytes) {
    while (in_place_ && !bytes.empty() && !exchange.ended) {
      const auto target = handler_->body_target(missing_);
      if (target.empty()) break;
      const std::size_t n = std::min(target.size(), bytes.size());
      std::copy_n(bytes.data(), n, reinterpret_cast<char*>(target.data()));
      handler_->on_filled(n);
      missing_ -= n;
      bytes.remove_prefix(n);
    }
    if (!bytes.empty() && !exchange.ended) handler_->on_data(std::as_bytes(std::span(bytes)));
  }
  void end() {
    if (!exchange.ended) handler_->on_end();
  }
  void writable() { handler_->on_writable(); }

  // The exchange is over: the handler is told, and destroyed.
  void close(net::CloseReason reason) {
    if (handler_ == nullptr) return;
    exchange.close(*handler_, reason);
    handler_.reset();
  }

  // A header or trailer of the answer.
  std::optional<std::string> header(std::string_view name) const {
    return find(exchange.headers, name);
  }
  std::optional<std::string> trailer(std::string_view name) const {
    const auto value = find(exchange.trailers, name);
    return value ? value : header(name);  // trailers-only answers
  }

  net::RecordingExchange exchange;

 private:
  static std::optional<std::string> find(const net::RecordingExchange::Headers& headers,
                                         std::string_view name) {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return std::nullopt;
  }

  std::unique_ptr<net::ExchangeHandler> handler_;
  bool in_place_;
  std::size_t missing_ = 0;
};

}  // namespace proa::frontends
