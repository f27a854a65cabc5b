#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/temporary_folder.h"

namespace proa::storage {

// A temporary folder that files are written to by names that strangers choose. The destructor
// removes it with everything in it.
// Threading: confined to its owner; what it holds may be read by anybody meanwhile.
class PrivateFolder {
 public:
  // Errors: kInternal, with the system's reason.
  static Result<std::shared_ptr<PrivateFolder>> create();

  const std::filesystem::path& path() const { return folder_->path(); }

  // Writes a new file, with the folders that lead to it.
  // Errors: kInvalidArgument when `relative` is empty, absolute, climbs with "..", is not a file's
  // name or is taken; kInternal (a full disk, for example).
  Status write(std::string_view relative, std::string_view content);

 private:
  explicit PrivateFolder(std::unique_ptr<TemporaryFolder> folder) : folder_(std::move(folder)) {}

  const std::unique_ptr<TemporaryFolder> folder_;
};

}  // namespace proa::storage
