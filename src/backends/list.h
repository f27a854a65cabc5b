#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/timer.h"
#include "core/backend.h"

namespace proa::backends {

// What backends get from the process. Everything outlives them.
struct Context {
  const Clock* clock = &steady_clock();
  Timer* timer = nullptr;
};

// All backends of the program, by name. Each is made when the first model asks for it, and then
// stays.
// Threading: thread-safe.
class BackendList {
 public:
  explicit BackendList(Context context) : context_(context) {}

  // Lives as long as the list. Errors: kNotFound, naming the backends that there are.
  Result<core::Backend*> find(std::string_view name) PROA_EXCLUDES(mutex_);

  // In alphabetic order.
  static std::vector<std::string_view> names();

 private:
  const Context context_;
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<core::Backend>, std::less<>> made_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends
