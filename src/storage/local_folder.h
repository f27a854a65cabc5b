#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::storage {

// A model repository on a local disk: a folder with one sub-folder per model. Symbolic links are
// followed anywhere inside, but whatever they lead to must lie inside the repository: a link in it
// cannot publish other files of the machine. ConfigMap mounts and git-sync, which swap a link to
// publish a new tree, work: the root may itself be a link and is resolved on every call.
//
// Threading: immutable; every call reads the disk and blocks.
class LocalFolder {
 public:
  // Errors: kNotFound when `root` does not exist, kInvalidArgument when it is no folder.
  static Result<LocalFolder> open(std::filesystem::path root);

  // As it was given.
  const std::filesystem::path& root() const { return root_; }

  // What can be a model: folders directly below the root (and links), in order of their names.
  // Not models: names that start with a dot (".git", "..data"), "lost+found" and "__pycache__", and
  // what check_model_name() refuses.
  Result<std::vector<std::string>> list_models() const;

  // That model's folder. Errors: kNotFound; kInvalidArgument as check_model_name();
  // kPermissionDenied when it leads out of the repository.
  Result<std::filesystem::path> find_model(std::string_view name) const;

  // `relative`, as a configuration or request names it, below `folder`, which lies in this
  // repository. The path need not be a regular file.
  // Errors: kInvalidArgument when it is empty, absolute or climbs with ".."; kNotFound;
  // kPermissionDenied when links lead out of the repository.
  Result<std::filesystem::path> find_inside(const std::filesystem::path& folder,
                                            std::string_view relative) const;

  // Checks `folder` and below for what reads it by itself (a SavedModel, weights beside a file): no
  // link may lead out of the repository, nothing be a FIFO, socket or device, which would block.
  // Errors: kPermissionDenied naming the link; kInvalidArgument naming what is no regular file, or
  // when there are more than kMaxEntries entries.
  Status check_links(const std::filesystem::path& folder) const;

  static constexpr std::size_t kMaxEntries = 100'000;

 private:
  explicit LocalFolder(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path root_;
};

// A path that stays below the folder it is joined to, as far as its text tells.
// Errors: kInvalidArgument when it is empty, absolute, climbs with ".." or holds a NUL.
Status check_relative_path(std::string_view relative);

// The whole content of a regular file.
// Errors: kNotFound, kInvalidArgument (a folder, a device, more than `limit_bytes`), kInternal.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit_bytes);

// The names in `folder`, in order; names that start with a dot are left out.
Result<std::vector<std::string>> list_names(const std::filesystem::path& folder);

}  // namespace proa::storage
