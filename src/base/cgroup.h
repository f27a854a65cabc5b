#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace proa {

// Which control groups hold this process. `root` is normally /sys/fs/cgroup, `membership` the text
// of /proc/self/cgroup; tests give their own.
struct CgroupPlace {
  std::filesystem::path root;
  std::string membership;

  static CgroupPlace of_this_process();
};

// The folders whose limits of `controller` ("cpu", "memory") hold for the process, from the root
// down: those of the unified hierarchy (v2), or of the controller's own (v1).
// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html; cgroups(7).
struct CgroupFolders {
  std::vector<std::filesystem::path> v2;
  std::vector<std::filesystem::path> v1;
};
CgroupFolders cgroup_folders(const CgroupPlace& place, std::string_view controller);

// The text of a small file; "" when it cannot be read.
std::string read_small_file(const std::filesystem::path& path);

// The number in a small file; 0 for "max", "-1" and what cannot be read.
double read_limit(const std::filesystem::path& path);

// The smaller of two limits of which 0 means "none".
double tighter_limit(double a, double b);

}  // namespace proa
