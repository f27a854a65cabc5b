#pragma once

#include <cstddef>

#include "base/clock.h"

namespace proa {

// How far `proa index build` is, on stderr: a line that is written over on a terminal, and a line
// now and then elsewhere.
// Threading: confined to one thread.
class IndexProgress {
 public:
  // `done` of the `total` pictures have their vector from before.
  IndexProgress(std::size_t done, std::size_t total);

  // `done` have a vector, `failed` get none.
  void show(std::size_t done, std::size_t failed);

 private:
  const std::size_t began_with_;
  const std::size_t total_;
  const bool terminal_;
  const TimePoint start_ = steady_clock().now();
  TimePoint next_ = start_;
};

}  // namespace proa
