#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/run/device_engine.h"

namespace proa::engine {

// libproa_cuda.so exports one function, `kEngineSymbol`: DeviceEngine* (int interface). It answers
// null when it was built for another kEngineInterface.
inline constexpr int kEngineInterface = 3;
inline constexpr const char* kEngineSymbol = "proa_device_engine";
using EngineFunction = DeviceEngine* (*)(int interface);

// Loads the GPU side, by name from where the program's libraries lie, and keeps it for the life of
// the process (NVIDIA's libraries do not like to be unloaded). Errors: kUnavailable saying which
// library is missing and what to install. Threading: thread-safe.
Result<DeviceEngine*> load_device_engine(const std::filesystem::path& library = "libproa_cuda.so");

// What to tell a user when the system's loader said `reason`. Pure, for tests.
std::string explain_load_failure(const std::filesystem::path& library, std::string_view reason);

}  // namespace proa::engine
