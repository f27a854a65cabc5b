#pragma once

#include <functional>
#include <string>
#include <thread>

namespace proa {

// Starts a thread that the operating system shows as `name` (its first 15 characters) and that
// takes no signals: SIGTERM and SIGINT are the main thread's. The caller joins it.
std::thread start_thread(std::string name, std::move_only_function<void()> body);

}  // namespace proa
