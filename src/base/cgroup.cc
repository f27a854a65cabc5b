#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace proa {
namespace {

// `root` and the folders on the way down to `group`.
std::vector<std::filesystem::path> folders_on_path(std::filesystem::path root,
                                                   const std::string& group) {
  std::vector<std::filesystem::path> result = {root};
  for (const auto& part : std::filesystem::path(group).relative_path()) {
    root /= part;
    result.push_back(root);
  }
  return result;
}

}  // namespace

CgroupPlace CgroupPlace::of_this_process() {
  return {"/sys/fs/cgroup", read_small_file("/proc/self/cgroup")};
}

CgroupFolders cgroup_folders(const CgroupPlace& place, std::string_view controller) {
  CgroupFolders result;
  const std::string wanted = "," + std::string(controller) + ",";
  std::istringstream lines(place.membership);
  for (std::string line; std::getline(lines, line);) {
    // hierarchy-ID:controller-list:cgroup-path; the unified hierarchy has an empty list.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      result.v2 = folders_on_path(place.root, group);
    } else if (controllers.find(wanted) != std::string::npos) {
      result.v1 = folders_on_path(place.root / controller, group);
    }
  }
  return result;
}

std::string read_small_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

double read_limit(const std::filesystem::path& path) {
  std::istringstream text(read_small_file(path));
  double value = 0;
  return text >> value && value > 0 ? value : 0;
}

double tighter_limit(double a, double b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace proa
