#include "http_client.h"

#include <cstring>
#include <memory>

#include "base/text.h"
#include "boost/asio/connect.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/beast/core/flat_buffer.hpp"
#include "boost/beast/core/tcp_stream.hpp"
#include "boost/beast/http.hpp"

namespace proa {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::string_view kJsonSizeHeader = "Inference-Header-Content-Length";
constexpr std::uint64_t kMaxReplyBytes = std::uint64_t{4} << 30;

HttpReply take_reply(const http::response<http::string_body>& response) {
  HttpReply reply;
  reply.status = response.result_int();
  if (const auto header = response.find(kJsonSizeHeader); header != response.end()) {
    const std::string_view text(header->value().data(), header->value().size());
    reply.json_size = parse_number<std::size_t>(text).value_or(0);
  }
  const std::string& body = response.body();
  reply.body = host_memory().allocate(body.size());
  if (!body.empty()) std::memcpy(reply.body.data(), body.data(), body.size());
  return reply;
}

bool is_http_error(const beast::error_code& failure) {
  return failure.category() == http::make_error_code(http::error::bad_version).category() &&
         failure != http::error::end_of_stream;
}

}  // namespace

std::string ServerAddress::url() const {
  const bool colons = host.contains(':');
  return fmt::format("http://{}{}{}:{}{}", colons ? "[" : "", host, colons ? "]" : "", port,
                     prefix);
}

bool ServerAddress::is_loopback() const {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<ServerAddress> parse_server_url(std::string_view url) {
  const std::string_view whole = url;
  if (url.starts_with("https://")) {
    return error::unimplemented("{}: https is not supported; use http", whole);
  }
  if (url.starts_with("http://")) url.remove_prefix(7);
  ServerAddress address{.port = "8000"};
  const auto slash = url.find('/');
  if (slash != std::string_view::npos) {
    address.prefix = url.substr(slash);
    while (address.prefix.ends_with('/')) address.prefix.pop_back();
    url = url.substr(0, slash);
  }
  const auto bracket = url.rfind(']');
  const auto colon = url.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    address.port = url.substr(colon + 1);
    url = url.substr(0, colon);
  }
  if (url.starts_with('[') && url.ends_with(']')) url = url.substr(1, url.size() - 2);
  address.host = url;
  const auto port = parse_number<int>(address.port);
  if (address.host.empty() || !port || *port < 1 || *port > 65535) {
    return error::invalid_argument("{} is no server address; write http://HOST:PORT", whole);
  }
  return address;
}

// Beast's asynchronous calls, because only they know time-outs; run() starts one and waits for it.
class HttpClient::Connection {
 public:
  explicit Connection(std::chrono::milliseconds timeout) : timeout_(timeout), stream_(context_) {}

  beast::error_code connect(const ServerAddress& server) {
    beast::error_code failure;
    asio::ip::tcp::resolver resolver(context_);
    const auto endpoints = resolver.resolve(server.host, server.port, failure);
    if (failure) return failure;
    run([&] {
      stream_.async_connect(endpoints, [&](beast::error_code e, const auto&) { failure = e; });
    });
    if (!failure) stream_.socket().set_option(asio::ip::tcp::no_delay(true), failure);
    return failure;
  }

  beast::error_code exchange(const http::request<http::string_body>& request,
                             http::response_parser<http::string_body>& response) {
    beast::error_code failure;
    run([&] {
      http::async_write(stream_, request, [&](beast::error_code e, std::size_t) { failure = e; });
    });
    if (failure) return failure;
    run([&] {
      http::async_read(stream_, buffer_, response,
                       [&](beast::error_code e, std::size_t) { failure = e; });
    });
    return failure;
  }

 private:
  template <class Start>
  void run(Start start) {
    stream_.expires_after(timeout_);
    start();
    context_.restart();
    context_.run();
    stream_.expires_never();
  }

  const std::chrono::milliseconds timeout_;
  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
};

HttpClient::HttpClient(ServerAddress server, std::chrono::milliseconds timeout)
    : server_(std::move(server)), timeout_(timeout) {}
HttpClient::~HttpClient() = default;

Result<HttpReply> HttpClient::get(std::string_view path) { return send("GET", path, {}, 0); }

Result<HttpReply> HttpClient::post(std::string_view path, std::string body, std::size_t json_size) {
  return send("POST", path, std::move(body), json_size);
}

Result<HttpReply> HttpClient::send(std::string_view method, std::string_view path, std::string body,
                                   std::size_t json_size) {
  http::request<http::string_body> request;
  request.method_string({method.data(), method.size()});
  request.target(server_.prefix + std::string(path));
  request.set(http::field::host, server_.host + ":" + server_.port);
  request.set(http::field::user_agent, "proa");
  if (json_size > 0) request.set(kJsonSizeHeader, std::to_string(json_size));
  request.body() = std::move(body);
  request.prepare_payload();

  refused_ = false;
  const auto failed = [&](const beast::error_code& failure) {
    connection_.reset();
    refused_ = failure == asio::error::connection_refused;
    const std::string where = fmt::format("{}:{}", server_.host, server_.port);
    if (failure == beast::error::timeout) {
      return error::deadline_exceeded("the server at {} did not answer within {} ms", where,
                                      timeout_.count());
    }
    if (is_http_error(failure)) {
      return error::unavailable(
          "the server at {} does not answer in HTTP/1.1 ({}); is that the port for gRPC?", where,
          failure.message());
    }
    return error::unavailable("the server at {} cannot be asked: {}", where, failure.message());
  };
  // An idle connection may have been closed by the server: one new attempt.
  for (bool reused = connection_ != nullptr;; reused = false) {
    if (connection_ == nullptr) {
      connection_ = std::make_unique<Connection>(timeout_);
      if (const auto failure = connection_->connect(server_)) return failed(failure);
    }
    http::response_parser<http::string_body> response;
    response.body_limit(kMaxReplyBytes);
    const auto failure = connection_->exchange(request, response);
    if (!failure) {
      if (!response.keep_alive()) connection_.reset();
      return take_reply(response.get());
    }
    if (!reused || failure == beast::error::timeout) return failed(failure);
    connection_.reset();
  }
}

}  // namespace proa
