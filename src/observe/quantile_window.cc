#include "observe/quantile_window.h"

namespace proa::observe {

Histogram::Counts QuantileWindow::look(const Histogram& histogram, TimePoint now) {
  const Histogram::Counts counts = histogram.counts();
  if (marks_.empty()) marks_.push_back({now - kLength, {}});
  while (marks_.size() > 1 && now - marks_[1].time >= kLength) marks_.pop_front();
  Histogram::Counts window;
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = counts[i] - marks_[0].counts[i];
  if (now - marks_.back().time >= kStep) marks_.push_back({now, counts});
  return window;
}

}  // namespace proa::observe
