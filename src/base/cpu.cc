#include "base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace proa {
namespace {

// cpu.max: "200000 100000" is 2 processors.
double quota_v2(const std::filesystem::path& folder) {
  std::istringstream text(read_small_file(folder / "cpu.max"));
  double quota = 0, period = 0;
  return text >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::filesystem::path& folder) {
  const double quota = read_limit(folder / "cpu.cfs_quota_us");
  const double period = read_limit(folder / "cpu.cfs_period_us");
  return period > 0 ? quota / period : 0;
}

}  // namespace

double cgroup_cpu_quota(const CgroupPlace& place) {
  const CgroupFolders folders = cgroup_folders(place, "cpu");
  double result = 0;
  for (const auto& folder : folders.v2) result = tighter_limit(result, quota_v2(folder));
  for (const auto& folder : folders.v1) result = tighter_limit(result, quota_v1(folder));
  return result;
}

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = cgroup_cpu_quota(CgroupPlace::of_this_process());
  if (quota > 0) count = std::min(count, static_cast<int>(std::ceil(quota)));
  return std::max(count, 1);
}

}  // namespace proa
