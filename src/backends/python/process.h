#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/python/channel.h"
#include "base/result.h"

namespace proa::backends::python {

// One worker process, from its start to its end. It is killed when the thread that started it ends
// (Linux ties that to the thread), when this process dies, and by the destructor; with what it has
// started itself, as far as that stays in its process group.
// Threading: confined to the thread that started it; kill() by any.
class Process {
 public:
  struct Options {
    std::filesystem::path program;
    std::vector<std::string> arguments;    // behind the program's name
    std::vector<std::string> environment;  // "NAME=value", all of it
  };
  // Its end of the channel is descriptor 3; it inherits 0, 1 and 2 and no other.
  // Errors: kNotFound, kPermissionDenied, kResourceExhausted naming the program.
  static Result<Process> start(const Options& options, OwnedFd channel);

  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  // Ends it now.
  void kill() const;
  // Whether it has ended, or does within `timeout`; how, in words: "exited with status 1", "was
  // killed by signal 9 (SIGKILL)".
  bool wait(std::chrono::milliseconds timeout, std::string& how);

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;  // -1: has ended and was waited for
};

}  // namespace proa::backends::python
