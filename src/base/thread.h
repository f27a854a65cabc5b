#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/result.h"

namespace proa {

// Starts a thread that the operating system shows as `name` (its first 15 characters) and that
// takes no signals: SIGTERM and SIGINT are the main thread's. The caller joins it.
// Throws std::system_error when the machine gives no thread, which nobody catches: for the threads
// without which the process cannot be.
std::thread start_thread(std::string name, std::move_only_function<void()> body);

// The same for threads that a model or a request asks for.
// Errors: kResourceExhausted, with the number of threads that run.
Result<std::thread> try_start_thread(std::string name, std::move_only_function<void()> body);

}  // namespace proa
