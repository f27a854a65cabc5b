#include "storage/file_stamps.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "storage/local_folder.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;

std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Walks down one tree.
class Stamper {
 public:
  explicit Stamper(const fs::path& root) : root_(root) {}

  Status walk(const fs::path& folder, const std::string& prefix) {
    struct stat here{};
    if (::stat(folder.c_str(), &here) != 0) return {};  // gone since it was listed
    const auto id = std::pair(here.st_dev, here.st_ino);
    if (std::ranges::find(above_, id) != above_.end()) return {};
    above_.push_back(id);
    PROA_ASSIGN(const std::vector<std::string> names, list_names(folder));
    for (const std::string& name : names) PROA_TRY(add(folder / name, prefix + name));
    above_.pop_back();
    return {};
  }

  FileStamps take() {
    std::ranges::sort(stamps_, {}, &FileStamp::path);
    return std::move(stamps_);
  }

 private:
  Status add(const fs::path& path, std::string relative) {
    if (stamps_.size() == LocalFolder::kMaxEntries) {
      return error::invalid_argument("'{}' holds more than the {} entries that are looked at",
                                     log::printable(root_.native()), LocalFolder::kMaxEntries);
    }
    struct stat info{};
    const bool there = ::stat(path.c_str(), &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
      relative += '/';
      stamps_.push_back({.path = relative});
      return walk(path, relative);
    }
    FileStamp stamp{.path = std::move(relative)};
    if (there) {
      stamp.device = info.st_dev;
      stamp.inode = info.st_ino;
      stamp.size = static_cast<std::uint64_t>(info.st_size);
      stamp.modified_ns = to_ns(info.st_mtim);
      stamp.changed_ns = to_ns(info.st_ctim);
    }
    stamps_.push_back(std::move(stamp));
    return {};
  }

  const fs::path& root_;
  FileStamps stamps_;
  std::vector<std::pair<dev_t, ino_t>> above_;  // the folders from the root to here
};

}  // namespace

Result<FileStamps> stamp_files(const fs::path& folder) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return error::not_found("'{}' does not exist", log::printable(folder.native()));
  }
  Stamper stamper(folder);
  PROA_TRY(stamper.walk(folder, ""));
  return stamper.take();
}

}  // namespace proa::storage
