#pragma once

#include <filesystem>

namespace proa {

// How many processors this process may keep busy: the smaller of its affinity mask and its cgroup's
// CPU quota (v1 and v2), at least 1. Rounded up: a quota of 1.5 gives 2.
// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, "cpu.max".
int available_cpus();

// The cgroup quota in processors under `cgroup_root` (normally /sys/fs/cgroup) for the process
// whose /proc/self/cgroup text is `membership`; 0 when there is none. The tightest level on the
// path counts.
double cgroup_cpu_quota(const std::filesystem::path& cgroup_root, const std::string& membership);

}  // namespace proa
