#include "backends/list.h"

#include "backends/identity/identity_backend.h"
#include "base/log.h"
#include "fmt/ranges.h"

namespace proa::backends {
namespace {

struct Entry {
  std::string_view name;
  // Cheap: a backend starts its libraries with the first model it loads.
  std::unique_ptr<core::Backend> (*make)(const Context&);
};

// Every backend, in alphabetic order.
constexpr Entry kBackends[] = {
    {"identity",
     [](const Context& context) { return make_identity_backend(context.clock, context.timer); }},
};

}  // namespace

std::vector<std::string_view> BackendList::names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kBackends) names.push_back(entry.name);
  return names;
}

Result<core::Backend*> BackendList::find(std::string_view name) {
  MutexLock lock(mutex_);
  if (const auto made = made_.find(name); made != made_.end()) return made->second.get();
  for (const Entry& entry : kBackends) {
    if (entry.name != name) continue;
    return made_.emplace(name, entry.make(context_)).first->second.get();
  }
  return error::not_found("there is no backend '{}'; set `backend` to one of: {}",
                          log::printable(name), fmt::join(names(), ", "));
}

}  // namespace proa::backends
