#include "net/loop_group.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/cpu.h"
#include "base/thread.h"
#include "fmt/core.h"
#include "net/acceptor.h"
#include "net/countdown.h"

namespace proa::net {

LoopGroup::LoopGroup(const Options& options) : tick_(options.tick) {
  const int count = options.loops > 0 ? options.loops : available_cpus();
  for (int i = 0; i < count; ++i) {
    loops_.push_back(std::make_unique<EventLoop>(i, *options.clock));
    EventLoop* loop = loops_.back().get();
    threads_.push_back(start_thread(fmt::format("proa-loop-{}", i), [loop] { loop->run(); }));
  }
}

LoopGroup::~LoopGroup() {
  drain(steady_clock().now());
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
  listeners_.clear();
}

Result<Listener*> LoopGroup::listen(ListenerOptions options) {
  std::vector<EventLoop*> loops;
  for (const auto& loop : loops_) loops.push_back(loop.get());
  PROA_ASSIGN(std::unique_ptr<Listener> listener, Listener::open(std::move(options), loops, tick_));
  listeners_.push_back(std::move(listener));
  return listeners_.back().get();
}

std::size_t LoopGroup::drain(TimePoint deadline) {
  std::size_t shares = 0;
  for (const auto& listener : listeners_) shares += listener->shares();
  if (shares == 0) return 0;
  const auto drained = std::make_shared<Countdown>(shares);
  for (const auto& listener : listeners_) {
    listener->on_each_loop(
        [drained](Acceptor& acceptor) { acceptor.drain([drained] { drained->count_down(); }); });
  }
  if (drained->wait_until(deadline)) return 0;
  const auto cut = std::make_shared<std::atomic<std::size_t>>(0);
  for (const auto& listener : listeners_) {
    listener->on_each_loop([cut](Acceptor& acceptor) { *cut += acceptor.close_all(); });
  }
  drained->wait();
  return *cut;
}

NetStats LoopGroup::stats() const {
  NetStats sum;
  for (const auto& loop : loops_) sum.add(loop->stats());
  return sum;
}

}  // namespace proa::net
