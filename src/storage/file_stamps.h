#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace proa::storage {

// What one file looked like at one moment: enough to see later whether it was replaced or written.
struct FileStamp {
  std::string path;          // below the folder that was looked at; "1/" for a sub-folder
  std::uint64_t device = 0;  // the rest is 0 for folders and for links that lead nowhere
  std::uint64_t inode = 0;
  std::uint64_t size = 0;  // bytes
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // also the last change of owner, mode or times

  bool operator==(const FileStamp&) const = default;
};

// In the order of their paths.
using FileStamps = std::vector<FileStamp>;

// Stamps of everything in `folder` and below, except names that start with a dot. Links are
// followed, and what is stamped is the file they lead to: a ConfigMap or git-sync, which publish
// new files by swapping one link, change the stamps although no name below `folder` changes. Opens
// no file. A link to a folder above itself is not followed.
// Errors: kNotFound, kPermissionDenied, kInternal (the disk); kInvalidArgument when there are more
// than LocalFolder::kMaxEntries entries.
Result<FileStamps> stamp_files(const std::filesystem::path& folder);

}  // namespace proa::storage
