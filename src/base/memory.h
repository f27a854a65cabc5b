#pragma once

#include <cstddef>

#include "base/cgroup.h"

namespace proa {

// How many bytes of memory this process may use: the smaller of the machine's and its control
// groups' limit.
std::size_t available_memory_bytes();

// The control groups' memory limit in bytes; 0 when there is none. The tightest level counts.
std::size_t cgroup_memory_limit(const CgroupPlace& place);

}  // namespace proa
