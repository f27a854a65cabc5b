// A KServe v2 server on HTTP/1.1 and gRPC with one model whose delays are scripted. One thread, an
// epoll loop with nanosecond timeouts. For each inference it notes when the request's last byte
// reached its socket and when the answer was handed to the kernel, and writes that to --log at the
// end (SIGTERM).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/stamped_receive.h"
#include "fmt/format.h"
#include "http1_session.h"
#include "http2_session.h"
#include "timeline.h"

namespace proa::scripted {
namespace {

volatile sig_atomic_t stop_asked = 0;

struct Connection {
  int socket = -1;
  std::unique_ptr<Host> host;
  std::unique_ptr<Session> session;
};

struct PlannedAnswer {
  TimePoint due;
  std::uint64_t connection;
  std::uint32_t request;
  TimePoint came;
  bool operator>(const PlannedAnswer& other) const { return due > other.due; }
};

struct LogEntry {
  TimePoint came, answered;
};

class Server {
 public:
  Server(const Script& script, int fail_every)
      : timeline_(script), fail_every_(fail_every), epoll_(epoll_create1(0)) {
    log_.reserve(1 << 20);
  }

  // Returns the port.
  int listen_on_loopback(bool grpc) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    PROA_CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind failed");
    PROA_CHECK(listen(listener, SOMAXCONN) == 0, "listen failed");
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    (grpc ? grpc_listener_ : http_listener_) = listener;
    watch(listener, static_cast<std::uint64_t>(listener));
    return ntohs(address.sin_port);
  }

  void run() {
    sigset_t wait_mask;
    sigemptyset(&wait_mask);
    std::array<epoll_event, 64> events;
    while (stop_asked == 0) {
      const timespec timeout = time_to_next();
      const int count = epoll_pwait2(epoll_, events.data(), events.size(),
                                     planned_.empty() ? nullptr : &timeout, &wait_mask);
      for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)]);
      answer_due();
    }
  }

  void write_log(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    PROA_CHECK(file != nullptr, "the log cannot be written");
    for (const LogEntry& entry : log_) {
      fmt::print(file, "{} {}\n", entry.came.time_since_epoch().count(),
                 entry.answered.time_since_epoch().count());
    }
    std::fclose(file);
  }

 private:
  // Connections are known by numbers from here; below are the listeners' descriptors.
  static constexpr std::uint64_t kFirstConnection = 1 << 20;

  struct ConnectionHost : Host {
    ConnectionHost(Server& server, std::uint64_t id) : server(server), id(id) {}
    void inference_came(std::uint32_t request) override {
      const TimePoint came = server.arrived_;
      server.planned_.push({server.timeline_.answer_at(came), id, request, came});
    }
    Server& server;
    std::uint64_t id;
  };

  void watch(int descriptor, std::uint64_t id) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
    PROA_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll failed");
  }

  timespec time_to_next() const {
    if (planned_.empty()) return {};
    const Duration left = std::max(Duration(0), planned_.top().due - steady_clock().now());
    return {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  }

  void handle(const epoll_event& event) {
    if (event.data.u64 < kFirstConnection) {
      accept_all(static_cast<int>(event.data.u64));
    } else {
      read_some(event.data.u64);
    }
  }

  void accept_all(int listener) {
    int socket = -1;
    while ((socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      stamp_arrivals(socket);
      const std::uint64_t id = next_id_++;
      Connection& connection = connections_[id];
      connection.socket = socket;
      connection.host = std::make_unique<ConnectionHost>(*this, id);
      if (listener == grpc_listener_) {
        connection.session = std::make_unique<Http2Session>(*connection.host);
      } else {
        connection.session = std::make_unique<Http1Session>(*connection.host);
      }
      watch(socket, id);
    }
  }

  void read_some(std::uint64_t id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    const auto [size, arrived] = receive_stamped(connection.socket, buffer_);
    if (size < 0 && errno == EAGAIN) return;
    arrived_ = arrived;
    const bool alive =
        size > 0 && connection.session->read({reinterpret_cast<const char*>(buffer_.data()),
                                              static_cast<std::size_t>(size)});
    if (!alive || !send_out(connection)) close_connection(id);
  }

  // What the socket does not take at once would need waiting for; answers here are small and
  // clients read, so that ends the connection.
  bool send_out(Connection& connection) {
    std::string& out = connection.session->out;
    if (out.empty()) return true;
    const bool sent = ::send(connection.socket, out.data(), out.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(out.size());
    out.clear();
    return sent;
  }

  void close_connection(std::uint64_t id) {
    ::close(connections_[id].socket);
    connections_.erase(id);
  }

  void answer_due() {
    while (!planned_.empty() && planned_.top().due <= steady_clock().now()) {
      const PlannedAnswer answer = planned_.top();
      planned_.pop();
      const auto found = connections_.find(answer.connection);
      if (found == connections_.end()) continue;  // the client left
      ++answered_;
      const bool fail = fail_every_ > 0 && answered_ % fail_every_ == 0;
      found->second.session->answer(answer.request, fail);
      if (!fail) log_.push_back({answer.came, steady_clock().now()});
      if (!send_out(found->second)) close_connection(answer.connection);
    }
  }

  Timeline timeline_;
  int fail_every_;
  int epoll_;
  int http_listener_ = -1;
  int grpc_listener_ = -1;
  std::uint64_t next_id_ = kFirstConnection;
  std::int64_t answered_ = 0;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::priority_queue<PlannedAnswer, std::vector<PlannedAnswer>, std::greater<>> planned_;
  std::vector<LogEntry> log_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 20);
  TimePoint arrived_;  // of the bytes in hand
};

void ask_stop(int) { stop_asked = 1; }

// Signals come only while the loop waits.
void catch_signals() {
  sigset_t caught;
  sigemptyset(&caught);
  sigaddset(&caught, SIGTERM);
  sigaddset(&caught, SIGINT);
  sigprocmask(SIG_BLOCK, &caught, nullptr);
  struct sigaction action{};
  action.sa_handler = ask_stop;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

Duration from_us(double us) { return Duration(static_cast<std::int64_t>(us * 1e3)); }

}  // namespace
}  // namespace proa::scripted

