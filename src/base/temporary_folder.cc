#include "base/temporary_folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"

namespace proa {
namespace {

namespace fs = std::filesystem;

// Distinct enough that nobody else's folder is taken for one of ours.
constexpr std::string_view kPrefix = "proa-temporary-folder.";
constexpr std::string_view kPattern = "XXXXXX";
// Each of them is one that a sweep took before it was claimed.
constexpr int kMostAttempts = 100;

std::string reason(int code) { return std::generic_category().message(code); }

bool has_our_name(const std::string& name) {
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kPattern.size();
}

OwnedFd open_folder(const fs::path& path) {
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// False when another has the lock. Where a file system knows no locks a folder can be used all the
// same.
bool try_lock(const OwnedFd& folder) {
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

// Folders of file systems that several machines see (NFS, SMB, virtiofs, ...) are locked on one of
// them only: what another has there looks free. Source: Linux, where flock() of a file without an
// operation of its own is local.
bool has_local_locks(const fs::path& folder) {
  struct statfs status = {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  constexpr unsigned kZfs = 0x2fc12fc1;
  switch (static_cast<unsigned>(status.f_type)) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case EXT4_SUPER_MAGIC:  // ext2 and ext3, too
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case kZfs:
      return true;
    default:
      return false;
  }
}

// Empties and removes it, but not what is mounted in it.
bool remove_tree(const fs::path& path) {
  constexpr int kOpenFolders = 32;
  const auto remove_one = [](const char* at, const struct stat*, int, struct FTW*) {
    return std::remove(at);
  };
  return ::nftw(path.c_str(), remove_one, kOpenFolders, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
}

// What is open still lies at its path: a sweep has not taken it.
bool is_at(const OwnedFd& folder, const fs::path& path) {
  struct stat opened = {}, there = {};
  return ::fstat(folder.get(), &opened) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

// Made as ours are, by this user.
bool is_ours(const OwnedFd& folder) {
  struct stat status = {};
  return ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & 0777) == 0700;
}

void sweep_one(const fs::path& path) {
  const OwnedFd folder = open_folder(path);
  if (folder.get() < 0 || !is_ours(folder)) return;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(folder, path)) return;
  if (!remove_tree(path)) {
    log::warn("temporary folder '{}' of a process that was killed stays: {}",
              log::printable(path.native()), reason(errno));
  } else {
    log::info("temporary folder '{}' of a process that was killed: removed",
              log::printable(path.native()));
  }
}

}  // namespace

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::create() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (!failed) return create_in(parent);
  return error::internal(
      "no folder for temporary files: {}; TMPDIR must name one, or /tmp be there",
      failed.message());
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::create_in(const fs::path& parent) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string name = (parent / fmt::format("{}{}", kPrefix, kPattern)).native();
    if (::mkdtemp(name.data()) == nullptr) {
      return error::internal("no temporary folder can be made in '{}': {}",
                             log::printable(parent.native()), reason(errno));
    }
    auto claimed = claim(name);
    if (!claimed) ::rmdir(name.c_str());
    if (!claimed || *claimed != nullptr) return claimed;
  }
  return error::internal(
      "no temporary folder can be kept in '{}': another process removes each of {}",
      log::printable(parent.native()), kMostAttempts);
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::claim(const fs::path& made) {
  OwnedFd folder = open_folder(made);
  if (folder.get() < 0 && errno != ENOENT) {
    return error::internal("the temporary folder '{}' cannot be opened: {}",
                           log::printable(made.native()), reason(errno));
  }
  if (folder.get() < 0 || !try_lock(folder) || !is_at(folder, made)) return nullptr;
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(made, std::move(folder)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
  if (failed) {
    log::warn("temporary folder '{}' stays: {}", log::printable(path_.native()), failed.message());
  }
}

void TemporaryFolder::sweep(const std::atomic<bool>& stop) {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (!failed) sweep_in(parent, stop);
}

void TemporaryFolder::sweep_in(const fs::path& parent, const std::atomic<bool>& stop) {
  if (!has_local_locks(parent)) return;
  std::vector<fs::path> found;
  std::error_code failed;
  fs::directory_iterator entry(parent, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (has_our_name(entry->path().filename().native())) found.push_back(entry->path());
  }
  for (const fs::path& path : found) {
    if (stop) return;
    sweep_one(path);
  }
}

}  // namespace proa
