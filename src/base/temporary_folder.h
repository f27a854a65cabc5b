#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include "base/owned_fd.h"
#include "base/result.h"

namespace proa {

// A folder that only this user may enter, in the system's folder for temporary files (TMPDIR, else
// /tmp). The destructor removes it with everything in it. What a killed process left is known by
// its lock (flock), which the kernel lets go of with the process; process numbers would not tell
// them apart between containers that share /tmp.
//
// Threading: confined to its owner; what it holds may be used by anybody meanwhile. Children of
// this process do not inherit the lock.
class TemporaryFolder {
 public:
  // Errors: kInternal, with the system's reason.
  static Result<std::unique_ptr<TemporaryFolder>> create();
  static Result<std::unique_ptr<TemporaryFolder>> create_in(const std::filesystem::path& parent);
  // The second half of that: takes a folder that has just been made. Null when a sweep was faster,
  // which may come between the making and the lock: it is gone then, or about to go.
  static Result<std::unique_ptr<TemporaryFolder>> claim(const std::filesystem::path& made);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Removes the folders of this user that no living process has locked, and says so in the log.
  // Nothing is removed on file systems whose locks other machines may not see. Blocks for as long
  // as that takes, or until `stop` is set (looked at between folders). Others may create, sweep and
  // remove theirs meanwhile.
  static void sweep(const std::atomic<bool>& stop);
  static void sweep_in(const std::filesystem::path& parent, const std::atomic<bool>& stop);

 private:
  TemporaryFolder(std::filesystem::path path, OwnedFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::filesystem::path path_;
  const OwnedFd lock_;
};

}  // namespace proa
