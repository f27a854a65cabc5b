#pragma once

#include "base/timer.h"
#include "core/model.h"

namespace proa::core {

// The real timer and reaper that models need, for tests that run them on real threads. Destroy it
// after the models.
class ModelRuntime {
 public:
  Model::Options options() { return {.timer = &timer_, .reaper = &reaper_}; }

 private:
  TimerThread timer_;
  Reaper reaper_;
};

}  // namespace proa::core
