#include "base/stamped_receive.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace proa {
namespace {

// Two ends of a TCP connection on loopback.
struct Connection {
  Connection() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener, generic, size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, generic, &size), 0);
    sender = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(sender, generic, size), 0);
    receiver = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  }
  ~Connection() {
    ::close(sender);
    ::close(receiver);
  }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(sender, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void await_bytes() const {
    pollfd wanted{.fd = receiver, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&wanted, 1, -1), 1);
  }

  int sender = -1;
  int receiver = -1;
};

TEST(StampedReceiveTest, TellsWhenBytesCameNotWhenTheyWereRead) {
  const Connection connection;
  stamp_arrivals(connection.receiver);
  std::array<std::byte, 16> buffer;
  // The kernel begins to stamp soon after the first socket asks for it.
  bool stamped = false;
  for (int i = 0; i < 1000 && !stamped; ++i) {
    const TimePoint before = steady_clock().now();
    connection.send("abc");
    connection.await_bytes();
    const TimePoint there = steady_clock().now();
    while (steady_clock().now() < there + std::chrono::milliseconds(2)) {
    }
    const StampedReceive got = receive_stamped(connection.receiver, buffer);
    EXPECT_EQ(got.size, 3);
    EXPECT_EQ(buffer[0], std::byte{'a'});
    EXPECT_GE(got.arrived, before - std::chrono::microseconds(50));  // two clocks
    stamped = got.arrived < there + std::chrono::microseconds(50);
  }
  EXPECT_TRUE(stamped);
}

TEST(StampedReceiveTest, WorksWithoutStamps) {
  const Connection connection;
  std::array<std::byte, 16> buffer;
  EXPECT_EQ(receive_stamped(connection.receiver, buffer).size, -1);
  EXPECT_EQ(errno, EAGAIN);
  const TimePoint before = steady_clock().now();
  connection.send("abc");
  connection.await_bytes();
  EXPECT_GE(receive_stamped(connection.receiver, buffer).arrived, before);
}

}  // namespace
}  // namespace proa
