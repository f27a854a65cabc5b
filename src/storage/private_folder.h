#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace proa::storage {

// A folder that only this user may enter, in the system's folder for temporary files (TMPDIR, else
// /tmp). The destructor removes it with everything in it.
// Threading: confined to its owner; what it holds may be read by anybody meanwhile.
class PrivateFolder {
 public:
  // Errors: kInternal, with the system's reason.
  static Result<std::shared_ptr<PrivateFolder>> create();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Writes a new file, with the folders that lead to it.
  // Errors: kInvalidArgument when `relative` is empty, absolute, climbs with "..", is not a file's
  // name or is taken; kInternal (a full disk, for example).
  Status write(std::string_view relative, std::string_view content);

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path path_;
};

}  // namespace proa::storage
