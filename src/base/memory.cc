#include "base/memory.h"

#include <unistd.h>

#include <algorithm>

namespace proa {

std::size_t cgroup_memory_limit(const CgroupPlace& place) {
  const CgroupFolders folders = cgroup_folders(place, "memory");
  double result = 0;
  for (const auto& folder : folders.v2) {
    result = tighter_limit(result, read_limit(folder / "memory.max"));
  }
  for (const auto& folder : folders.v1) {
    result = tighter_limit(result, read_limit(folder / "memory.limit_in_bytes"));
  }
  return static_cast<std::size_t>(result);
}

std::size_t available_memory_bytes() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  const std::size_t machine = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t limit = cgroup_memory_limit(CgroupPlace::of_this_process());
  return limit == 0 ? machine : std::min(machine, limit);
}

}  // namespace proa
