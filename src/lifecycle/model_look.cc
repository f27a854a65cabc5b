#include "lifecycle/model_look.h"

#include <iterator>

#include "base/log.h"
#include "storage/version_folders.h"

namespace proa::lifecycle {

ModelLook sort_by_version(storage::FileStamps stamps) {
  ModelLook look;
  for (storage::FileStamp& stamp : stamps) {
    const std::size_t slash = stamp.path.find('/');
    const auto version =
        slash == std::string::npos
            ? std::nullopt
            : storage::parse_version(std::string_view(stamp.path).substr(0, slash));
    (version ? look.versions[*version] : look.shared).push_back(std::move(stamp));
  }
  return look;
}

namespace {

// A model that is not found may be in a repository that is gone as a whole.
Status check_roots(std::span<const storage::LocalFolder> repositories) {
  for (const storage::LocalFolder& repository : repositories) {
    std::error_code failed;
    if (std::filesystem::is_directory(repository.root(), failed)) continue;
    return error::unavailable(
        "the model repository '{}' is not there: mount or restore it, then load again",
        log::printable(repository.root().native()));
  }
  return {};
}

}  // namespace

Result<ModelLook> look_at(std::span<const storage::LocalFolder> repositories,
                          std::string_view name) {
  storage::FileStamps stamps;
  bool found = false;
  for (const storage::LocalFolder& repository : repositories) {
    const auto folder = repository.find_model(name);
    if (!folder && folder.error().code == ErrorCode::kNotFound) continue;
    found = true;
    if (!folder) {
      stamps.push_back({.path = folder.error().message});
      continue;
    }
    PROA_ASSIGN(storage::FileStamps more, storage::stamp_files(*folder));
    std::ranges::move(more, std::back_inserter(stamps));
  }
  if (!found) {
    PROA_TRY(check_roots(repositories));
    return error::not_found("there is no folder '{}' in the model repository",
                            log::printable(name));
  }
  return sort_by_version(std::move(stamps));
}

}  // namespace proa::lifecycle
