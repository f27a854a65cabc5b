#include "index_progress.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "fmt/format.h"

namespace proa {
namespace {

constexpr std::size_t kBar = 30;
constexpr Duration kOnTerminal = std::chrono::milliseconds(100);
constexpr Duration kElsewhere = std::chrono::seconds(5);

}  // namespace

IndexProgress::IndexProgress(std::size_t done, std::size_t total)
    : began_with_(done), total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}

void IndexProgress::show(std::size_t done, std::size_t failed) {
  const TimePoint now = steady_clock().now();
  const bool last = done + failed == total_;
  if (now < next_ && !last) return;
  next_ = now + (terminal_ ? kOnTerminal : kElsewhere);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done + failed - began_with_) / std::max(seconds, 1e-3);
  const auto filled = kBar * (done + failed) / std::max<std::size_t>(total_, 1);
  fmt::print(stderr, "{}[{}{}] {}/{} pictures, {:.0f}/s, {} broken, {:.0f} s left{}",
             terminal_ ? "\r" : "", std::string(filled, '#'), std::string(kBar - filled, '.'),
             done + failed, total_, rate, failed,
             static_cast<double>(total_ - done - failed) / std::max(rate, 1e-3),
             terminal_ && !last ? "\033[K" : "\n");
}

}  // namespace proa
