#include <optional>
#include <utility>

#include "fmt/format.h"
#include "loadgen/clients/answer.h"
#include "loadgen/clients/http_connection.h"
#include "loadgen/control/control.h"
#include "protocol/model_path.h"

namespace proa::loadgen {
namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 404:
      return ErrorCode::kNotFound;
    case 405:
    case 501:
      return ErrorCode::kUnimplemented;
    case 503:
      return ErrorCode::kUnavailable;
    default:
      return status < 500 ? ErrorCode::kInvalidArgument : ErrorCode::kInternal;
  }
}

// A blocking client over one connection.
class HttpGetter final : private HttpConnection::Owner {
 public:
  HttpGetter(const Address& address, std::vector<std::string> headers)
      : address_(address), headers_(std::move(headers)), connection_(loop_, address, *this) {}

  Status open() { return loop_.open(); }

  // The body of a 200.
  Result<std::string> get(std::string_view path) {
    std::string request =
        fmt::format("GET {}{} HTTP/1.1\r\nHost: {}\r\n", address_.prefix, path, address_.authority);
    for (const std::string& header : headers_) request += header + "\r\n";
    request += "\r\n";
    done_ = false;
    failure_.reset();
    connection_.send(request, HttpResponseReader::Keep::kAll);
    const TimePoint limit = steady_clock().now() + kControlTimeout;
    while (!done_ && steady_clock().now() < limit) loop_.run_once(limit);
    if (!done_) {
      connection_.close();
      return error::deadline_exceeded("the server at {} did not answer {} within {} s",
                                      address_.authority, path, kControlTimeout.count());
    }
    if (failure_) {
      return error::unavailable("the server cannot be asked: {}", failure_->message);
    }
    const HttpResponseReader& reply = connection_.reply();
    if (reply.status() == 200) return reply.body();
    std::string text = http_error_text(reply.body());
    if (text.empty()) text = fmt::format("HTTP {}", reply.status());
    return Error{code_of(reply.status()), std::move(text)};
  }

 private:
  void connected(HttpConnection&) override {}
  void replied(HttpConnection&) override { done_ = true; }
  void failed(HttpConnection&, Failure failure, bool) override {
    failure_ = std::move(failure);
    done_ = true;
  }

  const Address& address_;
  const std::vector<std::string> headers_;
  Loop loop_;
  HttpConnection connection_;
  bool done_ = false;
  std::optional<Failure> failure_;
};

class HttpControl final : public ControlChannel {
 public:
  HttpControl(const Address& address, std::vector<std::string> headers)
      : getter_(address, std::move(headers)) {}
  Status open() { return getter_.open(); }

  Result<std::string> ask(Question question, std::string_view model,
                          std::string_view version) override {
    switch (question) {
      case Question::kServerMetadata:
        return getter_.get("/v2");
      case Question::kModelMetadata:
        return getter_.get(protocol::model_path(model, version));
      case Question::kModelConfig:
        return getter_.get(protocol::model_path(model, version) + "/config");
      case Question::kModelStatistics:
        break;
    }
    return getter_.get(protocol::model_path(model, version) + "/stats");
  }

 private:
  HttpGetter getter_;
};

}  // namespace

Result<std::unique_ptr<ControlChannel>> make_http_control(const Address& address,
                                                          std::vector<std::string> headers) {
  auto control = std::make_unique<HttpControl>(address, std::move(headers));
  PROA_TRY(control->open());
  return std::unique_ptr<ControlChannel>(std::move(control));
}

Result<std::string> fetch_metrics(const Address& address) {
  Address host = address;
  host.prefix.clear();
  HttpGetter getter(host, {});
  PROA_TRY(getter.open());
  return getter.get(address.prefix.empty() ? "/metrics" : address.prefix);
}

}  // namespace proa::loadgen
