#include "base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

namespace proa {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "200000 100000" -> 2; "max 100000" and unreadable text -> 0.
double quota_v2(const std::filesystem::path& folder) {
  std::istringstream text(read_text(folder / "cpu.max"));
  double quota = 0, period = 0;
  return text >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::filesystem::path& folder) {
  std::istringstream quota_text(read_text(folder / "cpu.cfs_quota_us"));
  std::istringstream period_text(read_text(folder / "cpu.cfs_period_us"));
  double quota = 0, period = 0;
  return quota_text >> quota && period_text >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

double tighter(double a, double b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// The tightest quota of `group` and its parents below `root`.
double quota_on_path(const std::filesystem::path& root, const std::string& group,
                     double (*quota_of)(const std::filesystem::path&)) {
  double result = quota_of(root);
  std::filesystem::path folder = root;
  for (const auto& part : std::filesystem::path(group).relative_path()) {
    folder /= part;
    result = tighter(result, quota_of(folder));
  }
  return result;
}

}  // namespace

double cgroup_cpu_quota(const std::filesystem::path& cgroup_root, const std::string& membership) {
  double result = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // hierarchy-ID:controller-list:cgroup-path; the unified hierarchy has an empty list.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      result = tighter(result, quota_on_path(cgroup_root, group, quota_v2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      result = tighter(result, quota_on_path(cgroup_root / "cpu", group, quota_v1));
    }
  }
  return result;
}

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = cgroup_cpu_quota("/sys/fs/cgroup", read_text("/proc/self/cgroup"));
  if (quota > 0) count = std::min(count, static_cast<int>(std::ceil(quota)));
  return std::max(count, 1);
}

}  // namespace proa
