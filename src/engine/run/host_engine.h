#pragma once

#include "engine/run/device_engine.h"

namespace proa::engine {

// Plans by plain loops on the host: slow, any machine. `devices` of them, all the same. Its buffers
// are ordinary memory; start() computes before it returns.
std::unique_ptr<DeviceEngine> make_host_engine(int devices = 1);

}  // namespace proa::engine
