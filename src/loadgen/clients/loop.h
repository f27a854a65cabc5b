#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace proa::loadgen {

// One thread's event loop: epoll with waits of nanosecond precision, and nothing more. Descriptors
// stay their owners'.
// Threading: confined to one thread, except wake().
class Loop {
 public:
  // Somebody whose descriptor may become ready. `events` are those of epoll (EPOLLIN, ...).
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_ready(std::uint32_t events) = 0;
  };

  // Errors: kResourceExhausted when the process has no descriptors left; kUnimplemented where the
  // kernel has no epoll_pwait2, or a seccomp filter forbids it.
  Status open();
  Loop() = default;
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Level-triggered. `handler` must outlive the watch; one descriptor has one handler.
  void watch(int fd, std::uint32_t events, Handler& handler);
  void change(int fd, std::uint32_t events, Handler& handler);
  // No call of the handler comes after this, also when its descriptor was ready already.
  void forget(int fd, Handler& handler);

  // Waits until something is ready, `until` has come, or somebody calls wake(); then calls the
  // handlers of what is ready. kNever waits without limit. False when nothing was ready.
  bool run_once(TimePoint until);

  // Ends run_once(), now or the next one. Threading: any thread.
  void wake() const;

 private:
  struct Ready {
    Handler* handler;  // null once forgotten
    std::uint32_t events;
  };
  struct Waker final : Handler {
    void on_ready(std::uint32_t events) override;
    int fd = -1;
  };

  int epoll_ = -1;
  Waker waker_;
  std::vector<Ready> ready_;  // the batch in hand
};

}  // namespace proa::loadgen
