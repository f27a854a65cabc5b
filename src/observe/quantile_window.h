#pragma once

#include <deque>

#include "base/clock.h"
#include "base/histogram.h"

namespace proa::observe {

// What a Histogram counted lately: over the last kLength, or since the last look where that is
// longer ago. It looks only when asked, so it needs no thread. Threading: confined to its owner.
class QuantileWindow {
 public:
  static constexpr std::chrono::seconds kLength{60};
  // Looks closer together than this share a mark; the window is at most this much longer.
  static constexpr std::chrono::seconds kStep{10};

  // The counts of the window that ends at `now`, which does not go back from call to call. The
  // first window begins with the histogram's life.
  Histogram::Counts look(const Histogram& histogram, TimePoint now);

 private:
  struct Mark {
    TimePoint time;
    Histogram::Counts counts;
  };
  std::deque<Mark> marks_;  // oldest first; the front is where the window begins
};

}  // namespace proa::observe
