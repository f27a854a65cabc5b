#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace proa::backends::python {

// Environments that come as one archive, as conda-pack makes them, unpacked into temporary folders:
// once for each state of an archive, whichever models use it. That of the latest state stays; an
// earlier one goes with its last user.
// Threading: thread-safe; unpack() blocks for as long as that takes.
class PackedEnvironments {
 public:
  // The folder, which stays for as long as somebody refers to it.
  using Folder = std::shared_ptr<const std::filesystem::path>;

  // Whether the name of a file says that it is an archive.
  static bool is_archive(const std::filesystem::path& path);

  // Errors: kNotFound; kInvalidArgument with what tar says; kInternal.
  Result<Folder> unpack(const std::filesystem::path& archive) PROA_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::string stamp;  // of the archive when it was unpacked
    Folder folder;      // null while somebody unpacks it
  };

  Mutex mutex_;
  CondVar changed_;
  std::map<std::filesystem::path, Entry> entries_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::python
