#include "base/stamped_receive.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>

namespace proa {
namespace {

// The kernel stamps by the wall clock; what it says becomes a moment of the monotonic one.
TimePoint to_steady(const timespec& stamp) {
  const TimePoint now = steady_clock().now();
  timespec wall{};
  ::clock_gettime(CLOCK_REALTIME, &wall);
  const Duration ago = std::chrono::seconds(wall.tv_sec - stamp.tv_sec) +
                       std::chrono::nanoseconds(wall.tv_nsec - stamp.tv_nsec);
  return now - std::max(ago, Duration(0));
}

std::optional<timespec> stamp_of(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPING) continue;
    scm_timestamping stamps{};
    std::memcpy(&stamps, CMSG_DATA(part), sizeof stamps);
    const timespec& by_software = stamps.ts[0];
    if (by_software.tv_sec != 0) return by_software;
  }
  return std::nullopt;
}

}  // namespace

void stamp_arrivals(int socket) {
  const int wanted = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  ::setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPING, &wanted, sizeof wanted);
}

StampedReceive receive_stamped(int socket, std::span<std::byte> into) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(scm_timestamping))];
  iovec bytes{.iov_base = into.data(), .iov_len = into.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &message, MSG_DONTWAIT);
  if (size <= 0) return {size, steady_clock().now()};
  const std::optional<timespec> stamp = stamp_of(message);
  return {size, stamp ? to_steady(*stamp) : steady_clock().now()};
}

}  // namespace proa
