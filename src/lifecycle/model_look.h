#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "base/result.h"
#include "storage/file_stamps.h"
#include "storage/local_folder.h"

namespace proa::lifecycle {

// The files of one model at one moment. Equal looks: nothing has changed in between.
struct ModelLook {
  storage::FileStamps shared;  // outside of the versions' folders: config.pbtxt, labels, ...
  std::map<std::int64_t, storage::FileStamps> versions;

  bool operator==(const ModelLook&) const = default;
};

// Sorts a model's files by version.
ModelLook sort_by_version(storage::FileStamps stamps);

// Looks at the model in all repositories that hold it. What cannot be loaded (a link that leads out
// of its repository) has a look too, so that it is seen when that changes.
// Errors: kNotFound when none holds it; those of stamp_files().
Result<ModelLook> look_at(std::span<const storage::LocalFolder> repositories,
                          std::string_view name);

}  // namespace proa::lifecycle