int main(int argc, char** argv) {
  using namespace proa::scripted;
  double service_us = 5000, second_us = 0, stall_ms = 0, stall_every_ms = 5000;
  Script script;
  int fail_every = 0;
  std::string log;
  CLI::App app("A KServe v2 server with scripted delays; prints its ports and runs until SIGTERM.");
  app.add_option("--service-us", service_us, "How long a request takes");
  app.add_option("--second-us", second_us, "How long some of them take");
  app.add_option("--second-share", script.second_share, "Which share, 0..1");
  app.add_option("--slots", script.slots, "How many are served at once; 0: all");
  app.add_option("--stall-ms", stall_ms, "No answers during the last so many ms of a period");
  app.add_option("--stall-every-ms", stall_every_ms, "The period");
  app.add_option("--fail-every", fail_every, "Every so manyth request fails; 0: none");
  app.add_option("--log", log, "File for the instants of each success: came, answered, in ns");
  CLI11_PARSE(app, argc, argv);
  script.service = from_us(service_us);
  script.second_service = from_us(second_us);
  script.stall = from_us(stall_ms * 1e3);
  script.stall_every = from_us(stall_every_ms * 1e3);
  prctl(PR_SET_TIMERSLACK, 1);
  catch_signals();
  Server server(script, fail_every);
  const int http = server.listen_on_loopback(false);
  fmt::print("http {} grpc {}\n", http, server.listen_on_loopback(true));
  std::fflush(stdout);
  server.run();
  if (!log.empty()) server.write_log(log);
  return 0;
}
