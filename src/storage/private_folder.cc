#include "storage/private_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/log.h"
#include "storage/local_folder.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::generic_category().message(code); }

// Writes the whole of `content` and closes `fd`; 0 or the system's error.
int write_all(int fd, std::string_view content) {
  int failed = 0;
  while (!content.empty() && failed == 0) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  if (::close(fd) != 0 && failed == 0) failed = errno;
  return failed;
}

}  // namespace

Result<std::shared_ptr<PrivateFolder>> PrivateFolder::create() {
  PROA_ASSIGN(auto folder, TemporaryFolder::create());
  return std::shared_ptr<PrivateFolder>(new PrivateFolder(std::move(folder)));
}

Status PrivateFolder::write(std::string_view relative, std::string_view content) {
  PROA_TRY(check_relative_path(relative));
  const fs::path file = path() / relative;
  if (!file.has_filename() || file.filename() == ".") {
    return error::invalid_argument("'{}' does not name a file", log::printable(relative));
  }
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) {
    return error::invalid_argument("'{}' cannot be written: {}", log::printable(relative),
                                   failed.message());
  }
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return error::invalid_argument("'{}' cannot be written: {}", log::printable(relative),
                                   reason(errno));
  }
  if (const int code = write_all(fd, content); code != 0) {
    return error::internal("'{}' could not be written whole: {}", log::printable(relative),
                           reason(code));
  }
  return {};
}

}  // namespace proa::storage
