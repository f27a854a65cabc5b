#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/timer.h"
#include "core/backend.h"

namespace proa::backends {

// What backends get from the process. Everything outlives them.
struct Context {
  const Clock* clock = &steady_clock();
  Timer* timer = nullptr;
  // Where backend cuda keeps what it timed between starts; "" = nowhere.
  std::filesystem::path gpu_tuning_cache;
};

// All backends of the program, by name. Making one is cheap: it starts its libraries with the first
// model that it loads. Make the list while the process has one thread (some set environment
// variables).
// Threading: immutable.
class BackendList {
 public:
  explicit BackendList(const Context& context);

  // Lives as long as the list. Errors: kNotFound, naming the backends that there are.
  Result<core::Backend*> find(std::string_view name) const;

  // In alphabetic order.
  std::vector<std::string_view> names() const;

 private:
  std::vector<std::unique_ptr<core::Backend>> backends_;
};

}  // namespace proa::backends
