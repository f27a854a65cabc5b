#include "storage/local_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/log.h"
#include "storage/model_name.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;

std::string quoted(const fs::path& path) { return log::printable(path.native()); }

Error cannot_read(const fs::path& path, const std::error_code& reason) {
  if (reason == std::errc::no_such_file_or_directory || reason == std::errc::not_a_directory) {
    return error::not_found("'{}' does not exist", quoted(path));
  }
  if (reason == std::errc::permission_denied) {
    return error::permission_denied("'{}' may not be read by this user: grant it read access",
                                    quoted(path));
  }
  return error::internal("'{}' cannot be read: {}", quoted(path), reason.message());
}

Result<fs::path> resolve(const fs::path& path) {
  std::error_code failed;
  fs::path resolved = fs::canonical(path, failed);
  if (failed) return cannot_read(path, failed);
  return resolved;
}

bool lies_inside(const fs::path& path, const fs::path& root) {
  const auto [end, ignored] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end == root.end();
}

// Does opening it to read wait for somebody else, or do something to a device?
bool is_special(const fs::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return false;  // gone, or a link that leads nowhere
  return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Error not_regular(const fs::path& path) {
  return error::invalid_argument("'{}' is not a regular file", quoted(path));
}

// "s3" of "s3://bucket/models"; "" of paths.
std::string_view object_store_of(std::string_view path) {
  for (const std::string_view scheme : {"s3", "gs", "as"}) {
    if (path.starts_with(scheme) && path.substr(scheme.size()).starts_with("://")) return scheme;
  }
  return "";
}

// Closes a file descriptor.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

Status check_relative_path(std::string_view relative) {
  const fs::path path(relative);
  const bool climbs = std::ranges::find(path, fs::path("..")) != path.end();
  if (relative.empty() || path.is_absolute() || climbs ||
      relative.find('\0') != std::string_view::npos) {
    return error::invalid_argument(
        "'{}' is no path inside the model's folder: write it relative to that folder, without '..'",
        log::printable(relative));
  }
  return {};
}

Result<LocalFolder> LocalFolder::open(fs::path root) {
  if (const std::string_view store = object_store_of(root.native()); !store.empty()) {
    return error::invalid_argument(
        "'{}': object stores ({}://) cannot be read yet: mount the bucket, or copy it to a local "
        "folder first, and name that folder",
        quoted(root), store);
  }
  PROA_ASSIGN(const fs::path resolved, resolve(root));
  std::error_code failed;
  if (!fs::is_directory(resolved, failed)) {
    return error::invalid_argument(
        "'{}' is not a folder; a model repository is a folder with one "
        "sub-folder per model",
        quoted(root));
  }
  return LocalFolder(std::move(root));
}

Result<std::vector<std::string>> LocalFolder::list_models() const {
  PROA_ASSIGN(std::vector<std::string> names, list_names(root_));
  std::erase_if(names, [this](const std::string& name) {
    if (!check_model_name(name) || is_known_clutter(name)) return true;
    std::error_code failed;
    // A link that leads nowhere stays: loading it tells the user why there is no such model.
    return !fs::is_symlink(root_ / name, failed) && !fs::is_directory(root_ / name, failed);
  });
  return names;
}

Result<fs::path> LocalFolder::find_model(std::string_view name) const {
  PROA_TRY(check_model_name(name));
  PROA_ASSIGN(const fs::path path, find_inside(root_, name));
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    return error::not_found("'{}' is not a folder", quoted(root_ / name));
  }
  return root_ / name;
}

Result<fs::path> LocalFolder::find_inside(const fs::path& folder, std::string_view relative) const {
  PROA_TRY(check_relative_path(relative));
  PROA_ASSIGN(const fs::path root, resolve(root_));
  PROA_ASSIGN(const fs::path path, resolve(folder / relative));
  if (!lies_inside(path, root)) {
    return error::permission_denied(
        "'{}' leads out of the model repository: replace the link by the files, or serve the "
        "folder "
        "it leads to as a repository of its own",
        quoted(folder / relative));
  }
  return folder / relative;
}

Status LocalFolder::check_links(const fs::path& folder) const {
  std::error_code failed;
  std::size_t count = 0;
  // Goes into folders, but through no link: where one leads is checked here, and what lies there,
  // if it is inside, where it is.
  fs::recursive_directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::recursive_directory_iterator(); entries.increment(failed)) {
    if (++count > kMaxEntries) {
      return error::invalid_argument("'{}' holds more than the {} entries that are checked",
                                     quoted(folder), kMaxEntries);
    }
    if (is_special(entries->path())) return not_regular(entries->path());
    std::error_code ignored;
    if (!entries->is_symlink(ignored)) continue;
    const auto inside =
        find_inside(entries->path().parent_path(), entries->path().filename().native());
    // A link that leads nowhere leads to no secret.
    if (!inside && inside.error().code != ErrorCode::kNotFound) return inside.error();
  }
  if (failed) return cannot_read(folder, failed);
  return {};
}

Result<std::string> read_file(const fs::path& path, std::size_t limit_bytes) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd() < 0) return cannot_read(path, last_error());
  struct stat info{};
  if (::fstat(file.fd(), &info) != 0) return cannot_read(path, last_error());
  if (!S_ISREG(info.st_mode)) return not_regular(path);
  std::string content;
  content.resize(std::min(static_cast<std::size_t>(info.st_size), limit_bytes) + 1);
  std::size_t used = 0;
  while (used <= limit_bytes) {
    if (used == content.size()) content.resize(std::min(2 * content.size(), limit_bytes + 1));
    const ssize_t count = ::read(file.fd(), content.data() + used, content.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, last_error());
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  if (used > limit_bytes) {
    return error::invalid_argument("'{}' is larger than the {} bytes that are read of such a file",
                                   quoted(path), limit_bytes);
  }
  content.resize(used);
  return content;
}

Result<std::vector<std::string>> list_names(const fs::path& folder) {
  std::error_code failed;
  std::vector<std::string> names;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    std::string name = entries->path().filename().native();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  if (failed) return cannot_read(folder, failed);
  std::ranges::sort(names);
  return names;
}

}  // namespace proa::storage
