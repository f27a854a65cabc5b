#include "net/testing/test_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace proa::net {

std::string TestRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

void EventLog::add(std::string event) {
  MutexLock lock(mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
}

bool EventLog::wait_for(std::string_view event) {
  const TimePoint deadline = steady_clock().now() + std::chrono::seconds(10);
  MutexLock lock(mutex_);
  while (count_locked(event) == 0) {
    if (steady_clock().now() >= deadline) return false;
    changed_.wait_until(mutex_, deadline);
  }
  return true;
}

bool EventLog::has(std::string_view event) { return count(event) > 0; }

std::size_t EventLog::count(std::string_view event) {
  MutexLock lock(mutex_);
  return count_locked(event);
}

std::size_t EventLog::count_locked(std::string_view event) const {
  return static_cast<std::size_t>(std::ranges::count(events_, event));
}

class TestServer::Handler final : public ExchangeHandler {
 public:
  explicit Handler(TestServer& server) : server_(server) {}

  void on_head(Exchange& exchange, const RequestHead& head) override {
    exchange_ = &exchange;
    request_.method = head.method;
    request_.target = head.target;
    request_.authority = head.authority;
    request_.http_major = head.http_major;
    for (const Header& header : head.headers) {
      request_.headers.emplace_back(header.name, header.value);
    }
    log("head ");
    if (server_.options_.head) server_.options_.head(exchange, head);
  }

  std::span<std::byte> body_target(std::size_t wanted) override {
    if (!server_.options_.body_target) return {};
    const std::size_t at = request_.body.size();
    PROA_CHECK(at == filled_, "the last target must be full");
    request_.body.resize(at + wanted);
    return std::as_writable_bytes(std::span(request_.body)).subspan(at);
  }
  void on_filled(std::size_t bytes) override { filled_ += bytes; }

  void on_data(std::span<const std::byte> data) override {
    if (server_.options_.data) return server_.options_.data(*exchange_, data);
    request_.body.append(reinterpret_cast<const char*>(data.data()), data.size());
  }

  void on_end() override {
    if (server_.options_.answer) {
      server_.options_.answer(*exchange_, request_);
    } else {
      respond_text(*exchange_, std::move(request_.body));
    }
    log("end ");
  }

  void on_writable() override { log("writable "); }

  void on_close(CloseReason reason) override {
    switch (reason) {
      case CloseReason::kFinished:
        return log("finished ");
      case CloseReason::kClientReset:
        return log("client reset ");
      case CloseReason::kServerAbort:
        return log("server abort ");
    }
  }

  bool awaits_rest() const override { return server_.options_.awaits_rest; }
  bool manual_flow_control() const override { return server_.options_.manual_flow_control; }

 private:
  void log(const char* what) { server_.log_.add(what + request_.target); }

  TestServer& server_;
  Exchange* exchange_ = nullptr;
  TestRequest request_;
  std::size_t filled_ = 0;
};

TestServer::TestServer(Options options) : options_(std::move(options)) {
  options_.group.loops = options_.loops;
  group_ = std::make_unique<LoopGroup>(options_.group);
  ListenerOptions listener;
  listener.address = "127.0.0.1";
  listener.limits = options_.limits;
  listener.expects_http2 = options_.expects_http2;
  listener.factory = [this](const RequestHead&) { return std::make_unique<Handler>(*this); };
  auto opened = group_->listen(std::move(listener));
  PROA_CHECK(opened.has_value(), "a free port on 127.0.0.1");
  listener_ = *opened;
}

void respond_text(Exchange& exchange, std::string body, int status) {
  const Header headers[] = {{"content-type", "text/plain"}};
  Segment parts[] = {{std::move(body), {}}};
  exchange.respond(status, headers, parts);
}

}  // namespace proa::net
