#pragma once

#include "base/timer.h"
#include "core/model.h"

namespace proa::core {

// The real timer and reaper that models need, for tests that run them on real threads. Declare it
// before the models and after what their answers go to: its destructor waits until the models, and
// with them all threads that answer, are gone.
class ModelRuntime {
 public:
  Model::Options options() { return {.timer = &timer_, .reaper = &reaper_}; }

 private:
  TimerThread timer_;
  Reaper reaper_;
};

}  // namespace proa::core
