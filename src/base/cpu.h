#pragma once

#include "base/cgroup.h"

namespace proa {

// How many processors this process may keep busy: the smaller of its affinity mask and its control
// groups' quota, at least 1. Rounded up: a quota of 1.5 gives 2.
int available_cpus();

// The control groups' processor quota; 0 when there is none. The tightest level counts.
double cgroup_cpu_quota(const CgroupPlace& place);

}  // namespace proa
