#include "loadgen/clients/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace proa::loadgen {
namespace {

constexpr int kBatch = 64;

timespec to_timespec(Duration duration) {
  const auto ns = std::max<std::int64_t>(duration.count(), 0);
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

Status Loop::open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  waker_.fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || waker_.fd < 0) {
    return error::resource_exhausted("cannot make an event loop: {}", std::strerror(errno));
  }
  epoll_event event;
  const timespec at_once{};
  if (::epoll_pwait2(epoll_, &event, 1, &at_once, nullptr) < 0 && errno != EINTR) {
    return error::unimplemented(
        "load cannot be sent on time here: epoll_pwait2 fails ({}); it needs Linux 5.11 or later, "
        "and in a container a seccomp profile that knows it",
        std::strerror(errno));
  }
  watch(waker_.fd, EPOLLIN, waker_);
  return {};
}

Loop::~Loop() {
  if (epoll_ >= 0) ::close(epoll_);
  if (waker_.fd >= 0) ::close(waker_.fd);
}

void Loop::watch(int fd, std::uint32_t events, Handler& handler) {
  epoll_event event{.events = events, .data = {.ptr = &handler}};
  const int failed = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  PROA_CHECK(failed == 0, std::strerror(errno));
}

void Loop::change(int fd, std::uint32_t events, Handler& handler) {
  epoll_event event{.events = events, .data = {.ptr = &handler}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(int fd, Handler& handler) {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  for (Ready& ready : ready_) {
    if (ready.handler == &handler) ready.handler = nullptr;
  }
}

bool Loop::run_once(TimePoint until) {
  std::array<epoll_event, kBatch> events;
  timespec timeout{};
  if (until != kNever) timeout = to_timespec(until - steady_clock().now());
  const int count =
      ::epoll_pwait2(epoll_, events.data(), kBatch, until == kNever ? nullptr : &timeout, nullptr);
  ready_.clear();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    ready_.push_back({static_cast<Handler*>(event.data.ptr), event.events});
  }
  // Handlers may forget others of the same batch.
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const auto [handler, what] = ready_[i];
    if (handler != nullptr) handler->on_ready(what);
  }
  return count > 0;
}

void Loop::Waker::on_ready(std::uint32_t) {
  std::uint64_t ignored = 0;
  [[maybe_unused]] const auto got = ::read(fd, &ignored, sizeof ignored);
}

void Loop::wake() const {
  const std::uint64_t one = 1;
  // A full counter wakes as well.
  [[maybe_unused]] const auto ignored = ::write(waker_.fd, &one, sizeof one);
}

}  // namespace proa::loadgen
