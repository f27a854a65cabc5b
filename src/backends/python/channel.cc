#include "backends/python/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/python/wire.h"

namespace proa::backends::python {
namespace {

constexpr timeval kReceiveTimeout{.tv_sec = 0, .tv_usec = 500'000};
constexpr std::chrono::milliseconds kRetry{1};
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kMostBlocksPerPacket);

}  // namespace

Result<Channel::Pair> Channel::create(Timer& timer) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return error::resource_exhausted("no socket for a Python worker: {}", std::strerror(errno));
  }
  OwnedFd ours(ends[0]), theirs(ends[1]);
  ::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout, sizeof kReceiveTimeout);
  return Pair{std::shared_ptr<Channel>(new Channel(std::move(ours), timer)), std::move(theirs)};
}

Channel::Channel(OwnedFd socket, Timer& timer)
    : socket_(std::move(socket)), timer_(timer), received_(kMostPacketBytes) {}

void Channel::send(std::span<const std::span<const std::byte>> parts, Blocks blocks) {
  {
    MutexLock lock(mutex_);
    if (flushing_ || !waiting_.empty()) {
      Waiting& last = waiting_.emplace_back();
      for (const auto part : parts) {
        last.bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
      }
      last.blocks = std::move(blocks);
      return;
    }
    flushing_ = true;
  }
  iovec vector[4];
  std::size_t count = 0;
  for (const auto part : parts) {
    vector[count++] = {const_cast<std::byte*>(part.data()), part.size()};
  }
  const bool sent = try_send({vector, count}, blocks);
  {
    MutexLock lock(mutex_);
    flushing_ = false;
    if (!sent) {
      Waiting& first = waiting_.emplace_front();
      for (const auto part : parts) {
        first.bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
      }
      first.blocks = std::move(blocks);
    }
    if (waiting_.empty()) return;
  }
  if (sent) {
    flush();
  } else {
    flush_later();
  }
}

bool Channel::try_send(std::span<iovec> parts, const Blocks& blocks) {
  alignas(cmsghdr) char control[kControlBytes];
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!blocks.empty()) {
    std::memset(control, 0, sizeof control);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * blocks.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const int fd = blocks[i]->fd();
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &fd, sizeof fd);
    }
  }
  while (true) {
    if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
    if (errno == EINTR) continue;
    // ETOOMANYREFS: more descriptors on their way than a user may have.
    return errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS && errno != ENOMEM;
  }
}

void Channel::flush() {
  while (true) {
    Waiting next;
    {
      MutexLock lock(mutex_);
      if (flushing_ || waiting_.empty()) return;
      flushing_ = true;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    iovec part{next.bytes.data(), next.bytes.size()};
    const bool sent = try_send({&part, 1}, next.blocks);
    {
      MutexLock lock(mutex_);
      flushing_ = false;
      if (!sent) waiting_.push_front(std::move(next));
    }
    if (!sent) return flush_later();
  }
}

void Channel::flush_later() {
  timer_.schedule(deadline_after(steady_clock().now(), kRetry), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->flush();
  });
}

Channel::Event Channel::receive(Packet& packet) {
  alignas(cmsghdr) char control[kControlBytes];
  iovec part{received_.data(), received_.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  packet.descriptors.clear();
  const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Event::kNothing;
  if (size <= 0) return Event::kClosed;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      packet.descriptors.emplace_back(fd);
    }
  }
  packet.bytes = std::span(received_).first(static_cast<std::size_t>(size));
  packet.cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  return Event::kPacket;
}

}  // namespace proa::backends::python
