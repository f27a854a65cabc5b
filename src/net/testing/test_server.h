#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "net/exchange.h"
#include "net/loop_group.h"

namespace proa::net {

// A request as a test's handler sees it once its body has come.
struct TestRequest {
  std::string method;
  std::string target;
  std::string authority;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  int http_major = 0;

  std::string header(std::string_view name) const;
};

// What happened to the exchanges of a TestServer, for tests to wait on. Threading: thread-safe.
class EventLog {
 public:
  void add(std::string event) PROA_EXCLUDES(mutex_);
  // Blocks until `event` has happened; false after ten seconds.
  bool wait_for(std::string_view event) PROA_EXCLUDES(mutex_);
  bool has(std::string_view event) PROA_EXCLUDES(mutex_);
  std::size_t count(std::string_view event) PROA_EXCLUDES(mutex_);

 private:
  std::size_t count_locked(std::string_view event) const PROA_REQUIRES(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> events_ PROA_GUARDED_BY(mutex_);
};

// Loops and one listener on a free port of 127.0.0.1. `answer` is called on the loop's thread for
// every whole request; without it the body is sent back. The log gets "head TARGET", "end TARGET"
// (after `answer`), "writable TARGET", "finished TARGET", "client reset TARGET" and "server abort
// TARGET".
class TestServer {
 public:
  using Answer = std::function<void(Exchange&, TestRequest&)>;
  struct Options {
    Answer answer;
    Limits limits;
    int loops = 1;
    bool body_target = true;
    bool manual_flow_control = false;
    bool expects_http2 = false;
    bool awaits_rest = false;
    // Called when the head has come; may respond.
    std::function<void(Exchange&, const RequestHead&)> head;
    std::function<void(Exchange&, std::span<const std::byte>)> data;
    LoopGroup::Options group{.loops = 1, .tick = std::chrono::milliseconds(5)};
  };

  TestServer() : TestServer(Options()) {}
  explicit TestServer(Options options);

  std::uint16_t port() const { return listener_->port(); }
  LoopGroup& group() { return *group_; }
  Listener& listener() { return *listener_; }
  EventLog& log() { return log_; }

 private:
  class Handler;
  Options options_;
  EventLog log_;
  std::unique_ptr<LoopGroup> group_;
  Listener* listener_ = nullptr;
};

// Responds 200 with `body`.
void respond_text(Exchange& exchange, std::string body, int status = 200);

}  // namespace proa::net
